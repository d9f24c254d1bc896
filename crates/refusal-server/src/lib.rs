//! A server whose refusals say when to come back.
//!
//! The first room is the [hub](HubConfig): a place to push repositories to and to fetch them from. Between a
//! push and the first good fetch there is real work to do (indexing objects, building packs), and until it is
//! done the hub answers 503 with a `Retry-After` that says how long it expects to need.
//!
//! The second room is the [cluster](ClusterConfig): a small scheduler of instances. When it has no room for one
//! it answers 507, and says at which [stage](Stage) and whether waiting helps; only then with a `Retry-After`.
//!
//! The third room is the [throttle](ThrottleConfig): one bucket of tokens a key. A request that finds it empty is
//! answered 429, and the `Retry-After` is the time at which the bucket admits it.
//!
//! [`Server::bind`] starts it in this process; the program of the same name is a thin shell around it.
//!
//! ```no_run
//! # async fn example() -> Result<(), refusal_server::StartError> {
//! use refusal_server::{Config, Secret, Server};
//!
//! let mut config = Config::new("data");
//! config.dev_token = Some(Secret::new("only for this machine"));
//! let server = Server::bind(config).await?;
//! println!("push to {}/owner/slug", server.url());
//! server.shutdown().await;
//! # Ok(())
//! # }
//! ```

mod admin;
mod app;
#[cfg(feature = "cli")]
pub mod cli;
mod clock;
mod cluster;
mod config;
mod connections;
mod exchange;
mod hub;
mod openapi;
mod patience;
mod refusal;
mod server;
#[cfg(test)]
mod testing;
mod throttle;
mod tokens;

pub use clock::Clock;
pub use cluster::{
    CapacityRefusal, ClusterConfig, ClusterConfigError, CongestedNetwork, DependencyNotReady, Network, Node,
    Stage, StageName, Transience,
};
pub use config::Config;
pub use hub::{FetchNotIndexed, HubConfig, JobKind, MPackNotReady, StoreError};
pub use refusal::{Body, Failure, Refusal, Refused, RetryAfter};
pub use server::{Running, Server, StartError};
pub use throttle::{ThrottleConfig, ThrottleRate, ThrottleRateError, TooManyRequests};
pub use tokens::{Secret, Tokens};
