//! `mpack.index`: the objects of an uploaded pack become files, and known.

use std::fs::{self, File};
use std::io;

use hub_protocol::{Commit, Id, PackSink, Snapshot, read_pack};
use redb::{ReadOnlyTable, ReadableTable, WriteTransaction};
use tokio_util::sync::CancellationToken;

use super::{Job, JobKind, JobState, Task, queue};
use crate::hub::Hub;
use crate::hub::store::{
    JOBS, MISSING, OBJECTS, ObjectWriter, OwnId, PENDING, REPOSITORIES, Repository, StoreError, any_of,
    decode, files,
};

/// Makes files of the objects in an uploaded pack, and enters them in the index.
///
/// Harmless to repeat: files are renamed over equal ones, and the index changes in one transaction, the same
/// that takes the job out of the queue.
pub(super) fn run(
    hub: &Hub,
    job: &Job,
    mpack_id: Id,
    stop: &CancellationToken,
) -> Result<JobState, StoreError> {
    let number = job.repository_number;
    let path = hub.files.upload(number, &mpack_id);
    let doing = || format!("could not index the pack {mpack_id}");
    let file = File::open(&path).map_err(StoreError::file(doing()))?;
    let (indexed, writer) = hub.database.read(|transaction| {
        let mut sink = Indexing {
            repository: number,
            known: transaction.open_table(OBJECTS)?,
            writer: ObjectWriter::new(&hub.files),
            indexed: Vec::new(),
            stop,
        };
        let summary = read_pack(file, &hub.config.limits, &mut sink).map_err(|error| {
            if stop.is_cancelled() { StoreError::Stopping } else { StoreError::pack(doing())(error) }
        })?;
        if summary.mpack_id != mpack_id {
            return Err(StoreError::Damaged(format!("the pack {mpack_id} has become {}", summary.mpack_id)));
        }
        Ok((sink.indexed, sink.writer))
    })?;
    writer.sync().map_err(StoreError::file(doing()))?;
    hub.database.write(|transaction| {
        {
            let mut objects = transaction.open_table(OBJECTS)?;
            let mut missing = transaction.open_table(MISSING)?;
            for (id, len) in &indexed {
                objects.insert((number, id.as_bytes()), len)?;
                missing.remove((number, id.as_bytes()))?;
            }
        }
        queue::finish(transaction, job, JobState::Done, None)?;
        let repository: Option<Repository> = transaction
            .open_table(REPOSITORIES)?
            .get(job.repository.as_str())?
            .map(|bytes| decode("a repository", bytes.value()))
            .transpose()?;
        match repository {
            Some(repository) => enqueue_prebuild(transaction, &job.repository, &repository),
            None => Ok(false),
        }
    })?;
    // Its content is in the files and in the index now. Left behind by a crash, it is swept away later.
    for path in [files::contents_of(&path), path] {
        if let Err(error) = fs::remove_file(&path) {
            tracing::warn!(%error, path = %path.display(), "could not remove an indexed pack");
        }
    }
    Ok(JobState::Done)
}

/// Queues the prebuild of a repository's current generation, once nothing of the repository is left to index.
pub(crate) fn enqueue_prebuild(
    transaction: &WriteTransaction,
    name: &str,
    repository: &Repository,
) -> Result<bool, StoreError> {
    let number = repository.number;
    let indexing = queue::first(&transaction.open_table(JOBS)?, &transaction.open_table(PENDING)?, |job| {
        job.kind == JobKind::Index && job.repository_number == number
    })?;
    if indexing.is_some() || any_of(&transaction.open_table(MISSING)?, number)? {
        return Ok(false);
    }
    queue::enqueue(transaction, name, number, Task::Prebuild { generation: repository.generation })
}

struct Indexing<'a> {
    repository: u64,
    known: ReadOnlyTable<OwnId, u64>,
    writer: ObjectWriter<'a>,
    indexed: Vec<(Id, u64)>,
    stop: &'a CancellationToken,
}

impl PackSink for Indexing<'_> {
    /// It was all checked, and taken into the database, when the pack was uploaded and unpacked.
    fn wants_history(&self) -> bool {
        false
    }

    fn commit(&mut self, _id: Id, _commit: Commit) -> io::Result<()> {
        Ok(())
    }

    fn snapshot(&mut self, _id: Id, _snapshot: Snapshot) -> io::Result<()> {
        Ok(())
    }

    fn object_begin(&mut self, id: Id, len: u64) -> io::Result<()> {
        let known = self.known.get((self.repository, id.as_bytes())).map_err(io::Error::other)?;
        if known.is_none() {
            self.writer.begin()?;
            self.indexed.push((id, len));
        }
        Ok(())
    }

    fn object_chunk(&mut self, chunk: &[u8]) -> io::Result<()> {
        if self.stop.is_cancelled() {
            return Err(io::Error::from(io::ErrorKind::Interrupted));
        }
        self.writer.write(chunk)
    }

    fn object_done(&mut self, id: Id) -> io::Result<()> {
        self.writer.end(id)
    }
}
