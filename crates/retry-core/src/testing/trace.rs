//! What happened in a simulation, in the order of its virtual time.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::decision::{Decision, Step};
use crate::outcome::Outcome;
use crate::time::Monotonic;

/// Everything that happened, in order.
#[derive(Debug, Clone, Default)]
pub struct Trace {
    records: Vec<(usize, Record)>,
}

/// One thing that one client did or was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Record {
    /// The client wanted its first attempt.
    Wanted {
        /// When.
        at: Monotonic,
    },
    /// The client was asked what to do, with the window that others had been told.
    Polled {
        /// When.
        at: Monotonic,
        /// The window.
        window: Option<Monotonic>,
        /// What it said.
        step: Step,
    },
    /// An attempt began.
    Began {
        /// When.
        at: Monotonic,
        /// When it has to be given up.
        abandon_at: Monotonic,
    },
    /// An attempt ended.
    Ended {
        /// When the head arrived, or the attempt failed.
        received: Monotonic,
        /// When the client was told.
        at: Monotonic,
        /// With what.
        outcome: Outcome,
        /// What the client made of it.
        decision: Decision,
    },
}

impl Trace {
    pub(super) fn push(&mut self, client: usize, record: Record) {
        self.records.push((client, record));
    }

    /// Everything that happened, with the number of the client it happened to.
    pub fn records(&self) -> impl Iterator<Item = (usize, &Record)> {
        self.records.iter().map(|(client, record)| (*client, record))
    }

    /// The clients, each with what happened to it.
    pub fn clients(&self) -> impl Iterator<Item = (usize, Vec<&Record>)> {
        let most = self.records.iter().map(|(client, _)| client.saturating_add(1)).max().unwrap_or(0);
        (0..most).map(|client| (client, self.of(client)))
    }

    /// The instants at which a client's attempts began.
    #[must_use]
    pub fn attempts(&self, client: usize) -> Vec<Monotonic> {
        let began = |record: &&Record| match record {
            Record::Began { at, .. } => Some(*at),
            _ => None,
        };
        self.of(client).iter().filter_map(began).collect()
    }

    /// How many attempts began in each span of `grain_millis` milliseconds, by its number: whether a crowd
    /// comes back at once (E8).
    #[must_use]
    pub fn crowds(&self, grain_millis: u64) -> BTreeMap<u64, usize> {
        let mut crowds = BTreeMap::new();
        for (_, record) in self.records() {
            if let Record::Began { at, .. } = record {
                let span = at.as_millis().checked_div(grain_millis).unwrap_or(0);
                let count: &mut usize = crowds.entry(span).or_default();
                *count = count.saturating_add(1);
            }
        }
        crowds
    }

    pub(super) const fn len(&self) -> usize {
        self.records.len()
    }

    fn of(&self, client: usize) -> Vec<&Record> {
        self.records.iter().filter(|(of, _)| *of == client).map(|(_, record)| record).collect()
    }
}
