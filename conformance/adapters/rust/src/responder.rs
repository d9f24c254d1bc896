//! A counting responder on a real socket.

use std::sync::Arc;
use std::time::Instant;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::clock::now;

/// One request: the beginning of `GET /a`, and when its head was there.
#[derive(Debug, Clone)]
pub struct Arrival {
    pub line: String,
    pub at: Instant,
}

pub struct Responder {
    pub url: String,
    arrivals: watch::Receiver<Vec<Arrival>>,
    task: tokio::task::JoinHandle<()>,
}

impl Responder {
    /// `answer` is given the line of a request and how many had the same one before; it returns status and
    /// fields.
    pub async fn start(answer: impl Fn(&str, usize) -> (u16, String) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("the loopback has a free port");
        let url = format!("http://{}", listener.local_addr().expect("a bound socket has an address"));
        let (seen, arrivals) = watch::channel(Vec::new());
        let (seen, answer) = (Arc::new(seen), Arc::new(answer));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                tokio::spawn(async move {
                    // A client may hang up whenever it likes.
                    let _ = serve(stream, &seen, &*answer).await;
                });
            }
        });
        Self { url, arrivals, task }
    }

    pub fn arrivals(&self) -> Vec<Arrival> {
        self.arrivals.borrow().clone()
    }

    /// The first request with this line.
    pub fn first(&self, line: &str) -> Option<Arrival> {
        self.arrivals.borrow().iter().find(|arrival| arrival.line == line).cloned()
    }

    /// Returns as soon as there was a request with this line.
    pub async fn reached(&self, line: &str) {
        let there = |arrivals: &Vec<Arrival>| arrivals.iter().any(|arrival| arrival.line == line);
        self.arrivals.clone().wait_for(there).await.expect("the responder lives as long as this handle");
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// So much of a request's first line is kept.
const LONGEST_LINE: usize = 100;

/// One request a connection: what is measured are instants, not throughput.
async fn serve(
    mut stream: TcpStream,
    seen: &watch::Sender<Vec<Arrival>>,
    answer: &(impl Fn(&str, usize) -> (u16, String) + Send + Sync),
) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
        if stream.read_buf(&mut head).await? == 0 {
            return Ok(());
        }
    }
    let line = String::from_utf8_lossy(&head[..head.len().min(LONGEST_LINE)]);
    let line = line.split(" HTTP/").next().unwrap_or_default().to_owned();
    let mut earlier = 0;
    seen.send_modify(|seen| {
        earlier = seen.iter().filter(|arrival| arrival.line == line).count();
        seen.push(Arrival { line: line.clone(), at: now() });
    });
    let (status, fields) = answer(&line, earlier);
    let body = if line.starts_with("HEAD") { "" } else { "later" };
    let reply =
        format!("HTTP/1.1 {status} x\r\n{fields}Content-Length: 5\r\nConnection: close\r\n\r\n{body}");
    stream.write_all(reply.as_bytes()).await?;
    stream.shutdown().await?;
    // What is left of the request is read, so that the answer is not lost to a reset.
    while stream.read_buf(&mut head).await? > 0 {
        head.clear();
    }
    Ok(())
}
