//! Each command: from its arguments to what is printed and the exit code.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hub_protocol::BranchName;
use tokio_util::sync::CancellationToken;

use super::arguments::{self, Access, Arguments, Command, Retry};
use super::console::Console;
use super::{Verb, envelope, exit, get, instance, message, signals};
use crate::address::Address;
use crate::budget::{JunkBudget, resolve_retry_budget};
use crate::commands::{
    CloneRequest, FetchOptions, FetchReport, PushRequest, StatusReport, Update, clone, fetch, init,
    ls_remote, pull, push, status,
};
use crate::errors::{Error, Failed, Spent};
use crate::hub::Token;
use crate::repository::{Differences, Repository, Warning};
use crate::session::Session;
use crate::timestamp;
use crate::transport::TransportSettings;

/// The variable that holds the retry budget where no option does.
const BUDGET_VARIABLE: &str = "MUSE_FETCH_RETRY_BUDGET_S";

/// More than these nobody reads on a terminal; a file or a pipe gets all of them.
const MOST_WARNINGS: usize = 20;

/// Runs the command and returns its exit code.
pub(super) fn run(arguments: Arguments) -> u8 {
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            Console::new().line(&format!("❌ the runtime cannot be started: {error}"));
            return exit::INTERNAL;
        }
    };
    runtime.block_on(async {
        let cancel = CancellationToken::new();
        let console = Arc::new(Console::new());
        if let Err(error) = signals::watch(&cancel) {
            console.line(&format!("signals cannot be watched: {error}"));
        }
        Program { directory: arguments.directory, console, cancel }.run(arguments.command).await
    })
}

pub(super) struct Program {
    directory: Option<PathBuf>,
    pub(super) console: Arc<Console>,
    pub(super) cancel: CancellationToken,
}

impl Program {
    async fn run(self, command: Command) -> u8 {
        let done = match command {
            Command::Clone(arguments) => return self.clone(arguments).await,
            Command::Fetch(arguments) => return self.fetch(Verb::Fetch, arguments).await,
            Command::Pull(arguments) => return self.fetch(Verb::Pull, arguments).await,
            Command::Get(arguments) => return get::run(&self, arguments).await,
            Command::Instance(arguments) => return instance::run(&self, arguments.command).await,
            Command::Init(arguments) => self.init(&arguments),
            Command::Commit(arguments) => self.commit(arguments).await,
            Command::Status => self.status().await,
            Command::Push(arguments) => self.push(arguments).await,
            Command::LsRemote(arguments) => self.ls_remote(arguments).await,
        };
        self.console.clear();
        match done {
            Ok(text) => print(&text),
            Err(error) => {
                self.console.line(&format!("❌ {error}"));
                exit::code(&error)
            }
        }
    }

    fn init(&self, arguments: &arguments::Init) -> Result<String, Error> {
        let root = match &arguments.root {
            Some(root) => self.path(root),
            None => self.here().to_owned(),
        };
        let branch = BranchName::new(arguments.branch.as_str())?;
        let remote = arguments.remote.as_deref().map(str::parse).transpose()?;
        let repository = init(&root, &branch, remote.as_ref())?;
        Ok(format!("{} is a repository now, on branch {branch}", repository.shown_root().display()))
    }

    async fn commit(&self, arguments: arguments::Commit) -> Result<String, Error> {
        let repository = Repository::discover(self.here())?;
        let recorded =
            self.unless_interrupted(move || repository.record(&arguments.message, &timestamp::now())).await?;
        self.warn(&recorded.warnings);
        let files = counted(recorded.files as u64, "file");
        Ok(format!("recorded {} on {}: {files}", recorded.commit, recorded.branch))
    }

    async fn status(&self) -> Result<String, Error> {
        let repository = Repository::discover(self.here())?;
        let report = self.unless_interrupted(move || status(&repository)).await?;
        self.warn(&report.warnings);
        Ok(render_status(&report))
    }

    async fn push(&self, arguments: arguments::Push) -> Result<String, Error> {
        let repository = Repository::discover(self.here())?;
        let request = PushRequest {
            remote: arguments.remote,
            branch: arguments.branch.map(BranchName::new).transpose()?,
            force: arguments.force,
            public: arguments.public,
        };
        let session = self.session(&arguments.access)?;
        let report = push(&session, &repository, &request).await?;
        Ok(match report.sent {
            None => format!("{} of {} is at {} already", report.branch, report.url, report.head),
            Some(sent) => format!(
                "pushed {} to {}: {}, {}, {} bytes; its head is {}",
                report.branch,
                report.url,
                counted(sent.commits, "commit"),
                counted(sent.objects, "object"),
                sent.size,
                report.head
            ),
        })
    }

    async fn ls_remote(&self, arguments: arguments::LsRemote) -> Result<String, Error> {
        let given = arguments.remote.as_str();
        let (address, configured) = if given.contains("://") {
            (given.parse()?, None)
        } else {
            let config = Repository::discover(self.here())?.config()?;
            let remote =
                config.remotes.get(given).ok_or_else(|| Error::RemoteMissing { name: given.to_owned() })?;
            (remote.url.parse()?, remote.token.clone())
        };
        let session = self.session(&Access { token: arguments.access.token.or(configured) })?;
        let refs = ls_remote(&session, &address).await?;
        let lines: Vec<String> =
            refs.branch_heads.iter().map(|(branch, head)| format!("{head}\t{branch}")).collect();
        Ok(lines.join("\n"))
    }

    async fn clone(&self, arguments: arguments::Clone) -> u8 {
        let verb = Verb::Clone;
        let prepare = || {
            let address: Address = arguments.url.parse()?;
            let target = self.path(arguments.target.as_deref().unwrap_or(Path::new(address.slug())));
            let branch = arguments.branch.map(BranchName::new).transpose()?;
            let request = CloneRequest { address, target: Some(target), branch };
            Ok((request, self.session(&arguments.access)?))
        };
        let prepared = prepare();
        self.fetching(verb, &arguments.retry, prepared, async |request, session| {
            clone(&session, &request).await
        })
        .await
    }

    async fn fetch(&self, verb: Verb, arguments: arguments::Fetch) -> u8 {
        let prepare = || {
            let repository = Repository::discover(self.here())?;
            let branch = arguments.branch.map(BranchName::new).transpose()?;
            let options = FetchOptions { remote: arguments.remote, branch };
            Ok(((repository, options), self.session(&arguments.access)?))
        };
        let prepared = prepare();
        self.fetching(verb, &arguments.retry, prepared, async |(repository, options), session| {
            if verb == Verb::Pull {
                pull(&session, &repository, &options).await
            } else {
                fetch(&session, &repository, &options).await
            }
        })
        .await
    }

    /// What `clone`, `fetch` and `pull` have in common: the budget, and how they end.
    async fn fetching<R>(
        &self,
        verb: Verb,
        retry: &Retry,
        prepared: Result<(R, Session), Error>,
        work: impl AsyncFnOnce(R, Session) -> Result<FetchReport, Failed>,
    ) -> u8 {
        let budget = match self.budget(retry) {
            Ok(budget) => budget,
            Err(error) => {
                self.console.line(&format!("❌ --retry-timeout: {error}"));
                if retry.json {
                    print(&envelope::usage(verb, &format!("--retry-timeout: {error}")));
                }
                return exit::USER_ERROR;
            }
        };
        let done = match prepared {
            Ok((request, session)) => work(request, session.with_retry_budget(budget)).await,
            Err(error) => Err(Failed { error, spent: Spent::default() }),
        };
        self.console.clear();
        match done {
            Ok(report) if retry.json => print(&envelope::success(verb, &report)),
            Ok(report) => print(&render_report(verb, &report)),
            Err(failed) => {
                self.console.line(&message::failure(verb, &failed));
                if retry.json {
                    print(&envelope::failure(verb, &failed));
                }
                exit::code(&failed.error)
            }
        }
    }

    /// The budget that the options and the environment make, and a word about a variable that counts for nothing.
    fn budget(&self, retry: &Retry) -> Result<Duration, JunkBudget> {
        let option = retry.retry_timeout.as_deref();
        // An empty variable is how a script says that there is none.
        let environment = std::env::var_os(BUDGET_VARIABLE).filter(|value| !value.is_empty());
        let environment = environment.as_deref().map(OsStr::to_string_lossy);
        let budget = resolve_retry_budget(option, environment.as_deref())?;
        if retry.no_retry {
            return Ok(Duration::ZERO);
        }
        if option.is_none()
            && let Err(junk) = resolve_retry_budget(environment.as_deref(), None)
        {
            self.console.line(&format!("⚠ {BUDGET_VARIABLE} counts as not set: {junk}"));
        }
        Ok(budget)
    }

    /// Where the program works.
    fn here(&self) -> &Path {
        self.directory.as_deref().unwrap_or(Path::new("."))
    }

    /// A path that the user gave, seen from where the program works.
    pub(super) fn path(&self, given: &Path) -> PathBuf {
        self.directory.as_deref().map_or_else(|| given.to_owned(), |directory| directory.join(given))
    }

    fn session(&self, access: &Access) -> Result<Session, Error> {
        // An empty variable is how a script says that there is none.
        let token = access.token.as_deref().filter(|token| !token.is_empty()).map(Token::new).transpose()?;
        Ok(Session::new(settings())
            .with_token(token)
            .with_observer(self.console.clone())
            .with_cancel(self.cancel.clone()))
    }

    /// Work on the disk alone. It may be killed at any point, so an interruption does not wait for its end.
    pub(super) async fn unless_interrupted<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let working = tokio::task::spawn_blocking(work);
        match self.cancel.run_until_cancelled(working).await {
            Some(done) => done?,
            None => {
                self.console.line("❌ interrupted");
                exit::at_once(exit::INTERRUPTED)
            }
        }
    }

    fn warn(&self, warnings: &[Warning]) {
        let most = if self.console.is_on_terminal() { MOST_WARNINGS } else { usize::MAX };
        for warning in warnings.iter().take(most) {
            self.console.line(&format!("⚠ {warning}"));
        }
        if let Some(more @ 1..) = warnings.len().checked_sub(most) {
            self.console.line(&format!("⚠ left out {more} more like these"));
        }
    }
}

pub(super) fn settings() -> TransportSettings {
    TransportSettings { system_proxy: true, ..TransportSettings::default() }
}

/// Prints to standard output, and returns the exit code. A reader that has gone away wants no more of it; a
/// disk that is full has lost it.
pub(super) fn print(text: &str) -> u8 {
    if text.is_empty() {
        return exit::DONE;
    }
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            eprintln!("❌ the output could not be written: {error}");
            exit::INTERNAL
        }
        _ => exit::DONE,
    }
}

fn render_report(verb: Verb, report: &FetchReport) -> String {
    let came = format!(
        "{}, {}, {} bytes",
        counted(report.commits, "commit"),
        counted(report.objects, "object"),
        report.bytes
    );
    let head = report.head.map_or_else(|| "no commit".to_owned(), |head| head.to_string());
    let branch = &report.branch;
    match (verb, report.update) {
        (Verb::Clone, _) => {
            format!("cloned {} into {}: {came}; {branch} is at {head}", report.url, report.target.display())
        }
        (_, Some(Update::UpToDate)) => format!("{branch} is up to date at {head}"),
        (_, Some(Update::FastForward)) => format!("{branch} moved on to {head}: {came}"),
        (_, Some(Update::Merged)) => format!("merged into {branch}, now at {head}: {came}"),
        (_, None) => format!("fetched {}: {came}; its {branch} is at {head}", report.url),
    }
}

fn render_status(report: &StatusReport) -> String {
    let mut lines = vec![match report.head {
        Some(head) => format!("on {}, at {head}", report.branch),
        None => format!("on {}, without a commit", report.branch),
    }];
    if let Some((ahead, behind)) = report.ahead_and_behind {
        lines.push(match (ahead, behind) {
            (0, 0) => "as the remote was last seen".to_owned(),
            _ => format!(
                "{} ahead of the remote as it was last seen, {behind} behind",
                counted(ahead as u64, "commit")
            ),
        });
    }
    let Differences { added, modified, deleted } = &report.differences;
    for (mark, paths) in [('A', added), ('M', modified), ('D', deleted)] {
        lines.extend(paths.iter().map(|path| format!("{mark} {path}")));
    }
    if added.is_empty() && modified.is_empty() && deleted.is_empty() {
        lines.push("nothing to commit".to_owned());
    }
    lines.join("\n")
}

fn counted(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
