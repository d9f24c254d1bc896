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

pub use client::Cluster;
pub use errors::{ClusterError, ClusterRefusal};
pub use instance::{AffinityRequest, Instance, InstanceRequest, InterfaceRequest};
pub use settings::{ClusterAddress, ClusterSettings, Credentials, Strategy};
