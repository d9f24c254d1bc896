//! Questions about the commit graph.

use std::collections::HashSet;

use hub_protocol::Id;

use super::store::Store;
use crate::errors::Error;

/// `heads` and everything that they lead to.
pub(crate) fn ancestors(store: &Store, heads: impl IntoIterator<Item = Id>) -> Result<HashSet<Id>, Error> {
    ancestors_beyond(store, heads, &HashSet::new())
}

/// What `heads` lead to, themselves included, and stopping at `known`.
pub(crate) fn ancestors_beyond(
    store: &Store,
    heads: impl IntoIterator<Item = Id>,
    known: &HashSet<Id>,
) -> Result<HashSet<Id>, Error> {
    let mut seen = HashSet::new();
    let mut pending: Vec<Id> = heads.into_iter().collect();
    while let Some(id) = pending.pop() {
        if !known.contains(&id) && seen.insert(id) {
            pending.extend_from_slice(store.commit(id)?.parents());
        }
    }
    Ok(seen)
}

/// Whether `descendant` leads to `ancestor`; a commit leads to itself.
pub(crate) fn leads_to(store: &Store, descendant: Id, ancestor: Id) -> Result<bool, Error> {
    let mut seen = HashSet::new();
    let mut pending = vec![descendant];
    while let Some(id) = pending.pop() {
        if id == ancestor {
            return Ok(true);
        }
        if seen.insert(id) {
            pending.extend_from_slice(store.commit(id)?.parents());
        }
    }
    Ok(false)
}

/// The last commit that both lead to.
///
/// Histories that have crossed have several such commits. The latest of them is taken, the smallest id on a tie,
/// so that the same merge has the same outcome everywhere.
pub(crate) fn merge_base(store: &Store, ours: Id, theirs: Id) -> Result<Option<Id>, Error> {
    let of_ours = ancestors(store, [ours])?;
    let common: HashSet<Id> = ancestors(store, [theirs])?.intersection(&of_ours).copied().collect();
    // Whatever a common commit leads to is common: so only the last ones are nobody's parents.
    let mut last = common.clone();
    for id in &common {
        for parent in store.commit(*id)?.parents() {
            last.remove(parent);
        }
    }
    let mut best: Option<(String, Id)> = None;
    for id in last {
        let at = store.commit(id)?.committed_at().to_owned();
        let better =
            best.as_ref().is_none_or(|(best_at, best_id)| at > *best_at || (at == *best_at && id < *best_id));
        if better {
            best = Some((at, id));
        }
    }
    Ok(best.map(|(_, id)| id))
}
