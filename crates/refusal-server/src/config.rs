//! What the server is told at its start, by a program or by the command line.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use crate::clock::Clock;
use crate::cluster::ClusterConfig;
use crate::hub::HubConfig;
use crate::throttle::ThrottleConfig;
use crate::tokens::Secret;

/// Everything that one server is told at its start. Plain data: [`Server::bind`](crate::Server::bind) checks it.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where to listen; port 0 takes any free one.
    pub listen: SocketAddr,
    /// The folder that holds all that the server keeps; made where it is missing.
    pub data: PathBuf,
    /// A token that is good without having been added, for a first run; only on a loopback address.
    pub dev_token: Option<Secret>,
    /// Opens `/_admin` to whoever presents it, from anywhere; without one only loopback peers are answered.
    pub admin_token: Option<Secret>,
    /// What presigned URLs start with, such as `https://hub.example`; the request's own `Host` otherwise.
    pub public_url: Option<String>,
    /// How many connections are served at once; whoever comes later waits until one of them ends.
    pub connections: NonZeroUsize,
    /// How long a peer may take nothing of an answer before its connection is cut.
    pub write_timeout: Duration,
    /// How long a shutdown waits for requests and jobs that are under way.
    pub drain: Duration,
    /// Where the time of day is read.
    pub clock: Clock,
    /// The hub's own settings.
    pub hub: HubConfig,
    /// The cluster's own settings.
    pub cluster: ClusterConfig,
    /// The throttle's own settings.
    pub throttle: ThrottleConfig,
}

impl Config {
    /// A server on any free loopback port, with its data in `data`.
    pub fn new(data: impl Into<PathBuf>) -> Self {
        Self {
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
            data: data.into(),
            dev_token: None,
            admin_token: None,
            public_url: None,
            // Each holds a socket and, for a pack, a file. With the uploads and the database that stays below the
            // 1,024 descriptors that a process may usually have.
            connections: NonZeroUsize::new(448).expect("448 is not 0"),
            // As long as a peer may take for the head of its request: no line that works is silent for longer.
            write_timeout: Duration::from_secs(30),
            drain: Duration::from_secs(10),
            clock: Clock::System,
            hub: HubConfig::default(),
            cluster: ClusterConfig::default(),
            throttle: ThrottleConfig::default(),
        }
    }
}
