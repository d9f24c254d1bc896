//! The cluster: instances are asked of it, and it says when it has no room for them, and whether waiting helps.
//!
//! Its state lives in memory alone: nodes, networks and claims come from the configuration, and what was
//! created is gone with the process.

mod addresses;
mod auth;
mod config;
mod documents;
mod faults;
mod filters;
mod instance;
mod ledger;
mod lifecycle;
mod refusals;
mod resources;
mod routes;
mod scheduler;
mod stage;
mod status;
#[cfg(test)]
mod tests;
mod wanted;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub use config::{ClusterConfig, ClusterConfigError, Network, Node};
pub use refusals::{CapacityRefusal, CongestedNetwork, DependencyNotReady};
pub use stage::{Stage, StageName, Transience};

pub(crate) use documents::{CapacityRefused, PlainError};
pub(crate) use ledger::Hold;
pub(crate) use routes::router;
pub(crate) use status::ClusterStatus;

use crate::clock::Clock;
use crate::config::Config;
use crate::tokens::Tokens;
use addresses::Addresses;
use auth::AccessTokens;
use instance::{InstanceId, Record};
use ledger::Ledger;

/// All that the cluster's handlers and timers share.
pub(crate) struct Cluster {
    config: ClusterConfig,
    clock: Clock,
    /// The keys that `POST /auth` takes.
    tokens: Tokens,
    access: AccessTokens,
    // Three locks, each held for one step and never two at once.
    ledger: Mutex<Ledger>,
    addresses: Mutex<Addresses>,
    records: Mutex<BTreeMap<InstanceId, Record>>,
    /// Whether starts are held.
    starts_held: watch::Sender<bool>,
    stop: CancellationToken,
}

impl Cluster {
    /// An empty cluster, as configured. Its timers end when `stop` is cancelled.
    pub(crate) fn new(config: &Config, tokens: Tokens, stop: CancellationToken) -> Self {
        let cluster = config.cluster.clone();
        Self {
            clock: config.clock.clone(),
            tokens,
            access: AccessTokens::new(),
            ledger: Mutex::new(Ledger::new(&cluster)),
            addresses: Mutex::new(Addresses::new(&cluster.networks)),
            records: Mutex::default(),
            starts_held: watch::Sender::new(false),
            stop,
            config: cluster,
        }
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn addresses(&self) -> MutexGuard<'_, Addresses> {
        self.addresses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn records(&self) -> MutexGuard<'_, BTreeMap<InstanceId, Record>> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
