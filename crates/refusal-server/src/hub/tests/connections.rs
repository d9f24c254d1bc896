//! What one peer may take of the server by doing nothing.

use std::num::NonZeroUsize;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

use super::PREBUILD;
use crate::Config;
use crate::testing::{History, TestServer};

/// Longer than any step of a test takes on a busy machine.
const GENEROUS: Duration = Duration::from_secs(30);

/// Does not compress, and fits into no socket's buffers.
fn noise() -> Vec<u8> {
    let mut noise = vec![0; 12 << 20];
    rand::fill(&mut noise[..]);
    noise
}

/// A server with a large pack, and a connection that has asked for it and has read nothing.
async fn asked_for_a_large_pack(change: impl FnOnce(&mut Config)) -> (TestServer, TcpStream) {
    let server = TestServer::start(change).await;
    let mut history = History::default();
    let head = history.commit(&[], "first", &[("file", &noise())]);
    server.push(&history.pack(head)).await.assert_status(200);
    server.wait_for(PREBUILD, "done").await;
    let answer = server.fetch(&[head], &[]).await;
    let path = answer.assert_status(200).json()["url"].as_str().unwrap().replace(&server.running.url(), "");
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(64 << 10).unwrap();
    let mut stream = socket.connect(server.running.address()).await.unwrap();
    let head = format!("GET {path} HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    (server, stream)
}

/// A presigned GET that is opened and never read from.
#[tokio::test]
async fn a_peer_that_takes_nothing_of_its_answer_loses_the_connection() {
    let (_server, stream) =
        asked_for_a_large_pack(|config| config.write_timeout = Duration::from_millis(200)).await;
    timeout(GENEROUS, stream.ready(Interest::ERROR)).await.expect("the connection ends").unwrap();
    let error = stream.take_error().unwrap().expect("it ends by a reset");
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn a_peer_that_takes_its_answer_slowly_gets_all_of_it() {
    let limit = Duration::from_secs(2);
    let (_server, mut stream) = asked_for_a_large_pack(|config| config.write_timeout = limit).await;
    let mut taken = 0;
    let mut piece = vec![0; 1 << 20];
    // In pieces of a megabyte, for longer than a write may stand still.
    loop {
        tokio::time::sleep(limit / 8).await;
        let mut filled = 0;
        while filled < piece.len() {
            match stream.read(&mut piece[filled..]).await.unwrap() {
                0 => break,
                count => filled += count,
            }
        }
        taken += filled;
        if filled < piece.len() {
            break;
        }
    }
    assert!(taken > 12 << 20, "{taken}");
}

#[tokio::test]
async fn whoever_comes_while_all_connections_are_taken_is_served_when_one_ends() {
    let server = TestServer::start(|config| config.connections = NonZeroUsize::MIN).await;
    let first = TcpStream::connect(server.running.address()).await.unwrap();
    let mut second = TcpStream::connect(server.running.address()).await.unwrap();
    second.write_all(b"GET /healthz HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    let early = timeout(Duration::from_millis(200), second.read_to_end(&mut answer)).await;
    assert!(early.is_err(), "{}", answer.escape_ascii());
    drop(first);
    timeout(GENEROUS, second.read_to_end(&mut answer)).await.expect("its turn comes").unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 200 "), "{}", answer.escape_ascii());
}
