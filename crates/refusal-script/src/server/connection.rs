//! One connection: requests in, answers out, in order.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::task::JoinHandle;

use super::recorder::{Exchange, Recorder};
use super::request::{self, Head, Requests};
use super::response;
use crate::case::{Connection, Step};

const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";
const BAD_REQUEST: &[u8] = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
const OK_BODY: &str = "ok\n";
const NOT_FOUND_BODY: &str = "not part of the case\n";
/// How long a client may go on sending after the last answer of its connection, so that it reads that
/// answer before the socket is gone.
const LONGEST_DRAIN: Duration = Duration::from_secs(5);

/// What to do with the connection after an answer.
#[derive(PartialEq, Eq)]
enum After {
    Next,
    Close,
    Reset,
}

pub(super) async fn serve(stream: TcpStream, number: u64, recorder: Arc<Recorder>) {
    // Each write is one that a client may have to see by itself.
    let _ = stream.set_nodelay(true);
    let (read_half, write_half) = stream.into_split();
    let (sender, requests) = Requests::channel();
    let reader = Reader(tokio::spawn(request::read(read_half, recorder.clock(), sender)));
    let mut talk = Talk { number, recorder, requests, half: write_half };
    let after = talk.run().await;
    if after == After::Close && talk.half.shutdown().await.is_ok() {
        // Beyond the limit the client is cut off, like one that does not read.
        let _ = tokio::time::timeout(LONGEST_DRAIN, talk.requests.drain()).await;
    }
    if after == After::Reset {
        // Dropped, it would end the stream in an orderly way first.
        talk.half.forget();
    } else {
        drop(talk);
    }
    reader.end().await;
}

/// The reading task; it ends with the connection's own, however that ends.
struct Reader(JoinHandle<()>);

impl Reader {
    async fn end(mut self) {
        self.0.abort();
        // Its half of the socket is gone after this, and with it the socket.
        let _ = (&mut self.0).await;
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.0.abort();
    }
}

struct Talk {
    number: u64,
    recorder: Arc<Recorder>,
    requests: Requests,
    half: OwnedWriteHalf,
}

impl Talk {
    async fn run(&mut self) -> After {
        loop {
            let (at_us, head) = match self.requests.head().await {
                Ok(Some(request)) => request,
                Ok(None) => return After::Close,
                Err(problem) => {
                    self.recorder.reject(self.number, problem);
                    // The client may be gone; it has been told if it is not.
                    let _ = self.half.write_all(BAD_REQUEST).await;
                    return After::Close;
                }
            };
            let after = match self.recorder.arrival(at_us, self.number, &head) {
                Some(exchange) => self.exchange(exchange, &head).await,
                None => self.other(&head).await,
            };
            match after {
                Ok(After::Next) if head.keep_alive => {}
                Ok(After::Next) => return After::Close,
                Ok(after) => return after,
                // The client hung up; the trace says how far the answer came.
                Err(_) => return After::Close,
            }
        }
    }

    async fn other(&mut self, head: &Head) -> io::Result<After> {
        self.read_body(head).await?;
        self.half.write_all(&response::plain(404, NOT_FOUND_BODY)).await?;
        if head.method != "HEAD" {
            self.half.write_all(NOT_FOUND_BODY.as_bytes()).await?;
        }
        Ok(After::Next)
    }

    async fn exchange(&mut self, exchange: Exchange, head: &Head) -> io::Result<After> {
        let recorder = Arc::clone(&self.recorder);
        let Some(step) = recorder.step(exchange) else {
            self.receive(exchange, head).await?;
            return self.ok(exchange, head).await;
        };
        if !step.before_body {
            self.receive(exchange, head).await?;
            return self.play(step, exchange, head).await;
        }
        let after = self.play(step, exchange, head).await?;
        if after == After::Next {
            let drained = tokio::time::timeout(LONGEST_DRAIN, self.requests.body(head)).await;
            if drained.is_ok_and(|body| body.complete) {
                return Ok(After::Next);
            }
            return Ok(After::Close);
        }
        Ok(after)
    }

    async fn receive(&mut self, exchange: Exchange, head: &Head) -> io::Result<()> {
        let body = self.read_body(head).await?;
        self.recorder.received(exchange, body.bytes, body.sha256, body.complete);
        if body.complete { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    async fn read_body(&mut self, head: &Head) -> io::Result<request::BodyRead> {
        if head.wants_continue {
            self.half.write_all(CONTINUE).await?;
        }
        Ok(self.requests.body(head).await)
    }

    async fn ok(&mut self, exchange: Exchange, head: &Head) -> io::Result<After> {
        let answer = response::plain(200, OK_BODY);
        self.recorder.answer(exchange, self.recorder.answer_time(), &answer);
        if let Err(error) = self.half.write_all(&answer).await {
            self.recorder.answered(exchange, 0, false);
            return Err(error);
        }
        let body = if head.method == "HEAD" { "" } else { OK_BODY };
        let (bytes, written) = response::body(&mut self.half, body.as_bytes(), None).await;
        self.recorder.answered(exchange, bytes, written.is_ok());
        written.map(|()| After::Next)
    }

    async fn play(&mut self, step: &Step, exchange: Exchange, head: &Head) -> io::Result<After> {
        response::interim(&mut self.half, step, self.recorder.interim_time()).await?;
        let time = self.recorder.answer_time();
        let answer = response::head(step, time);
        self.recorder.answer(exchange, time, &answer);
        if let Err(error) = self.half.write_all(&answer).await {
            self.recorder.answered(exchange, 0, false);
            return Err(error);
        }
        let mut body = if head.method == "HEAD" { Vec::new() } else { step.body.bytes() };
        match step.connection {
            Connection::ResetAfterHead => body.clear(),
            Connection::ResetInBody => body.truncate(body.len() / 2),
            Connection::Keep | Connection::Close => {}
        }
        let (bytes, written) = response::body(&mut self.half, &body, step.trickle).await;
        self.recorder.answered(exchange, bytes, written.is_ok());
        written?;
        match step.connection {
            Connection::Keep => Ok(After::Next),
            Connection::Close => Ok(After::Close),
            Connection::ResetAfterHead | Connection::ResetInBody => {
                response::prepare_reset(&self.half).await;
                Ok(After::Reset)
            }
        }
    }
}
