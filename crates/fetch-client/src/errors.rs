//! What can go wrong in a command, whose fault each is, and what was spent until then.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hub_protocol::{BranchName, BranchNameError, CommitError, Id, PackError, RepositoryPath};
use retry_middleware::AttemptTimedOut;

use crate::refusal::Refusal;
use crate::transport::TransportError;

/// What went wrong in a command.
///
/// [`Error::class`] says whose fault it is; the binary makes the exit code of that.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address given is not one of a repository on a hub.
    #[error("expected the address of a repository such as https://host/owner/slug, got {given:?}: {reason}")]
    Address {
        /// What was given.
        given: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A token that cannot be sent in a header field.
    #[error("the token is empty or holds characters that no token has")]
    Token,
    /// A branch name that no branch may have.
    #[error(transparent)]
    BranchName(#[from] BranchNameError),
    /// The target of a clone holds something already.
    #[error("the target {} exists and is not empty", .target.display())]
    TargetNotEmpty {
        /// The target.
        target: PathBuf,
    },
    /// The target of a clone is a file, a symlink or another thing that is no directory.
    #[error("the target {} exists and is not a directory", .target.display())]
    TargetNotADirectory {
        /// The target.
        target: PathBuf,
    },
    /// The target of a clone cannot be created.
    #[error("the target {} cannot be created: {source}", .target.display())]
    TargetNotCreated {
        /// The target.
        target: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// `init` where a repository is already.
    #[error("{} is a repository already", .root.display())]
    AlreadyARepository {
        /// The working tree.
        root: PathBuf,
    },
    /// Another process is changing this repository.
    #[error("another process is changing this repository (it holds {})", .lock.display())]
    Busy {
        /// The lock file.
        lock: PathBuf,
    },
    /// `commit` with a message of nothing but white space.
    #[error("expected a message that says what the commit is about, got none")]
    NoMessage,
    /// `commit` where nothing differs from the last commit.
    #[error("nothing to commit: the working tree is as in the last commit")]
    NothingToCommit,
    /// `push` before the first commit.
    #[error("nothing to push: the branch {branch} has no commit yet")]
    NothingToPush {
        /// The branch.
        branch: BranchName,
    },
    /// A commit that the protocol refuses.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// Both sides changed the same files.
    #[error("both sides changed {}; nothing was changed here", Listed(.paths))]
    Conflicts {
        /// The files.
        paths: Vec<RepositoryPath>,
    },
    /// Files that are not committed would be lost.
    #[error(
        "these files are changed or not committed and would be overwritten: {}; nothing was changed here",
        Listed(.paths)
    )]
    WouldOverwrite {
        /// The files.
        paths: Vec<RepositoryPath>,
    },
    /// A move of a branch that an earlier process had begun cannot be completed.
    #[error("an interrupted move of {branch} to {to} cannot be completed: {error}")]
    Unfinished {
        /// The branch.
        branch: BranchName,
        /// The commit that it was to move to.
        to: Id,
        /// Why.
        error: Box<Error>,
    },
    /// A symlink or a file stands where a directory of the repository belongs.
    #[error("{} is not a directory of this repository but a symlink or a file, and is not followed", .path.display())]
    NotFollowed {
        /// Where.
        path: PathBuf,
    },
    /// The remote has no such branch.
    #[error("the remote has no branch {branch}")]
    RemoteBranchMissing {
        /// The branch.
        branch: BranchName,
    },
    /// The remote has nothing to fetch.
    #[error("the remote has no commits yet")]
    RemoteEmpty,
    /// `.muse/config.toml` or `.muse/repo.json` is not what it should be.
    #[error("{} cannot be used: {reason}", .path.display())]
    Configuration {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// No directory here to look for a repository in.
    #[error("no repository here: there is no directory {}", .from.display())]
    NoDirectory {
        /// Where the search was to begin.
        from: PathBuf,
    },
    /// No repository here, nor in any directory above.
    #[error("no repository here: {} and the directories above it hold no .muse", .from.display())]
    NoRepository {
        /// Where the search began.
        from: PathBuf,
    },
    /// A clone into this directory was interrupted before it had fetched everything.
    #[error("no repository here yet: a clone into {} was interrupted; clone again to complete it", .root.display())]
    CloneInterrupted {
        /// The target of that clone.
        root: PathBuf,
    },
    /// No such branch here.
    #[error("no branch {branch} here")]
    BranchMissing {
        /// The branch.
        branch: BranchName,
    },
    /// No such remote here.
    #[error("no remote {name:?} here; a push to its address creates it")]
    RemoteMissing {
        /// The name of the remote.
        name: String,
    },
    /// No answer came.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// No answer came within the time that one attempt may take.
    #[error("{url}: {error}")]
    AttemptTimedOut {
        /// Where the answer was to come from.
        url: String,
        /// Which attempt it was, and how long it was given.
        error: AttemptTimedOut,
    },
    /// The server answered with an error.
    #[error("{0}")]
    Refused(Box<Refusal>),
    /// The server was still preparing when the budget ended.
    #[error("remote still preparing after {}s", .0.budget.as_secs())]
    StillPreparing(Box<StillPreparing>),
    /// The server answered with something that is no answer.
    #[error("the answer of {url} cannot be used: {reason}")]
    Answer {
        /// Where it came from.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The download ended early or differs from what was promised.
    #[error("the pack from {url} was {fault}")]
    Download {
        /// Where it came from, without its signature.
        url: String,
        /// What is wrong with it.
        fault: DownloadFault,
    },
    /// The pack is refused.
    #[error("the pack was refused: {}", .0.with_causes())]
    Pack(#[from] PackError),
    /// The pack, or this repository, lacks something that it leads to.
    #[error("{holder} leads to the {kind} {id}, which is missing")]
    Incomplete {
        /// What leads there.
        holder: String,
        /// What is missing: `commit`, `snapshot` or `object`.
        kind: &'static str,
        /// Its id.
        id: Id,
    },
    /// A file below `.muse` holds something else than its name says.
    #[error("{} is damaged: {reason}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The disk has less room than the pack needs.
    #[error("the pack of {needed} bytes does not fit: {} has room for {free}", .path.display())]
    DiskFull {
        /// Where it was to be put.
        path: PathBuf,
        /// What the pack needs at least.
        needed: u64,
        /// What is left.
        free: u64,
    },
    /// The file system said no.
    #[error("{doing} {} failed: {source}", .path.display())]
    Io {
        /// What was being done.
        doing: &'static str,
        /// To which file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// A part of the command panicked: a defect of this program.
    #[error("a task of this program failed: {0}")]
    Task(#[from] tokio::task::JoinError),
    /// The remote has commits that this push would lose.
    #[error("the remote refused the push: {refusal}")]
    PushRefused {
        /// The server's answer.
        refusal: Box<Refusal>,
    },
    /// Ctrl-C or SIGTERM.
    #[error("interrupted")]
    Interrupted,
}

/// Whose fault an [`Error`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorClass {
    /// What was asked cannot be done.
    User,
    /// There is no repository here.
    NoRepository,
    /// The server, the connection, the disk or this program.
    Internal,
    /// A name that is missing locally.
    NameMissing,
    /// The remote refused a push.
    PushRefused,
    /// Ctrl-C or SIGTERM.
    Interrupted,
}

impl Error {
    /// Whose fault it is.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Unfinished { error, .. } => error.class(),
            Self::Address { .. }
            | Self::Token
            | Self::BranchName(_)
            | Self::TargetNotEmpty { .. }
            | Self::TargetNotADirectory { .. }
            | Self::TargetNotCreated { .. }
            | Self::AlreadyARepository { .. }
            | Self::Busy { .. }
            | Self::NoMessage
            | Self::NothingToCommit
            | Self::NothingToPush { .. }
            | Self::Commit(_)
            | Self::Conflicts { .. }
            | Self::WouldOverwrite { .. }
            | Self::NotFollowed { .. }
            | Self::RemoteBranchMissing { .. }
            | Self::RemoteEmpty
            | Self::Configuration { .. } => ErrorClass::User,
            Self::NoDirectory { .. } | Self::NoRepository { .. } | Self::CloneInterrupted { .. } => {
                ErrorClass::NoRepository
            }
            Self::BranchMissing { .. } | Self::RemoteMissing { .. } => ErrorClass::NameMissing,
            Self::Transport(_)
            | Self::AttemptTimedOut { .. }
            | Self::Refused(_)
            | Self::StillPreparing(_)
            | Self::Answer { .. }
            | Self::Download { .. }
            | Self::Pack(_)
            | Self::Incomplete { .. }
            | Self::Damaged { .. }
            | Self::DiskFull { .. }
            | Self::Io { .. }
            | Self::Task(_) => ErrorClass::Internal,
            Self::PushRefused { .. } => ErrorClass::PushRefused,
            Self::Interrupted => ErrorClass::Interrupted,
        }
    }

    /// The server's answer, where one came.
    #[must_use]
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refused(refusal) | Self::PushRefused { refusal } => Some(refusal),
            Self::StillPreparing(terminal) => Some(&terminal.refusal),
            _ => None,
        }
    }
}

/// The terminal 503 of `clone`, `fetch` and `pull`: the server's own last answer, and what was spent on it.
#[derive(Debug)]
pub struct StillPreparing {
    /// The server's last answer.
    pub refusal: Refusal,
    /// The retry budget.
    pub budget: Duration,
    /// The seconds that the server asked for, as it said them.
    pub retry_after: Option<u64>,
}

/// A command that failed, and what was spent on it.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct Failed {
    /// What went wrong.
    #[source]
    pub error: Error,
    /// Attempts and waits until then.
    pub spent: Spent,
}

/// What the retries of one command took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// How often the hub was asked for a pack, or for its branches where it came no further than that.
    pub attempts: u32,
    /// How long was waited between the attempts, in all.
    pub waited: Duration,
}

impl Spent {
    pub(crate) fn add(&mut self, more: Self) {
        self.attempts = self.attempts.saturating_add(more.attempts);
        self.waited = self.waited.saturating_add(more.waited);
    }

    /// What `run` returns, with what was spent by then.
    pub(crate) async fn account<T>(
        run: impl AsyncFnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Failed> {
        let mut spent = Self::default();
        run(&mut spent).await.map_err(|error| Failed { error, spent })
    }
}

/// How a download differs from what was promised.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DownloadFault {
    /// It ended before its promised end.
    #[error("cut off after {received} of {promised} bytes: {cause}")]
    Cut {
        /// How many bytes came.
        received: u64,
        /// How many were promised.
        promised: u64,
        /// What ended it.
        cause: String,
    },
    /// The server announced another length than the fetch answer promised.
    #[error("announced with {announced} bytes, and {promised} were promised")]
    Length {
        /// What `Content-Length` or `Content-Range` said.
        announced: u64,
        /// What the fetch answer said.
        promised: u64,
    },
    /// More bytes came than were promised.
    #[error("longer than the {promised} bytes that were promised")]
    TooLong {
        /// What the fetch answer said.
        promised: u64,
    },
    /// The bytes are not those that the id names.
    #[error("altered: its bytes hash to {actual}, and {promised} was promised")]
    Altered {
        /// What the bytes hash to.
        actual: Id,
        /// What the fetch answer said.
        promised: Id,
    },
}

/// Up to ten paths in full, then how many more there are.
struct Listed<'a>(&'a [RepositoryPath]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 10;
        for (number, path) in self.0.iter().take(SHOWN).enumerate() {
            let separator = if number == 0 { "" } else { ", " };
            write!(formatter, "{separator}{path}")?;
        }
        match self.0.len().checked_sub(SHOWN) {
            None | Some(0) => Ok(()),
            Some(more) => write!(formatter, " and {more} more"),
        }
    }
}

/// Says what an input or output error was about.
pub(crate) trait IoContext<T> {
    fn while_doing(self, doing: &'static str, path: &Path) -> Result<T, Error>;
}

impl<T> IoContext<T> for io::Result<T> {
    fn while_doing(self, doing: &'static str, path: &Path) -> Result<T, Error> {
        self.map_err(|source| Error::Io { doing, path: path.to_owned(), source })
    }
}
