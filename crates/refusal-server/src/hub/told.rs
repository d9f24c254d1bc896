//! Refusals that were told and still hold: a crowd that asks the same question costs one look.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use hub_protocol::FetchRequest;

use super::name::RepositoryName;
use crate::refusal::Refused;

/// More questions than a crowd has; one that is not remembered is answered from the database.
const MOST_QUESTIONS: usize = 64;
/// A longer question is rare, and not worth the memory.
const MOST_IDS: usize = 16;

/// What was asked, and by whom as far as that decides the answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Question {
    pub(super) authorised: bool,
    pub(super) name: RepositoryName,
    pub(super) request: FetchRequest,
}

/// The refusals that mean "come back later" and were told since the database was last written.
///
/// They follow from what the database holds and from nothing else, so any write forgets them all.
#[derive(Debug, Default)]
pub(super) struct Told(Mutex<Since>);

#[derive(Debug, Default)]
struct Since {
    revision: u64,
    refusals: HashMap<Question, Refused>,
}

impl Told {
    /// What this question was told in this revision of the database.
    pub(super) fn recall(&self, question: &Question, revision: u64) -> Option<Refused> {
        let since = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if since.revision == revision { since.refusals.get(question).cloned() } else { None }
    }

    /// Keeps a refusal that was found after `revision` had been read.
    pub(super) fn remember(&self, question: &Question, revision: u64, refused: &Refused) {
        let ids = question.request.want.len() + question.request.have.len();
        if refused.refusal().retry_after().is_none() || ids > MOST_IDS {
            return;
        }
        let mut since = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if since.revision < revision {
            *since = Since { revision, refusals: HashMap::new() };
        }
        if since.revision == revision && since.refusals.len() < MOST_QUESTIONS {
            since.refusals.insert(question.clone(), refused.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use hub_protocol::{FetchRequest, Id};

    use super::{MOST_QUESTIONS, Question, Told};
    use crate::hub::MPackNotReady;
    use crate::hub::name::RepositoryName;
    use crate::refusal::{Failure, Refused};

    fn question(wants: usize, authorised: bool, ttl_seconds: u32) -> Question {
        let name = RepositoryName::new("owner", "slug").expect("a sound name");
        let want = vec![Id::of(b"a commit"); wants];
        Question { authorised, name, request: FetchRequest { want, have: Vec::new(), ttl_seconds } }
    }

    fn not_ready() -> Refused {
        MPackNotReady { retry_after: MPackNotReady::RETRY_AFTER }.into()
    }

    #[test]
    fn a_refusal_is_told_again_until_something_is_written() {
        let told = Told::default();
        told.remember(&question(1, true, 60), 7, &not_ready());
        assert!(told.recall(&question(1, true, 60), 7).is_some());
        assert!(told.recall(&question(1, true, 60), 8).is_none());
        // A slow look at an older state is not taken for the new one.
        told.remember(&question(1, true, 60), 8, &not_ready());
        told.remember(&question(1, true, 90), 7, &not_ready());
        assert!(told.recall(&question(1, true, 90), 8).is_none());
    }

    /// What one may see is not told to another.
    #[test]
    fn who_asks_is_part_of_the_question() {
        let told = Told::default();
        told.remember(&question(1, true, 60), 1, &not_ready());
        assert!(told.recall(&question(1, false, 60), 1).is_none());
    }

    #[test]
    fn failures_long_questions_and_too_many_are_not_kept() {
        let told = Told::default();
        told.remember(&question(1, true, 60), 1, &Failure::NotFound("no such commit".into()).into());
        told.remember(&question(17, true, 60), 1, &not_ready());
        assert!(told.recall(&question(1, true, 60), 1).is_none());
        assert!(told.recall(&question(17, true, 60), 1).is_none());
        for ttl_seconds in 0..=MOST_QUESTIONS as u32 {
            told.remember(&question(1, true, ttl_seconds), 1, &not_ready());
        }
        assert!(told.recall(&question(1, true, MOST_QUESTIONS as u32), 1).is_none());
    }
}
