//! A shutdown waits for what is under way, and for no longer than it was told to.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::testing::{History, TestServer};

/// An upload of which the head and a part of the body have been sent, and the rest.
async fn half_an_upload(server: &TestServer) -> (TcpStream, Vec<u8>) {
    let (_, pushed) = History::of_one_commit("content");
    let path = server.presign("/owner/slug", &pushed).await.replace(&server.running.url(), "");
    let (start, rest) = pushed.pack.split_at(10);
    let head = format!("PUT {path} HTTP/1.1\r\nhost: h\r\ncontent-length: {}\r\n\r\n", pushed.pack.len());
    let mut stream = TcpStream::connect(server.running.address()).await.unwrap();
    stream.write_all(&[head.as_bytes(), start].concat()).await.unwrap();
    // The upload has been taken up once its temporary file is there.
    while std::fs::read_dir(server.data().join("temporary")).unwrap().count() == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    (stream, rest.to_vec())
}

#[tokio::test]
async fn a_request_under_way_is_finished() {
    let server = TestServer::start(|_| {}).await;
    let (mut stream, rest) = half_an_upload(&server).await;
    let address = server.running.address();
    let stopping = tokio::spawn(server.stop());
    while TcpStream::connect(address).await.is_ok() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(!stopping.is_finished());
    stream.write_all(&rest).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 201 "), "{answer}");
    stopping.await.unwrap();
}

#[tokio::test]
async fn a_request_that_does_not_end_is_cut_off() {
    let server = TestServer::start(|config| config.drain = Duration::from_millis(50)).await;
    let (mut stream, _) = half_an_upload(&server).await;
    server.stop().await;
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer).await;
    assert_eq!(answer, "");
}
