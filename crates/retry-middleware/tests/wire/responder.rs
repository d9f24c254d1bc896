//! A counting responder on a real socket: it answers what it is told and notes when requests arrived.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use retry_core::Monotonic;
use retry_middleware::{Clock, SystemClock};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// One request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Arrival {
    /// When its head was complete.
    pub(crate) at: Monotonic,
    /// Method and path: `GET /a`.
    pub(crate) line: String,
    pub(crate) body: Vec<u8>,
}

/// What is sent back, piece by piece, each after a pause; then the connection may be closed.
pub(crate) struct Reply {
    pieces: Vec<(Duration, Vec<u8>)>,
    close: bool,
}

impl Reply {
    pub(crate) fn new(status: u16, fields: &str, body: &str) -> Self {
        let length = body.len();
        Self::raw(format!("HTTP/1.1 {status} x\r\n{fields}Content-Length: {length}\r\n\r\n{body}"))
    }

    pub(crate) fn ok() -> Self {
        Self::new(200, "", "fine")
    }

    pub(crate) fn refuse(status: u16, seconds: u64) -> Self {
        Self::new(status, &format!("Retry-After: {seconds}\r\n"), "later")
    }

    pub(crate) fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self { pieces: vec![(Duration::ZERO, bytes.into())], close: false }
    }

    /// The same, after a pause.
    pub(crate) fn slow(mut self, pause: Duration) -> Self {
        self.pieces[0].0 = pause;
        self
    }

    pub(crate) fn then(mut self, pause: Duration, bytes: &str) -> Self {
        self.pieces.push((pause, bytes.into()));
        self
    }

    pub(crate) fn then_close(mut self) -> Self {
        self.close = true;
        self
    }
}

/// The responder; it ends with its last handle.
pub(crate) struct Responder {
    address: SocketAddr,
    arrivals: Arc<Mutex<Vec<Arrival>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Responder {
    /// `answer` is given the number of earlier requests and the arrival.
    pub(crate) async fn start(answer: impl Fn(usize, &Arrival) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let arrivals = Arc::new(Mutex::new(Vec::new()));
        let (seen, answer) = (Arc::clone(&arrivals), Arc::new(answer));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                tokio::spawn(async move {
                    // A client may hang up whenever it likes.
                    let _ = serve(stream, &seen, &*answer).await;
                });
            }
        });
        Self { address, arrivals, task }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn arrivals(&self) -> Vec<Arrival> {
        self.arrivals.lock().unwrap().clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.arrivals.lock().unwrap().len()
    }

    /// The gaps between arrivals, from the first on.
    pub(crate) fn gaps(&self) -> Vec<Duration> {
        self.arrivals().windows(2).map(|pair| pair[1].at.since(pair[0].at)).collect()
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(
    mut stream: TcpStream,
    seen: &Mutex<Vec<Arrival>>,
    answer: &(impl Fn(usize, &Arrival) -> Reply + Send + Sync),
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut read = Vec::new();
    loop {
        let head_end = loop {
            if let Some(end) = read.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break end + 4;
            }
            if stream.read_buf(&mut read).await? == 0 {
                return Ok(());
            }
        };
        let at = SystemClock.monotonic();
        let head = String::from_utf8_lossy(&read[..head_end]).to_ascii_lowercase();
        let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
        let whole = head_end + length.unwrap_or(0);
        while read.len() < whole {
            if stream.read_buf(&mut read).await? == 0 {
                return Ok(());
            }
        }
        let line =
            String::from_utf8_lossy(&read[..head_end]).split(" HTTP/").next().unwrap_or_default().to_owned();
        let arrival = Arrival { at, line, body: read[head_end..whole].to_vec() };
        read.drain(..whole);
        let earlier = {
            let mut seen = seen.lock().unwrap();
            seen.push(arrival.clone());
            seen.len() - 1
        };
        let reply = answer(earlier, &arrival);
        for (pause, bytes) in reply.pieces {
            tokio::time::sleep(pause).await;
            stream.write_all(&bytes).await?;
        }
        if reply.close {
            return stream.shutdown().await;
        }
    }
}
