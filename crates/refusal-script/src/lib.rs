//! Scripted refusals: what a server says, what a client did about it, and whether that was right.
//!
//! - A [`Case`] is data: a script of refusals, the promise each of them makes, and what is expected.
//! - A [`Server`] plays a case on a raw socket, byte for byte, and records a [`Trace`].
//! - [`judge()`] is one pure function from a case and a trace to a [`Verdict`].
//!
//! The crate does not read `Retry-After`: a case states its promise itself (`not_before_ms`), so that no
//! client is ever graded by somebody's parser. It starts no client either; whoever uses a [`Server`]
//! points one at its URL.
//!
//! ```
//! use refusal_script::{Case, Server, VerdictKind, judge};
//! use tokio::io::{AsyncReadExt, AsyncWriteExt};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let case = Case::from_json(r#"{
//!     "id": "one-second", "rev": 1, "title": "503 with one second", "level": "promise",
//!     "spec": "RFC 9110 section 10.2.3",
//!     "script": [{"status": 503, "headers": [["Retry-After", "1"]], "promise": {"not_before_ms": 1000}}],
//!     "observe": {"until": "script_end", "window_ms": 3000},
//!     "expect": [{"that": "not_before"}],
//!     "self_test": {"perfect": "pass", "eager": "fail", "never_retries": "vacuous",
//!                   "tight_loop": "fail", "hangs": "vacuous"}
//! }"#)?;
//! let server = Server::start(case.clone()).await?;
//!
//! // A client that does not listen: it asks twice in a row.
//! let mut socket = tokio::net::TcpStream::connect(server.address()).await?;
//! for _ in 0..2 {
//!     socket.write_all(b"GET /one-second HTTP/1.1\r\nHost: localhost\r\n\r\n").await?;
//!     socket.read(&mut [0; 1024]).await?;
//! }
//! let verdict = judge(&case, &server.stop().await);
//! assert_eq!(verdict.kind, VerdictKind::Fail);
//! # Ok(())
//! # }
//! ```

mod case;
mod clock;
mod date;
mod expectation;
mod judge;
mod server;
mod trace;
mod verdict;

pub use case::{
    Alternative, Base, Body, Case, CaseError, CasesError, Connection, DateForm, DateTemplate, Edition,
    HeaderValue, Interim, Level, Need, Observe, Operations, Precision, Promise, Request, SelfTest, Start,
    Step, Then, Trickle, Until,
};
pub use expectation::{Expectation, Soft};
pub use judge::{gaps_us, judge};
pub use server::{Progress, Server, StartError};
pub use trace::{Event, ExitMeaning, Trace, TraceError};
pub use verdict::{Reason, Verdict, VerdictKind};
