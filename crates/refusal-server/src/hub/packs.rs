//! The packs that fetches are answered with: built once for a question, kept while a URL to them lives.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use hub_protocol::{Id, MAX_TTL_SECONDS, PackWriter, Summary, Totals};
use redb::{ReadTransaction, ReadableTable};

use super::Hub;
use super::store::{
    COMMITS, History, OBJECTS, PACKS, PackKey, PackRecord, REPOSITORIES, Repository, SNAPSHOTS, StoreError,
    decode, encode, files, snapshots,
};
use super::walk::{Graph, contents};

/// How long a pack that was just built is kept at the least, in seconds: as long as any URL lives. One that is
/// built again takes the place of its older self, to which such a URL may lead.
const GRACE_SECONDS: u64 = MAX_TTL_SECONDS as u64;

/// What a pack is to hold.
pub(super) struct Build<'a> {
    pub(super) name: &'a str,
    pub(super) repository: &'a Repository,
    pub(super) wants: &'a [Id],
    pub(super) haves: &'a [Id],
}

/// What came of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Built {
    Pack(PackRecord),
    /// The heads moved while it was built: it must not be served.
    Outdated,
}

/// A pack that stays until its URL expires, in seconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) pack: PackRecord,
    pub(super) expires: u64,
}

/// The packs that are at hand.
#[derive(Debug, Default)]
pub(super) struct Packs {
    /// Held while a file gets its name and its record, and while files are swept away: so that no sweep takes
    /// what is being recorded.
    files: Mutex<()>,
    /// One turn for each question that is being worked on: many clients that ask it at once cost one build.
    turns: Mutex<HashMap<PackKey, Weak<tokio::sync::Mutex<()>>>>,
}

impl Packs {
    /// The turn to build for this question; whoever holds it looks again before building.
    pub(super) fn turn(&self, key: PackKey) -> Arc<tokio::sync::Mutex<()>> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        turns.retain(|_, turn| turn.strong_count() > 0);
        let turn = turns.get(&key).and_then(Weak::upgrade).unwrap_or_default();
        turns.insert(key, Arc::downgrade(&turn));
        turn
    }

    /// The pack that was built for this question, if there is one.
    pub(super) fn find(
        &self,
        hub: &Hub,
        key: &PackKey,
        ttl_seconds: u32,
    ) -> Result<Option<Kept>, StoreError> {
        let found = hub.database.read(|transaction| {
            let packs = transaction.open_table(PACKS)?;
            let bytes = packs.get(key.parts())?;
            bytes.map(|bytes| decode("a pack", bytes.value())).transpose()
        })?;
        match found {
            Some(pack) => self.keep(hub, pack, ttl_seconds),
            None => Ok(None),
        }
    }

    /// Makes sure that a pack stays for as long as a URL that is made now; `None` when it is gone.
    pub(super) fn keep(
        &self,
        hub: &Hub,
        pack: PackRecord,
        ttl_seconds: u32,
    ) -> Result<Option<Kept>, StoreError> {
        let _guard = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let expires = hub.clock.unix_seconds() + u64::from(ttl_seconds);
        match files::keep_until(&hub.files.pack(&pack.mpack_id), expires) {
            Ok(()) => Ok(Some(Kept { pack, expires })),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::file(format!("could not keep the pack {}", pack.mpack_id))(error)),
        }
    }

    /// Builds a pack by walking, from one consistent state of the database, and records it if that state is
    /// still the current one. Blocks.
    pub(super) fn build(
        &self,
        hub: &Hub,
        build: &Build<'_>,
        prebuilt: bool,
        is_stopping: &dyn Fn() -> bool,
    ) -> Result<Built, StoreError> {
        let file = hub.files.new_temporary().map_err(StoreError::file("could not begin a pack"))?;
        let summary =
            hub.database.read(|transaction| write(hub, transaction, build, file.as_file(), is_stopping))?;
        let pack = PackRecord { mpack_id: summary.mpack_id, size: summary.size, prebuilt };
        let now = hub.clock.unix_seconds();
        let _guard = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let path = hub.files.pack(&pack.mpack_id);
        files::land(file, &path, now + GRACE_SECONDS).map_err(StoreError::file("could not finish a pack"))?;
        let key = PackKey::new(build.repository, build.wants, build.haves);
        let built = hub.database.write(|transaction| {
            let repositories = transaction.open_table(REPOSITORIES)?;
            let current = repositories.get(build.name)?;
            let current: Option<Repository> =
                current.map(|bytes| decode("a repository", bytes.value())).transpose()?;
            if current.is_none_or(|current| current.generation != build.repository.generation) {
                return Ok(Built::Outdated);
            }
            transaction.open_table(PACKS)?.insert(key.parts(), encode(&pack).as_slice())?;
            Ok::<_, StoreError>(Built::Pack(pack))
        })?;
        if let Err(error) = sweep(hub, now) {
            tracing::warn!(%error, "could not remove old packs");
        }
        Ok(built)
    }

    /// Removes the packs that no URL leads to any longer.
    pub(super) fn sweep(&self, hub: &Hub) -> Result<(), StoreError> {
        let _guard = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        sweep(hub, hub.clock.unix_seconds())
    }
}

fn write(
    hub: &Hub,
    transaction: &ReadTransaction,
    build: &Build<'_>,
    file: &File,
    is_stopping: &dyn Fn() -> bool,
) -> Result<Summary, StoreError> {
    let number = build.repository.number;
    let commits = transaction.open_table(COMMITS)?;
    let snapshots = transaction.open_table(SNAPSHOTS)?;
    let objects = transaction.open_table(OBJECTS)?;
    let graph = History { repository: number, commits: &commits, snapshots: &snapshots };
    let contents = contents(&graph, build.wants, build.haves)?;
    let mut lengths = Vec::with_capacity(contents.objects.len());
    for id in &contents.objects {
        let length = objects.get((number, id.as_bytes()))?;
        lengths.push(
            length.ok_or_else(|| StoreError::Damaged(format!("the object {id} is not indexed")))?.value(),
        );
    }
    let totals = Totals {
        commits: contents.commits.len() as u64,
        snapshots: contents.snapshots.len() as u64,
        objects: contents.objects.len() as u64,
        bytes: lengths.iter().sum(),
    };
    let failed = |error| StoreError::pack("could not build a pack")(error);
    let mut writer = PackWriter::with_limits(file, totals, hub.config.limits.clone()).map_err(failed)?;
    for id in &contents.commits {
        writer.commit(&graph.commit(id)?).map_err(failed)?;
    }
    for id in &contents.snapshots {
        writer.snapshot(&snapshots::get(&snapshots, number, id)?).map_err(failed)?;
    }
    for (id, length) in contents.objects.iter().zip(lengths) {
        if is_stopping() {
            return Err(StoreError::Stopping);
        }
        let file = open_object(&hub.files.object(id), id)?;
        writer.object(*id, length, file).map_err(failed)?;
    }
    let (_, summary) = writer.finish().map_err(failed)?;
    Ok(summary)
}

fn open_object(path: &Path, id: &Id) -> Result<File, StoreError> {
    File::open(path).map_err(StoreError::file(format!("could not read the object {id}")))
}

/// Forgets the packs of generations that are over and those that nobody asks for any longer, and removes the
/// files that nothing refers to and whose time has passed.
fn sweep(hub: &Hub, now: u64) -> Result<(), StoreError> {
    let mut kept = HashSet::new();
    hub.database.write(|transaction| {
        let mut generations = HashMap::new();
        for entry in transaction.open_table(REPOSITORIES)?.iter()? {
            let repository: Repository = decode("a repository", entry?.1.value())?;
            generations.insert(repository.number, repository.generation);
        }
        let mut packs = transaction.open_table(PACKS)?;
        let mut over = Vec::new();
        for entry in packs.iter()? {
            let (key, bytes) = entry?;
            let (repository, generation, question) = key.value();
            let pack: PackRecord = decode("a pack", bytes.value())?;
            let current = generations.get(&repository) == Some(&generation);
            if current && (pack.prebuilt || files::is_kept(&hub.files.pack(&pack.mpack_id), now)) {
                kept.insert(pack.mpack_id.hex());
            } else {
                over.push((repository, generation, *question));
            }
        }
        for (repository, generation, question) in &over {
            packs.remove((*repository, *generation, question))?;
        }
        Ok::<_, StoreError>(())
    })?;
    let removed = files::sweep(&hub.files.packs(), now, |name| kept.contains(name))
        .map_err(StoreError::file("could not remove old packs"))?;
    if removed > 0 {
        tracing::debug!(removed, "removed old packs");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use hub_protocol::BranchName;

    use super::*;

    fn key(generation: u64) -> PackKey {
        let repository = Repository {
            number: 1,
            repo_id: String::new(),
            public: true,
            generation,
            default_branch: BranchName::new("main").unwrap(),
        };
        PackKey::new(&repository, &[Id::of("want")], &[])
    }

    #[test]
    fn one_question_has_one_turn_and_turns_that_are_over_are_forgotten() {
        let packs = Packs::default();
        let turn = packs.turn(key(1));
        assert!(Arc::ptr_eq(&turn, &packs.turn(key(1))));
        assert!(!Arc::ptr_eq(&turn, &packs.turn(key(2))));
        drop(turn);
        packs.turn(key(3));
        assert_eq!(packs.turns.lock().unwrap().len(), 1);
    }
}
