//! The queue: rows in the database, changed in the same transactions as what they are about.

use hub_protocol::Id;
use redb::{ReadTransaction, ReadableTable, Table, WriteTransaction};

use super::job::{Job, JobState, Task};
use super::{JobKind, MOST_ATTEMPTS};
use crate::hub::store::{COUNTERS, JOBS, PENDING, StoreError, decode, encode};

/// Puts a job at the end of the queue, unless there is one for that task already, in whatever state.
/// Says whether it was put there.
pub(crate) fn enqueue(
    transaction: &WriteTransaction,
    repository: &str,
    repository_number: u64,
    task: Task,
) -> Result<bool, StoreError> {
    let id = task.job_id(repository_number);
    let mut jobs = transaction.open_table(JOBS)?;
    if jobs.get(id.as_str())?.is_some() {
        return Ok(false);
    }
    let place = next(transaction, "job")?;
    let job = Job {
        id,
        kind: task.kind(),
        place,
        repository: repository.to_owned(),
        repository_number,
        task,
        state: JobState::Queued,
        attempts: 0,
        error: None,
    };
    put(&mut jobs, &job)?;
    transaction.open_table(PENDING)?.insert(place, job.id.as_str())?;
    Ok(true)
}

/// The next number of a counter, from 1.
pub(crate) fn next(transaction: &WriteTransaction, counter: &str) -> Result<u64, StoreError> {
    let mut counters = transaction.open_table(COUNTERS)?;
    let number = counters.get(counter)?.map_or(1, |last| last.value() + 1);
    counters.insert(counter, number)?;
    Ok(number)
}

/// Starts the first queued job whose kind is not held.
pub(crate) fn claim(
    transaction: &WriteTransaction,
    is_held: impl Fn(JobKind) -> bool,
) -> Result<Option<Job>, StoreError> {
    let mut jobs = transaction.open_table(JOBS)?;
    let found = first(&jobs, &transaction.open_table(PENDING)?, |job| {
        job.state == JobState::Queued && !is_held(job.kind)
    })?;
    let Some(mut job) = found else { return Ok(None) };
    job.state = JobState::Running;
    job.attempts += 1;
    put(&mut jobs, &job)?;
    Ok(Some(job))
}

/// Whether [`claim`] would find a job; costs no write.
pub(crate) fn has_claimable(
    transaction: &ReadTransaction,
    is_held: impl Fn(JobKind) -> bool,
) -> Result<bool, StoreError> {
    let jobs = transaction.open_table(JOBS)?;
    let pending = transaction.open_table(PENDING)?;
    Ok(first(&jobs, &pending, |job| job.state == JobState::Queued && !is_held(job.kind))?.is_some())
}

/// Takes a job out of the queue, with its outcome. The row stays: it is what makes the same push twice one job.
pub(crate) fn finish(
    transaction: &WriteTransaction,
    job: &Job,
    state: JobState,
    error: Option<String>,
) -> Result<(), StoreError> {
    transaction.open_table(PENDING)?.remove(job.place)?;
    put(&mut transaction.open_table(JOBS)?, &Job { state, error, ..job.clone() })
}

/// Puts a job that has ended back into the queue, at its old place. `None` when there is no such job; otherwise
/// the state that it was in, and only one that failed is put back.
pub(crate) fn retry(transaction: &WriteTransaction, id: &str) -> Result<Option<JobState>, StoreError> {
    let mut jobs = transaction.open_table(JOBS)?;
    let Some(mut job) = get(&jobs, id)? else { return Ok(None) };
    let found = job.state;
    if found == JobState::Failed {
        job.state = JobState::Queued;
        put(&mut jobs, &job)?;
        transaction.open_table(PENDING)?.insert(job.place, job.id.as_str())?;
    }
    Ok(Some(found))
}

/// What an earlier run left: jobs that were running are queued again, and so are those that failed, each a
/// bounded number of times: a job that takes the server down with it must not do so for ever.
pub(crate) fn resume(transaction: &WriteTransaction) -> Result<(), StoreError> {
    let mut jobs = transaction.open_table(JOBS)?;
    let mut pending = transaction.open_table(PENDING)?;
    let mut left = Vec::new();
    for entry in jobs.iter()? {
        let job: Job = decode("a job", entry?.1.value())?;
        if matches!(job.state, JobState::Running | JobState::Failed) {
            left.push(job);
        }
    }
    for mut job in left {
        if job.attempts < MOST_ATTEMPTS {
            job.state = JobState::Queued;
            pending.insert(job.place, job.id.as_str())?;
        } else if job.state == JobState::Running {
            job.state = JobState::Failed;
            job.error = Some(format!("the server ended each of the {} times that it ran", job.attempts));
            pending.remove(job.place)?;
        }
        put(&mut jobs, &job)?;
    }
    Ok(())
}

/// The first pending job that `matches`, in the order of the queue.
pub(crate) fn first(
    jobs: &impl ReadableTable<&'static str, &'static [u8]>,
    pending: &impl ReadableTable<u64, &'static str>,
    mut matches: impl FnMut(&Job) -> bool,
) -> Result<Option<Job>, StoreError> {
    for entry in pending.iter()? {
        let (_, id) = entry?;
        if let Some(job) = get(jobs, id.value())?
            && matches(&job)
        {
            return Ok(Some(job));
        }
    }
    Ok(None)
}

/// The uploaded packs that are still needed: their index jobs have not ended well.
pub(crate) fn packs_to_index(transaction: &ReadTransaction) -> Result<Vec<(u64, Id)>, StoreError> {
    let mut packs = Vec::new();
    for entry in transaction.open_table(JOBS)?.iter()? {
        let job: Job = decode("a job", entry?.1.value())?;
        if let Task::Index { mpack_id } = job.task
            && job.state != JobState::Done
        {
            packs.push((job.repository_number, mpack_id));
        }
    }
    Ok(packs)
}

pub(crate) fn get(
    jobs: &impl ReadableTable<&'static str, &'static [u8]>,
    id: &str,
) -> Result<Option<Job>, StoreError> {
    jobs.get(id)?.map(|bytes| decode("a job", bytes.value())).transpose()
}

/// Every job, in the order of the queue; the last `most` of them.
pub(crate) fn list(transaction: &ReadTransaction, most: usize) -> Result<Vec<Job>, StoreError> {
    let mut all = Vec::new();
    for entry in transaction.open_table(JOBS)?.iter()? {
        all.push(decode::<Job>("a job", entry?.1.value())?);
    }
    all.sort_unstable_by_key(|job| job.place);
    all.drain(..all.len().saturating_sub(most));
    Ok(all)
}

fn put(jobs: &mut Table<'_, &'static str, &'static [u8]>, job: &Job) -> Result<(), StoreError> {
    jobs.insert(job.id.as_str(), encode(job).as_slice())?;
    Ok(())
}
