//! A relay that records what passes between the two programs.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;

use crate::doors::Doors;
use crate::message::{Follower, Seen};
use crate::trace::{Exchange, Trace};

/// A relay in front of a server: it passes every byte on unchanged, and notes the messages.
#[derive(Debug)]
pub struct Tap {
    trace: Trace,
    doors: Doors,
}

/// Is told of each answer before its last bytes go on to the client.
type OnAnswer = dyn Fn(&Exchange) + Send + Sync;

impl Tap {
    /// Relays to `server` from a free port of this machine.
    ///
    /// `on_answer` is called with each exchange when its answer is complete, and the client hears the end of the
    /// answer only after it returns.
    ///
    /// # Errors
    ///
    /// When no port can be had.
    pub fn start(
        server: SocketAddr,
        on_answer: impl Fn(&Exchange) + Send + Sync + 'static,
    ) -> anyhow::Result<Self> {
        let trace = Trace::new(&format!("the tap before {server}"));
        let on_answer: Arc<OnAnswer> = Arc::new(on_answer);
        let noting = trace.clone();
        let doors = Doors::open(move |client| {
            let Ok(upstream) = TcpStream::connect(server) else { return };
            // Failures end the connection, which is what the client of a broken server sees too.
            let _ = relay(client, upstream, &noting, &on_answer);
        });
        Ok(Self { trace, doors: doors.context("no port for the tap")? })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.doors.address()
    }

    /// What has passed.
    #[must_use]
    pub fn trace(&self) -> &Trace {
        &self.trace
    }
}

fn relay(client: TcpStream, server: TcpStream, trace: &Trace, on_answer: &Arc<OnAnswer>) -> io::Result<()> {
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    // Requests whose answers are to come, in their order.
    let open: Arc<Mutex<VecDeque<usize>>> = Arc::default();
    let (from_client, to_server) = (client.try_clone()?, server.try_clone()?);
    let (asking, asked) = (trace.clone(), Arc::clone(&open));
    let upwards = std::thread::spawn(move || {
        let mut follower = Follower::default();
        pass(from_client, to_server, |bytes| {
            for seen in follower.follow(bytes) {
                if let Seen::Head(head) = seen {
                    let place = asking.request(head);
                    asked.lock().unwrap_or_else(PoisonError::into_inner).push_back(place);
                }
            }
        })
    });
    let mut follower = Follower::default();
    let mut under_way = None;
    let downwards = pass(server, client, |bytes| {
        for seen in follower.follow(bytes) {
            match seen {
                Seen::Head(head) => {
                    under_way = open.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                    if let Some(place) = under_way {
                        trace.answer(place, head);
                    }
                }
                Seen::Body(body) => {
                    if let Some(place) = under_way.take() {
                        on_answer(&trace.end(place, body));
                    }
                }
            }
        }
    });
    // It ends with the connection, whichever side has ended it.
    let _ = upwards.join();
    downwards
}

/// Passes bytes on until either side ends, showing them to `look` first.
fn pass(mut from: TcpStream, mut to: TcpStream, mut look: impl FnMut(&[u8])) -> io::Result<()> {
    let mut buffer = vec![0; 256 * 1_024];
    let ended = loop {
        match from.read(&mut buffer) {
            Ok(0) => break Ok(()),
            Ok(count) => {
                look(&buffer[..count]);
                if let Err(error) = to.write_all(&buffer[..count]) {
                    break Err(error);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => break Err(error),
        }
    };
    let _ = to.shutdown(Shutdown::Write);
    let _ = from.shutdown(Shutdown::Read);
    ended
}
