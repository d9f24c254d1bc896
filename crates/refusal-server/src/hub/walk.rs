//! What lies between wants and haves: a walk over the commit graph. Reads through [`Graph`], touches nothing.

use std::collections::HashSet;

use hub_protocol::{Commit, Id};

/// Where commits and snapshots are read from.
pub(super) trait Graph {
    type Error;

    /// A commit that is known to be there.
    fn commit(&self, id: &Id) -> Result<Commit, Self::Error>;

    /// Hands over the object of each file in a snapshot that is known to be there. Not the snapshot itself: it
    /// may be long.
    fn objects(&self, id: &Id, visit: &mut dyn FnMut(Id)) -> Result<(), Self::Error>;
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
        graph.objects(id, &mut |object| _ = seen.insert(object))?;
    }
    for id in &contents.snapshots {
        graph.objects(id, &mut |object| {
            if seen.insert(object) {
                contents.objects.push(object);
            }
        })?;
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::convert::Infallible;

    use hub_protocol::{FileEntry, RepositoryPath, Snapshot};

    use super::*;

    /// Commits by number, each with its parents and its files.
    #[derive(Default)]
    struct Drawn {
        ids: Vec<Id>,
        commits: BTreeMap<Id, Commit>,
        snapshots: BTreeMap<Id, Snapshot>,
    }

    impl Drawn {
        fn draw(&mut self, parents: &[usize], files: &[&str]) -> usize {
            let files = files.iter().map(|content| {
                let entry = FileEntry { object: Id::of(content), executable: false };
                (RepositoryPath::new(*content).unwrap(), entry)
            });
            let snapshot = Snapshot::new(files.collect()).unwrap();
            let parents = parents.iter().map(|parent| self.ids[*parent]).collect();
            let message = format!("commit {}", self.ids.len());
            let commit = Commit::new(parents, snapshot.id(), message, "2026-11-30T12:00:00Z").unwrap();
            self.snapshots.insert(snapshot.id(), snapshot);
            self.ids.push(commit.id());
            self.commits.insert(commit.id(), commit);
            self.ids.len() - 1
        }

        fn between(&self, wants: &[usize], haves: &[usize]) -> (Vec<usize>, usize, Vec<Id>) {
            let ids = |numbers: &[usize]| numbers.iter().map(|number| self.ids[*number]).collect::<Vec<_>>();
            let Ok(contents) = contents(self, &ids(wants), &ids(haves));
            let mut commits: Vec<usize> = contents
                .commits
                .iter()
                .map(|id| self.ids.iter().position(|known| known == id).unwrap())
                .collect();
            commits.sort_unstable();
            (commits, contents.snapshots.len(), contents.objects)
        }
    }

    impl Graph for Drawn {
        type Error = Infallible;

        fn commit(&self, id: &Id) -> Result<Commit, Infallible> {
            Ok(self.commits[id].clone())
        }

        fn objects(&self, id: &Id, visit: &mut dyn FnMut(Id)) -> Result<(), Infallible> {
            self.snapshots[id].objects().for_each(visit);
            Ok(())
        }
    }

    fn objects(names: &[&str]) -> Vec<Id> {
        names.iter().map(Id::of).collect()
    }

    /// 0 ── 1 ── 3 ── 4, with 2 beside 1 and merged by 3.
    fn diamond() -> Drawn {
        let mut drawn = Drawn::default();
        drawn.draw(&[], &["a"]);
        drawn.draw(&[0], &["a", "b"]);
        drawn.draw(&[0], &["a", "c"]);
        drawn.draw(&[1, 2], &["a", "b", "c"]);
        drawn.draw(&[3], &["a", "b", "c", "d"]);
        drawn
    }

    #[test]
    fn without_haves_it_is_everything_once() {
        let (commits, snapshots, found) = diamond().between(&[4, 4, 1], &[]);
        assert_eq!((commits, snapshots), (vec![0, 1, 2, 3, 4], 5));
        let mut sorted = found.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), found.len());
        assert_eq!(found.len(), 4);
    }

    #[test]
    fn what_the_haves_lead_to_is_left_out_on_every_path() {
        let drawn = diamond();
        assert_eq!(drawn.between(&[4], &[3]), (vec![4], 1, objects(&["d"])));
        assert_eq!(drawn.between(&[4], &[1, 2]), (vec![3, 4], 2, objects(&["d"])));
        assert_eq!(drawn.between(&[3], &[1]), (vec![2, 3], 2, objects(&["c"])));
        assert_eq!(drawn.between(&[1], &[4]), (vec![], 0, vec![]));
    }

    /// A commit that goes back to an older state brings no snapshot and no object.
    #[test]
    fn a_state_that_the_haves_have_had_is_not_sent_again() {
        let mut drawn = diamond();
        let back = drawn.draw(&[4], &["a"]);
        assert_eq!(drawn.between(&[back], &[4]), (vec![back], 0, vec![]));
    }

    /// The one known surplus: an object that only an older commit of the haves had comes again.
    #[test]
    fn an_object_that_only_older_commits_had_may_come_again() {
        let mut drawn = Drawn::default();
        drawn.draw(&[], &["old"]);
        drawn.draw(&[0], &["new"]);
        drawn.draw(&[1], &["new", "old"]);
        assert_eq!(drawn.between(&[2], &[1]), (vec![2], 1, objects(&["old"])));
    }

    #[test]
    fn descent_is_found_through_merges_and_not_where_there_is_none() {
        let drawn = diamond();
        let descends = |from: usize, to: usize| {
            let Ok(descends) = descends_from(&drawn, drawn.ids[from], drawn.ids[to]);
            descends
        };
        assert!(descends(4, 0) && descends(4, 2) && descends(3, 1) && descends(2, 2));
        assert!(!descends(1, 2) && !descends(0, 4));
    }
}
