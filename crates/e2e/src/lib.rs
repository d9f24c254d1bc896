//! Both programs as separate processes, on real sockets, in real time: what the tests of the pair and the
//! demonstration are made of.
//!
//! Nothing here relies on an earlier build of other packages: a program that calls [`become_program`] first
//! can start itself again as the server or the client.
//!
//! * [`Scene`]: a folder of its own, a seed, and the processes in it. A test that fails under it prints the seed,
//!   every log and every trace.
//! * [`Hub`], [`Client`]: the two programs, as [`Process`]es.
//! * [`Tap`]: a relay between them that records what passes, byte for byte. [`RawServer`]: a server that answers
//!   as it is told, right or wrong. Both keep a [`Trace`] of what arrived when.
//! * [`Tree`]: folders to send, and whether they arrived.
//!
//! Errors are `anyhow`'s: whoever calls this wants to read them, and does nothing else with them.

mod client;
pub mod clock;
mod doors;
mod hub;
mod memory;
mod message;
mod process;
mod program;
mod random;
mod raw_server;
mod scene;
mod tap;
mod trace;
mod tree;

pub use client::Client;
pub use hub::{Hub, JobKind, TOKEN};
pub use memory::{own_peak_memory, peak_memory_of};
pub use message::{Follower, Head, Seen, ask};
pub use process::{Ended, Line, PATIENCE, Process, Stream};
pub use program::{Program, become_program};
pub use random::Random;
pub use raw_server::{Answer, RawServer, Request};
pub use scene::{Ender, Scene};
pub use tap::Tap;
pub use trace::{Exchange, Trace};
pub use tree::{Kind, Tree, same_bytes, write_random_file};
