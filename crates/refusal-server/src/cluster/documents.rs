//! The shapes of the cluster's documents, as they are published. Refusals write their bodies themselves; the
//! tests hold every answer to these shapes.

use serde::Serialize;
use utoipa::ToSchema;

use super::resources::Resources;

/// The answer to `POST /auth`.
#[derive(Serialize, ToSchema)]
pub(super) struct AccessGranted {
    /// To be presented as `Authorization: Bearer TOKEN`.
    pub(super) access_token: String,
    pub(super) namespace: String,
    /// How many seconds it is good for.
    pub(super) expires_in: u64,
}

/// The body of `POST /auth`. It is read field by field, so that all faults are found at once.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AccessRequest {
    /// The name under which the key was made.
    #[schema(min_length = 1, max_length = 64, pattern = "^[A-Za-z0-9._@-]+$")]
    namespace: String,
    /// A token of the server (`refusal-server token add NAMESPACE`).
    #[schema(min_length = 1)]
    key: String,
}

/// A node and how full it is.
#[derive(Serialize, ToSchema)]
#[schema(as = Node)]
pub(super) struct ShownNode {
    pub(super) name: String,
    /// Whether it answers.
    pub(super) up: bool,
    /// Whether it runs instances.
    pub(super) is_hypervisor: bool,
    /// The most cpus of one instance.
    pub(super) cpu_max_per_instance: u32,
    /// What it has.
    pub(super) capacity: Resources,
    /// What is measured on it: the filters look at this.
    pub(super) measured: Resources,
    /// What it has promised, to instances that it still has to start too: the guard looks at this.
    pub(super) promised: Resources,
}

/// An error of the cluster: these two keys, and no third.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlainError {
    error: String,
    status: u16,
}

/// A refusal for want of capacity: these four keys.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CapacityRefused {
    error: String,
    status: u16,
    /// A stage of scheduling, or another name: one that is not known counts as permanent.
    stage: String,
    /// Whether waiting helps; with `true` comes a `Retry-After`.
    transient: bool,
}
