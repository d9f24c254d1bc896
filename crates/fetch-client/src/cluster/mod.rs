//! The client of a cluster: instances are asked for, and refusals for want of capacity are waited out by who
//! wants that.

mod client;
mod creation;
mod errors;
mod instance;
mod settings;
mod talk;
#[cfg(test)]
mod tests;
mod wire;

#[cfg(any(test, feature = "testing"))]
pub(crate) use errors::Unanswered;

pub use client::Cluster;
pub use errors::{ClusterError, ClusterRefusal};
pub use instance::{AffinityRequest, Instance, InstanceRequest, InterfaceRequest};
pub use settings::{ClusterAddress, ClusterSettings, Credentials, Strategy};
