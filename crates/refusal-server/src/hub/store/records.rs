//! What the rows of the database say.

use std::collections::BTreeMap;

use hub_protocol::{BranchName, Id};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The heads of a repository's branches.
pub(crate) type Heads = BTreeMap<BranchName, Id>;

/// One repository, beside its heads and its history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Repository {
    /// The short key that everything else of the repository is found by.
    pub(crate) number: u64,
    /// What the outside calls it, whatever its owner and slug become.
    pub(crate) repo_id: String,
    /// Whether everyone may read it.
    pub(crate) public: bool,
    /// How often its heads have moved. What was built for an earlier generation is never served.
    pub(crate) generation: u64,
    /// The branch of its first push.
    pub(crate) default_branch: BranchName,
}

/// What a pack answers: these wants and these haves, in this generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PackKey {
    pub(crate) repository: u64,
    pub(crate) generation: u64,
    question: [u8; 32],
}

impl PackKey {
    /// `wants` and `haves` are sets: neither order nor repetition makes another question.
    pub(crate) fn new(repository: &Repository, wants: &[Id], haves: &[Id]) -> Self {
        let mut hasher = Sha256::new();
        for ids in [wants, haves] {
            let mut ids = ids.to_vec();
            ids.sort_unstable();
            ids.dedup();
            hasher.update((ids.len() as u64).to_le_bytes());
            for id in ids {
                hasher.update(id.as_bytes());
            }
        }
        Self {
            repository: repository.number,
            generation: repository.generation,
            question: hasher.finalize().into(),
        }
    }

    pub(crate) fn parts(&self) -> (u64, u64, &[u8; 32]) {
        (self.repository, self.generation, &self.question)
    }
}

/// A pack that was built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PackRecord {
    pub(crate) mpack_id: Id,
    pub(crate) size: u64,
    /// Built ahead of any request: kept as long as its generation is the current one.
    pub(crate) prebuilt: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_two_sets_in_one_generation() {
        let [a, b] = [Id::of("a"), Id::of("b")];
        let repository = Repository {
            number: 1,
            repo_id: String::new(),
            public: true,
            generation: 3,
            default_branch: BranchName::new("main").unwrap(),
        };
        let key = PackKey::new(&repository, &[a, b], &[]);
        assert_eq!(key, PackKey::new(&repository, &[b, a, b], &[]));
        assert_ne!(key, PackKey::new(&repository, &[a], &[b]));
        assert_ne!(key, PackKey::new(&repository, &[], &[a, b]));
        assert_ne!(key, PackKey::new(&Repository { generation: 4, ..repository }, &[a, b], &[]));
    }
}
