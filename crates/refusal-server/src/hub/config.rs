//! What the hub is told at its start.

use std::num::NonZeroUsize;
use std::time::Duration;

use hub_protocol::Limits;

use super::{FetchNotIndexed, JobKind, MPackNotReady};
use crate::refusal::RetryAfter;

/// The hub's settings. The defaults are the contract; the rest is for demonstrations and tests.
#[derive(Debug, Clone)]
pub struct HubConfig {
    /// What [`FetchNotIndexed`] tells clients to wait.
    pub retry_after_index: RetryAfter,
    /// What [`MPackNotReady`] tells clients to wait.
    pub retry_after_prebuild: RetryAfter,
    /// How long each index job rests between its start and its work.
    pub index_delay: Duration,
    /// How long each prebuild job rests between its start and its work.
    pub prebuild_delay: Duration,
    /// Kinds of jobs that are held from the start, until the admin API releases them.
    pub held: Vec<JobKind>,
    /// How many jobs run at once.
    pub workers: NonZeroUsize,
    /// The largest pack that may be uploaded, in bytes.
    pub largest_mpack: u64,
    /// How long an upload URL lives.
    pub upload_lifetime: Duration,
    /// What a pack may ask of the server that reads it.
    pub limits: Limits,
}

impl HubConfig {
    pub(crate) fn delay_of(&self, kind: JobKind) -> Duration {
        match kind {
            JobKind::Index => self.index_delay,
            JobKind::Prebuild => self.prebuild_delay,
        }
    }
}

impl Default for HubConfig {
    fn default() -> Self {
        Self {
            retry_after_index: FetchNotIndexed::RETRY_AFTER,
            retry_after_prebuild: MPackNotReady::RETRY_AFTER,
            index_delay: Duration::ZERO,
            prebuild_delay: Duration::ZERO,
            held: Vec::new(),
            // One reads while the other writes; more would only compete for the same disk.
            workers: NonZeroUsize::new(2).expect("2 is not 0"),
            // Large enough for any repository of files, small enough that one push does not fill a disk.
            largest_mpack: 64 << 30,
            // An hour: what a slow line needs for a large pack.
            upload_lifetime: Duration::from_secs(3_600),
            limits: Limits::default(),
        }
    }
}
