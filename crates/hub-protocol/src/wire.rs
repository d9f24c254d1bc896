//! The JSON bodies of the hub's endpoints, and their caps.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{BranchName, Id};

/// The most wants of one fetch; one more is 413.
pub const MAX_WANTS: usize = 1_000;
/// The most haves of one fetch; one more is 413.
pub const MAX_HAVES: usize = 1_000;
/// The shortest life of a download URL, in seconds.
pub const MIN_TTL_SECONDS: u32 = 30;
/// The longest life of a download URL, in seconds.
pub const MAX_TTL_SECONDS: u32 = 3_600;
/// The life of a download URL where the request names none, in seconds.
pub const DEFAULT_TTL_SECONDS: u32 = MAX_TTL_SECONDS;

/// The answer of `GET /{owner}/{slug}/refs`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Refs {
    /// What the server calls the repository, whatever its owner and slug become.
    pub repo_id: String,
    /// What kind of work the repository holds, such as `code`.
    pub domain: String,
    /// The branch that a clone checks out.
    pub default_branch: BranchName,
    /// The commit at the head of each branch.
    pub branch_heads: BTreeMap<BranchName, Id>,
}

/// The body of `POST /{owner}/{slug}/push/mpack-presign`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PresignRequest {
    /// The SHA-256 of the whole pack.
    pub mpack_id: Id,
    /// The length of the whole pack, in bytes.
    pub size: u64,
    /// Whether a repository that this push creates is open to everyone; without a meaning where it exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public: Option<bool>,
}

/// The answer to a [`PresignRequest`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PresignAnswer {
    /// Where to PUT the pack; the URL carries its own signature.
    pub upload_url: String,
    /// Until when, RFC 3339 in UTC.
    pub expires_at: String,
}

/// The body of `POST /{owner}/{slug}/push/unpack-mpack`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct UnpackRequest {
    /// The pack that was uploaded.
    pub mpack_id: Id,
    /// The branch to move.
    pub branch: BranchName,
    /// The commit to move it to.
    pub head: Id,
    /// Whether to move it even where that loses commits.
    #[serde(default)]
    pub force: bool,
}

/// The answer to an [`UnpackRequest`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UnpackAnswer {
    /// The commit at the head of each branch, after the push.
    pub branch_heads: BTreeMap<BranchName, Id>,
    /// How many times the heads have moved.
    pub generation: u64,
}

/// The body of `POST /{owner}/{slug}/fetch/mpack`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct FetchRequest {
    /// Commits to fetch; at most [`MAX_WANTS`].
    #[cfg_attr(feature = "openapi", schema(min_items = 1, max_items = 1000))]
    pub want: Vec<Id>,
    /// Commits that the client holds, with all that they lead to; at most [`MAX_HAVES`].
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(max_items = 1000))]
    pub have: Vec<Id>,
    /// How long the download URL shall live, in seconds: [`MIN_TTL_SECONDS`] to [`MAX_TTL_SECONDS`].
    #[serde(default = "default_ttl_seconds")]
    #[cfg_attr(feature = "openapi", schema(minimum = 30, maximum = 3600))]
    pub ttl_seconds: u32,
}

impl FetchRequest {
    /// A request with the default life of the download URL.
    #[must_use]
    pub fn new(want: Vec<Id>, have: Vec<Id>) -> Self {
        Self { want, have, ttl_seconds: DEFAULT_TTL_SECONDS }
    }
}

fn default_ttl_seconds() -> u32 {
    DEFAULT_TTL_SECONDS
}

/// The answer to a [`FetchRequest`] (ours).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FetchAnswer {
    /// The SHA-256 of the whole pack.
    pub mpack_id: Id,
    /// Where to GET the pack; the URL carries its own signature.
    pub url: String,
    /// The length of the whole pack, in bytes.
    pub size: u64,
    /// Until when the URL holds, RFC 3339 in UTC.
    pub expires_at: String,
    /// The commit at the head of each branch, as of `generation`.
    pub branch_heads: BTreeMap<BranchName, Id>,
    /// How many times the heads have moved.
    pub generation: u64,
}
