//! A server that answers right or wrong, as it is told.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context;

use crate::doors::Doors;
use crate::message::{Follower, Head, Seen};
use crate::trace::Trace;

/// A server on a raw socket, which answers as it is told: to the letter, badly, or not at all.
#[derive(Debug)]
pub struct RawServer {
    trace: Trace,
    doors: Doors,
}

/// What a [`RawServer`] was asked.
#[derive(Debug, Clone)]
pub struct Request {
    /// The head.
    pub head: Head,
    /// The beginning of the body, up to 64 KiB.
    pub body: Vec<u8>,
}

/// What a [`RawServer`] does with a request, step by step. At the end of the steps the connection waits for the
/// next request.
#[derive(Debug, Clone, Default)]
pub struct Answer(Vec<Step>);

#[derive(Debug, Clone)]
enum Step {
    Write(Vec<u8>),
    Trickle { bytes: Vec<u8>, size: usize, pause: Duration },
    Silence,
    Close,
    Reset,
}

impl Answer {
    /// A whole answer with `body`, of the right length.
    #[must_use]
    pub fn new(status: &str, fields: &[&str], body: impl AsRef<[u8]>) -> Self {
        Self::head(status, fields, body.as_ref().len() as u64).write(body)
    }

    /// Only a head, which promises a body of `length` bytes.
    #[must_use]
    pub fn head(status: &str, fields: &[&str], length: u64) -> Self {
        let fields: String = fields.iter().map(|field| format!("{field}\r\n")).collect();
        Self::default().write(format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{fields}\r\n"))
    }

    /// 200 with a JSON body.
    #[must_use]
    pub fn json(value: &impl serde::Serialize) -> Self {
        let body = serde_json::to_vec(value).expect("what tests answer with can be JSON");
        Self::new("200 OK", &["Content-Type: application/json"], body)
    }

    /// Then these bytes.
    #[must_use]
    pub fn write(self, bytes: impl AsRef<[u8]>) -> Self {
        self.then(Step::Write(bytes.as_ref().to_vec()))
    }

    /// Then these bytes, `size` at a time with a pause after each.
    #[must_use]
    pub fn trickle(self, bytes: impl AsRef<[u8]>, size: usize, pause: Duration) -> Self {
        self.then(Step::Trickle { bytes: bytes.as_ref().to_vec(), size, pause })
    }

    /// Then nothing more until the client has gone.
    #[must_use]
    pub fn silence(self) -> Self {
        self.then(Step::Silence)
    }

    /// Then the end of the connection.
    #[must_use]
    pub fn close(self) -> Self {
        self.then(Step::Close)
    }

    /// Then a reset of the connection.
    #[must_use]
    pub fn reset(self) -> Self {
        self.then(Step::Reset)
    }

    fn then(mut self, step: Step) -> Self {
        self.0.push(step);
        self
    }
}

impl RawServer {
    /// Listens on a free port of this machine and answers each request with what `answer` returns.
    ///
    /// # Errors
    ///
    /// When no port can be had.
    pub fn start(answer: impl FnMut(&Request) -> Answer + Send + 'static) -> anyhow::Result<Self> {
        let trace = Trace::new("the raw server");
        let noting = trace.clone();
        let answer = Mutex::new(answer);
        let doors = Doors::open(move |connection| {
            let choose = |request: &Request| {
                let mut answer = answer.lock().unwrap_or_else(PoisonError::into_inner);
                (*answer)(request)
            };
            // A client that leaves early is part of what is tried here.
            let _ = serve(connection, &noting, choose);
        });
        Ok(Self { trace, doors: doors.context("no port for a raw server")? })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.doors.address()
    }

    /// What has arrived.
    #[must_use]
    pub fn trace(&self) -> &Trace {
        &self.trace
    }
}

fn serve(
    mut connection: TcpStream,
    trace: &Trace,
    mut choose: impl FnMut(&Request) -> Answer,
) -> io::Result<()> {
    connection.set_nodelay(true)?;
    let mut follower = Follower::default();
    let mut buffer = vec![0; 64 * 1_024];
    let mut arrived = None;
    loop {
        let count = connection.read(&mut buffer)?;
        if count == 0 {
            return Ok(());
        }
        for seen in follower.follow(&buffer[..count]) {
            match seen {
                Seen::Head(head) => arrived = Some((trace.request(head.clone()), head)),
                Seen::Body(body) => {
                    let (place, head) = arrived.take().expect("a head comes before its body");
                    let Answer(steps) = choose(&Request { head, body });
                    note(trace, place, &steps);
                    for step in steps {
                        if !perform(&mut connection, step)? {
                            return Ok(());
                        }
                    }
                }
            }
        }
    }
}

/// Notes an answer before it is sent, so that no request can seem to follow it too early.
fn note(trace: &Trace, place: usize, steps: &[Step]) {
    let mut follower = Follower::default();
    let written = steps.iter().filter_map(|step| match step {
        Step::Write(bytes) => Some(bytes),
        _ => None,
    });
    for seen in written.flat_map(|bytes| follower.follow(bytes)) {
        match seen {
            Seen::Head(head) => trace.answer(place, head),
            Seen::Body(body) => drop(trace.end(place, body)),
        }
    }
}

/// Does one step, and says whether the connection goes on.
fn perform(connection: &mut TcpStream, step: Step) -> io::Result<bool> {
    match step {
        Step::Write(bytes) => connection.write_all(&bytes)?,
        Step::Trickle { bytes, size, pause } => {
            for piece in bytes.chunks(size) {
                connection.write_all(piece)?;
                std::thread::sleep(pause);
            }
        }
        Step::Silence => {
            io::copy(connection, &mut io::sink())?;
            return Ok(false);
        }
        Step::Close => {
            connection.shutdown(Shutdown::Both)?;
            return Ok(false);
        }
        Step::Reset => {
            // Closing with a linger of nothing is what makes the system send a reset.
            rustix::net::sockopt::set_socket_linger(&*connection, Some(Duration::ZERO))?;
            return Ok(false);
        }
    }
    Ok(true)
}
