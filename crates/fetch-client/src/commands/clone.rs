//! `clone`: a repository made of what a remote has, or nothing at all.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hub_protocol::{BranchName, Id, Refs};

use super::fetch::{ask_for_refs, note_remote, receive_heads};
use super::remote::RemoteInUse;
use super::{FetchReport, blocking};
use crate::address::Address;
use crate::errors::{Error, Failed, IoContext, Spent};
use crate::repository::{DEFAULT_REMOTE, Identity, Move, Remote, Repository, RepositoryLock};
use crate::session::Session;

/// What to clone, and where to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CloneRequest {
    /// The repository's address.
    pub address: Address,
    /// The working tree to be: missing or an empty directory. Without it, the address's last part.
    pub target: Option<PathBuf>,
    /// The branch to check out; without it the remote's default.
    pub branch: Option<BranchName>,
}

/// Makes a repository of what the remote has, with its branch checked out.
///
/// The target is created at once and lives through every wait. When the clone fails for good, what it has created
/// is removed, and nothing else: a directory that was there before stays.
///
/// # Errors
///
/// [`Failed`] with the error and what was spent.
pub async fn clone(session: &Session, request: &CloneRequest) -> Result<FetchReport, Failed> {
    Spent::account(async |spent| {
        let target = request.target.clone().unwrap_or_else(|| PathBuf::from(request.address.slug()));
        let mut created = blocking(move || Created::prepare(&target)).await?;
        let report = fill(session, request, &mut created, spent).await?;
        created.keep();
        Ok(report)
    })
    .await
}

async fn fill(
    session: &Session,
    request: &CloneRequest,
    created: &mut Created,
    spent: &mut Spent,
) -> Result<FetchReport, Error> {
    let repository = created.repository.clone();
    let noted = Remote { url: request.address.to_string(), token: None };
    let remote = RemoteInUse::new(DEFAULT_REMOTE, &noted, session)?;
    let hub = remote.hub(session);
    let refs = ask_for_refs(session, &hub, spent).await?;
    let (branch, head) = choose_branch(&refs, request.branch.as_ref())?;
    let received = receive_heads(session, &hub, &repository, &refs.branch_heads, Vec::new(), spent).await?;

    let wanted = Move { branch: branch.clone(), from: None, to: head };
    let (here, cancel, lock) = (repository.clone(), session.cancel().clone(), created.lock.take());
    created.checking_out = Some(head);
    blocking(move || {
        let lock = lock.expect("it is taken once");
        here.set_identity(&Identity::default())?;
        let mut config = here.config()?;
        config.remotes.insert(DEFAULT_REMOTE.to_owned(), noted);
        here.set_config(&config)?;
        note_remote(&here, DEFAULT_REMOTE, &refs.branch_heads, &refs)?;
        here.move_to(&lock, &wanted, &cancel)
    })
    .await?;

    let staged = received.staged;
    Ok(FetchReport {
        url: request.address.to_string(),
        target: repository.shown_root(),
        branch,
        head: Some(head),
        commits: staged.commits,
        snapshots: staged.snapshots,
        objects: staged.objects,
        bytes: received.bytes,
        spent: *spent,
        update: None,
    })
}

fn choose_branch(refs: &Refs, wanted: Option<&BranchName>) -> Result<(BranchName, Id), Error> {
    if refs.branch_heads.is_empty() {
        return Err(Error::RemoteEmpty);
    }
    let branch = wanted.unwrap_or(&refs.default_branch);
    match refs.branch_heads.get(branch) {
        Some(head) => Ok((branch.clone(), *head)),
        None => Err(Error::RemoteBranchMissing { branch: branch.clone() }),
    }
}

/// What this clone has created. Dropping it removes that again, unless the clone has been kept.
struct Created {
    repository: Repository,
    lock: Option<RepositoryLock>,
    /// The directories that were missing, the outermost first.
    directories: Vec<PathBuf>,
    /// Whether `.muse` is this clone's: only then is it removed.
    owns_muse: bool,
    /// The commit whose files may have been written to the working tree.
    checking_out: Option<Id>,
    kept: bool,
}

impl Created {
    /// Creates the target, and in it a `.muse` that is marked as the beginning of a clone.
    fn prepare(target: &Path) -> Result<Self, Error> {
        let repository = Repository::at(target);
        let mut created = Self {
            repository,
            lock: None,
            directories: Vec::new(),
            owns_muse: false,
            checking_out: None,
            kept: false,
        };
        created.create_missing(target)?;
        let layout = created.repository.layout().clone();
        if is_interrupted_clone(&created.repository, target)? {
            // Whoever began it is gone: it would hold the lock.
            let _lock = RepositoryLock::take(&layout)?;
            fs::remove_dir_all(layout.muse()).while_doing("removing", layout.muse())?;
        } else if !is_empty(target)? {
            return Err(Error::TargetNotEmpty { target: target.to_owned() });
        }
        let not_created = |source| Error::TargetNotCreated { target: target.to_owned(), source };
        fs::create_dir(layout.muse()).map_err(not_created)?;
        created.owns_muse = true;
        created.lock = Some(RepositoryLock::take(&layout)?);
        fs::write(layout.cloning(), "").while_doing("writing", &layout.cloning())?;
        created.repository.create_directories()?;
        Ok(created)
    }

    fn create_missing(&mut self, target: &Path) -> Result<(), Error> {
        let not_created = |source| Error::TargetNotCreated { target: target.to_owned(), source };
        let missing: Vec<&Path> = target
            .ancestors()
            .take_while(|path| !path.as_os_str().is_empty() && path.symlink_metadata().is_err())
            .collect();
        for directory in missing.into_iter().rev() {
            match fs::create_dir(directory) {
                Ok(()) => self.directories.push(directory.to_owned()),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(not_created(error)),
            }
        }
        match fs::metadata(target) {
            Ok(found) if found.is_dir() => Ok(()),
            _ => Err(Error::TargetNotADirectory { target: target.to_owned() }),
        }
    }

    fn keep(mut self) {
        self.kept = true;
    }
}

impl Drop for Created {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        // What cannot be removed is left: there is nobody to tell, and the error that led here is the one to show.
        if self.owns_muse {
            if let Ok(files) = self.repository.store().files_of(self.checking_out) {
                let _ = self.repository.remove_unchanged(&files);
            }
            self.lock = None;
            let _ = fs::remove_dir_all(self.repository.layout().muse());
        }
        for directory in self.directories.iter().rev() {
            // Not empty means that somebody else has put something there.
            let _ = fs::remove_dir(directory);
        }
    }
}

fn is_empty(target: &Path) -> Result<bool, Error> {
    Ok(fs::read_dir(target).while_doing("reading", target)?.next().is_none())
}

/// Whether `target` holds nothing but what a killed clone leaves before it has touched the working tree.
fn is_interrupted_clone(repository: &Repository, target: &Path) -> Result<bool, Error> {
    let layout = repository.layout();
    if !layout.cloning().exists() || layout.head().exists() {
        return Ok(false);
    }
    let mut entries = fs::read_dir(target).while_doing("reading", target)?;
    Ok(entries.all(|entry| entry.is_ok_and(|entry| entry.path() == layout.muse())))
}
