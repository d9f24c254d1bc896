//! A job, as the queue keeps it and the admin API shows it.

use std::fmt;

use hub_protocol::Id;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a job does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
pub enum JobKind {
    /// Takes an uploaded pack apart: its objects become files, and the index knows them.
    #[serde(rename = "mpack.index")]
    Index,
    /// Builds the pack that a whole clone is answered with, before anyone asks for it.
    #[serde(rename = "fetch.mpack.prebuild")]
    Prebuild,
}

impl JobKind {
    /// All kinds.
    pub const ALL: [Self; 2] = [Self::Index, Self::Prebuild];

    /// The name in the queue and in the admin API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Index => "mpack.index",
            Self::Prebuild => "fetch.mpack.prebuild",
        }
    }
}

impl fmt::Display for JobKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for JobKind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
            format!("expected `{}` or `{}`, got `{}`", Self::ALL[0], Self::ALL[1], name.escape_debug())
        })
    }
}

/// What a job works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = JobTask)]
pub(crate) enum Task {
    Index { mpack_id: Id },
    Prebuild { generation: u64 },
}

impl Task {
    pub(crate) fn kind(self) -> JobKind {
        match self {
            Self::Index { .. } => JobKind::Index,
            Self::Prebuild { .. } => JobKind::Prebuild,
        }
    }

    /// The id of the job that does this: the same task twice is one job.
    pub(crate) fn job_id(self, repository: u64) -> String {
        match self {
            Self::Index { mpack_id } => format!("{}:{repository}:{mpack_id}", JobKind::Index),
            Self::Prebuild { generation } => format!("{}:{repository}:{generation}", JobKind::Prebuild),
        }
    }
}

/// How far a job has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum JobState {
    Queued,
    Running,
    Done,
    /// There was nothing left to do: the heads had moved on.
    Superseded,
    Failed,
}

impl JobState {
    pub(crate) fn is_pending(self) -> bool {
        matches!(self, Self::Queued | Self::Running)
    }
}

/// One entry of the queue, as it is kept and as the admin API shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Job {
    pub(crate) id: String,
    pub(crate) kind: JobKind,
    /// Its place in the order of the queue.
    pub(crate) place: u64,
    /// `owner/slug` at the time.
    pub(crate) repository: String,
    pub(crate) repository_number: u64,
    pub(crate) task: Task,
    pub(crate) state: JobState,
    /// How often it was started.
    pub(crate) attempts: u32,
    /// Why it failed, the last time.
    #[schema(required)]
    pub(crate) error: Option<String>,
}
