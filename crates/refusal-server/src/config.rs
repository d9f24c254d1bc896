use std::net::{IpAddr, Ipv4Addr, SocketAddr};
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
            drain: Duration::from_secs(10),
            clock: Clock::System,
            hub: HubConfig::default(),
            cluster: ClusterConfig::default(),
            throttle: ThrottleConfig::default(),
        }
    }
}
