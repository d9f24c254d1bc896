//! The pair of programs, as processes on real sockets in real time. Lower bounds are proven: instants are taken on
//! the server's side, before an answer leaves and after a request has come. Upper bounds are generous.

mod cli;
mod cluster;
mod crash;
mod demo;
mod fake_hub;
mod faults;
mod forge;
mod hub;
mod interrupts;
mod lies;
mod load;
mod redacted;
mod throttle;

use e2e::{Process, Scene, Stream};

/// A scene whose programs are this package's own binary.
fn scene() -> Scene {
    Scene::new(env!("CARGO_BIN_EXE_demo")).unwrap()
}

/// Waits until a client has said that it waits.
#[track_caller]
fn wait_for_waiting_line(process: &Process) {
    process.line("a waiting line", |line| line.stream == Stream::Err && line.text.starts_with('⏳')).unwrap();
}
