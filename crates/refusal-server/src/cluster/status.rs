//! What the admin API sees of the cluster, and may hold.

use serde::Serialize;
use utoipa::ToSchema;

use super::Cluster;
use super::ledger::Hold;

/// What the admin API says of the cluster.
#[derive(Serialize, ToSchema)]
pub(crate) struct ClusterStatus {
    /// Whether creations are refused until told otherwise.
    pub(crate) capacity_held: bool,
    /// The stage that such refusals name; the guard's own where there is none.
    #[schema(required)]
    pub(crate) held_at: Option<String>,
    /// Whether placed instances stay `creating`.
    pub(crate) starts_held: bool,
    /// How many instances are recorded, creations that have not been answered yet among them.
    pub(crate) records: usize,
    /// How many instances hold capacity: those that were deleted a moment ago among them.
    pub(crate) promises: usize,
    pub(crate) networks: Vec<NetworkStatus>,
}

/// A network and how full it is.
#[derive(Serialize, ToSchema)]
pub(crate) struct NetworkStatus {
    pub(crate) id: String,
    /// Whether instances can be on it.
    pub(crate) ready: bool,
    /// How many of its addresses are given out.
    pub(crate) used: usize,
}

/// What tests and demonstrations are given to hold.
impl Cluster {
    pub(crate) fn status(&self) -> ClusterStatus {
        let (hold, promises) = {
            let ledger = self.ledger();
            (ledger.hold().cloned(), ledger.promises())
        };
        let networks = self
            .addresses()
            .networks()
            .map(|(id, ready, used)| NetworkStatus { id: id.to_owned(), ready, used })
            .collect();
        ClusterStatus {
            capacity_held: hold.is_some(),
            held_at: hold.and_then(|hold| hold.stage).map(|stage| stage.as_str().to_owned()),
            starts_held: *self.starts_held.borrow(),
            records: self.records().len(),
            promises,
            networks,
        }
    }

    /// Refuses every creation until told otherwise, or no longer.
    pub(crate) fn hold_capacity(&self, hold: Option<Hold>) {
        self.ledger().set_hold(hold);
    }

    /// Keeps placed instances `creating` until told otherwise, or no longer.
    pub(crate) fn hold_starts(&self, held: bool) {
        self.starts_held.send_replace(held);
    }

    /// Makes a network ready or not, or all of them; `false` when there is no such network.
    pub(crate) fn set_network_ready(&self, network: Option<&str>, ready: bool) -> bool {
        self.addresses().set_ready(network, ready)
    }

    /// Makes every access token worthless: clients have to authenticate again.
    pub(crate) fn revoke_access(&self) {
        self.access.revoke_all();
    }
}
