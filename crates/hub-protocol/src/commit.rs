//! A step of history, and how an id is made of it.

use serde::{Deserialize, Serialize};

use crate::quoted::quoted;
use crate::timestamp::is_utc_timestamp;
use crate::{Id, IdHasher};

/// The longest message of a commit, in bytes.
pub const MAX_MESSAGE_BYTES: usize = 64 * 1024;
/// The most parents of a commit: a wider merge has yet to be seen in earnest.
pub const MAX_PARENTS: usize = 16;

/// One step of a repository's history.
///
/// The canonical JSON is what [`serde_json::to_vec`] makes of it: the members `parents`, `snapshot`, `message`
/// and `committed_at` in this order, no white space, parents in ascending order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Commit {
    parents: Vec<Id>,
    snapshot: Id,
    message: String,
    committed_at: String,
}

impl Commit {
    /// Checks the parts. Parents are put in ascending order, as the id does not keep any other.
    ///
    /// `committed_at` is RFC 3339 in UTC, `Z` or `+00:00`.
    ///
    /// # Errors
    ///
    /// [`CommitError`]: too many parents, one of them twice; a message that is too long or holds NUL, which
    /// would make the id ambiguous; a time that is not as above.
    pub fn new(
        mut parents: Vec<Id>,
        snapshot: Id,
        message: impl Into<String>,
        committed_at: impl Into<String>,
    ) -> Result<Self, CommitError> {
        let (message, committed_at) = (message.into(), committed_at.into());
        if parents.len() > MAX_PARENTS {
            return Err(CommitError::TooManyParents { count: parents.len() });
        }
        parents.sort_unstable();
        if let Some(pair) = parents.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(CommitError::ParentTwice { parent: pair[0] });
        }
        if message.len() > MAX_MESSAGE_BYTES {
            return Err(CommitError::MessageTooLong { len: message.len() });
        }
        if let Some(at) = message.find('\0') {
            return Err(CommitError::MessageHoldsNul { at });
        }
        if !is_utc_timestamp(&committed_at) {
            return Err(CommitError::CommittedAt { text: committed_at });
        }
        Ok(Self { parents, snapshot, message, committed_at })
    }

    /// The commits that this one follows, in ascending order: none for the first, two for a merge.
    #[must_use]
    pub fn parents(&self) -> &[Id] {
        &self.parents
    }

    /// The id of the state that was recorded.
    #[must_use]
    pub fn snapshot(&self) -> Id {
        self.snapshot
    }

    /// What the author said about it.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// When it was recorded: RFC 3339, UTC.
    #[must_use]
    pub fn committed_at(&self) -> &str {
        &self.committed_at
    }

    /// The SHA-256 over four parts joined by NUL: the sorted parents (themselves joined by NUL, and an empty
    /// text where there are none), the snapshot, the message, the time.
    #[must_use]
    pub fn id(&self) -> Id {
        let mut hasher = IdHasher::new();
        for (number, parent) in self.parents.iter().enumerate() {
            if number > 0 {
                hasher.update("\0");
            }
            parent.with_text(|text| hasher.update(text));
        }
        hasher.update("\0");
        self.snapshot.with_text(|text| hasher.update(text));
        hasher.update("\0");
        hasher.update(&self.message);
        hasher.update("\0");
        hasher.update(&self.committed_at);
        hasher.finish()
    }
}

/// Parts that make no commit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// More than [`MAX_PARENTS`].
    #[error("the commit has {count} parents, and at most {MAX_PARENTS} are allowed")]
    TooManyParents {
        /// How many there are.
        count: usize,
    },
    /// One commit is named as a parent more than once.
    #[error("the commit names the parent {parent} twice")]
    ParentTwice {
        /// Which.
        parent: Id,
    },
    /// More than [`MAX_MESSAGE_BYTES`].
    #[error("the commit's message is {len} bytes long, and at most {MAX_MESSAGE_BYTES} are allowed")]
    MessageTooLong {
        /// How long it is, in bytes.
        len: usize,
    },
    /// A NUL in the message could be taken for the end of it.
    #[error("the commit's message holds a NUL at byte {at}")]
    MessageHoldsNul {
        /// Where, in bytes from the start.
        at: usize,
    },
    /// The time is not RFC 3339 in UTC.
    #[error("expected the commit's time as in 2026-11-30T15:59:07Z, and got {}", quoted(.text))]
    CommittedAt {
        /// What came instead.
        text: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    parents: Vec<Id>,
    snapshot: Id,
    message: String,
    committed_at: String,
}

impl TryFrom<Unchecked> for Commit {
    type Error = CommitError;

    fn try_from(unchecked: Unchecked) -> Result<Self, CommitError> {
        Self::new(unchecked.parents, unchecked.snapshot, unchecked.message, unchecked.committed_at)
    }
}
