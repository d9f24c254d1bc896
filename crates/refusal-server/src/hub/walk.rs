//! What lies between wants and haves: a walk over the commit graph. Reads through [`Graph`], touches nothing.

use std::collections::HashSet;

use hub_protocol::{Commit, Id, Snapshot};

/// Where commits and snapshots are read from.
pub(super) trait Graph {
    type Error;

    /// A commit that is known to be there.
    fn commit(&self, id: &Id) -> Result<Commit, Self::Error>;

    /// A snapshot that is known to be there.
    fn snapshot(&self, id: &Id) -> Result<Snapshot, Self::Error>;
}

/// What a pack has to hold, in the order in which it holds it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Contents {
    pub(super) commits: Vec<Id>,
    pub(super) snapshots: Vec<Id>,
    pub(super) objects: Vec<Id>,
}

/// Everything that the wants lead to and the haves do not.
///
/// Commits and snapshots are exact. Objects are left out where a snapshot at the border names them: that of a
/// have, or of a known parent of a commit in the pack. One that only an older commit had may come again, which
/// costs bytes and no harm; to rule it out would mean reading every snapshot of the whole history.
pub(super) fn contents<G: Graph>(graph: &G, wants: &[Id], haves: &[Id]) -> Result<Contents, G::Error> {
    let mut known_snapshots = HashSet::new();
    let known = closure(graph, haves, &HashSet::new(), |commit| {
        known_snapshots.insert(commit.snapshot());
    })?;
    let mut border: HashSet<Id> = HashSet::new();
    let mut seen_snapshots = HashSet::new();
    let mut contents = Contents::default();
    let mut parents_at_border = Vec::new();
    closure(graph, wants, &known, |commit| {
        contents.commits.push(commit.id());
        if !known_snapshots.contains(&commit.snapshot()) && seen_snapshots.insert(commit.snapshot()) {
            contents.snapshots.push(commit.snapshot());
        }
        parents_at_border.extend(commit.parents().iter().filter(|parent| known.contains(parent)));
    })?;
    if contents.snapshots.is_empty() {
        return Ok(contents);
    }
    for id in haves.iter().chain(&parents_at_border).collect::<HashSet<_>>() {
        border.insert(graph.commit(id)?.snapshot());
    }
    let mut seen = HashSet::new();
    for id in &border {
        seen.extend(graph.snapshot(id)?.objects());
    }
    for id in &contents.snapshots {
        contents.objects.extend(graph.snapshot(id)?.objects().filter(|object| seen.insert(*object)));
    }
    Ok(contents)
}

/// Whether `descendant` is `ancestor` or follows it.
pub(super) fn descends_from<G: Graph>(graph: &G, descendant: Id, ancestor: Id) -> Result<bool, G::Error> {
    let mut walk = Walk::from([descendant]);
    while let Some(id) = walk.next() {
        if id == ancestor {
            return Ok(true);
        }
        walk.add(graph.commit(&id)?.parents());
    }
    Ok(false)
}

/// Visits the commits that `tips` lead to, not going into `stop`, and returns all their ids.
fn closure<G: Graph>(
    graph: &G,
    tips: &[Id],
    stop: &HashSet<Id>,
    mut visit: impl FnMut(&Commit),
) -> Result<HashSet<Id>, G::Error> {
    let mut walk = Walk::from(tips.iter().copied());
    while let Some(id) = walk.next() {
        if stop.contains(&id) {
            walk.seen.remove(&id);
            continue;
        }
        let commit = graph.commit(&id)?;
        visit(&commit);
        walk.add(commit.parents());
    }
    Ok(walk.seen)
}

/// Each id once, in the order in which they came up.
struct Walk {
    seen: HashSet<Id>,
    waiting: std::collections::VecDeque<Id>,
}

impl Walk {
    fn from(tips: impl IntoIterator<Item = Id>) -> Self {
        let mut walk = Self { seen: HashSet::new(), waiting: std::collections::VecDeque::new() };
        for tip in tips {
            walk.add(&[tip]);
        }
        walk
    }

    fn add(&mut self, ids: &[Id]) {
        self.waiting.extend(ids.iter().filter(|id| self.seen.insert(**id)));
    }

    fn next(&mut self) -> Option<Id> {
        self.waiting.pop_front()
    }
}
