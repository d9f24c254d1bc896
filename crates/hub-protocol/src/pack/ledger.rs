//! What a pack has declared against what it holds.

use std::collections::HashSet;

use crate::Id;

use super::{Entry, Kind, LimitExceeded, Limits, PackError, Totals};

/// The account of a pack that reader and writer both keep: what was declared, and what has come so far.
#[derive(Debug)]
pub(super) struct Ledger {
    declared: Totals,
    found: Totals,
    kind: Kind,
    ids: HashSet<Id>,
}

impl Ledger {
    pub(super) fn open(declared: Totals, limits: &Limits) -> Result<Self, LimitExceeded> {
        limits.check_totals(&declared)?;
        Ok(Self { declared, found: Totals::default(), kind: Kind::Commit, ids: HashSet::new() })
    }

    /// Enters an entry of `len` bytes, or refuses it before a byte of its content is looked at.
    pub(super) fn admit(&mut self, entry: Entry, len: u64, limits: &Limits) -> Result<(), PackError> {
        let Entry { kind, id } = entry;
        if kind < self.kind {
            return Err(PackError::OutOfOrder { entry, after: self.kind });
        }
        let declared = self.declared.of(kind);
        if self.found.of(kind) == declared {
            return Err(PackError::Surplus { entry, declared });
        }
        match limits.record_bytes(kind) {
            Some(limit) if len > limit => return Err(LimitExceeded::Record { entry, len, limit }.into()),
            Some(_) => {}
            None => {
                let left = self.declared.bytes - self.found.bytes;
                if len > left {
                    return Err(PackError::SurplusBytes { entry, len, left });
                }
                self.found.bytes += len;
            }
        }
        if kind > self.kind {
            self.kind = kind;
            self.ids.clear();
        }
        if !self.ids.insert(id) {
            return Err(PackError::Duplicate { entry });
        }
        *self.found.count_mut(kind) += 1;
        Ok(())
    }

    /// The final account, which is what was declared.
    pub(super) fn close(&self) -> Result<Totals, PackError> {
        for kind in Kind::ALL {
            let (declared, found) = (self.declared.of(kind), self.found.of(kind));
            if found < declared {
                return Err(PackError::Missing { kind, declared, found });
            }
        }
        let (declared, found) = (self.declared.bytes, self.found.bytes);
        if found < declared {
            return Err(PackError::MissingBytes { declared, found });
        }
        Ok(self.found)
    }
}
