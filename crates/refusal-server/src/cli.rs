//! The command line, as a library: `refusal-server`'s own `main` is one line, and so is that of any other
//! program that is to become this one.

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::builder::{OsStringValueParser, StyledStr, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, Parser, Subcommand};
use tracing_subscriber::EnvFilter;

use crate::{
    CapacityRefusal, ClusterConfig, Config, FetchNotIndexed, HubConfig, JobKind, MPackNotReady, RetryAfter,
    Secret, Server, ThrottleConfig, ThrottleRate, Tokens,
};

/// What is logged where nobody says otherwise.
const LOG_LEVEL: &str = "info";
/// How long an ended server waits for threads that are stuck in the disk.
const STUCK_THREADS: Duration = Duration::from_secs(2);

#[derive(Debug, Parser)]
#[command(
    name = "refusal-server",
    version,
    about = "A hub for repositories, a cluster for instances and a throttle, which say when to come back",
    args_conflicts_with_subcommands = true
)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: Serve,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve until SIGTERM or SIGINT (the default).
    Serve(Box<Serve>),
    /// Manage who may push.
    Token {
        #[command(subcommand)]
        command: TokenCommand,
    },
}

#[derive(Debug, Subcommand)]
enum TokenCommand {
    /// Make a token and print it, this once; a running server knows it at once.
    Add {
        /// Whose it is.
        name: String,
        #[command(flatten)]
        data: Data,
    },
}

#[derive(Debug, Args)]
struct Data {
    /// The folder that holds all that the server keeps.
    #[arg(long, value_name = "DIR", default_value = ".refusal-server", env = "REFUSAL_SERVER_DATA")]
    #[arg(value_parser = OsStringValueParser::new().try_map(folder))]
    data: PathBuf,
}

#[derive(Debug, Args)]
struct Serve {
    /// Where to listen; port 0 takes any free one.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8750")]
    listen: SocketAddr,

    #[command(flatten)]
    data: Data,

    /// A token that is good without having been added; only on a loopback address.
    #[arg(long, value_name = "TOKEN", env = "REFUSAL_SERVER_DEV_TOKEN", hide_env_values = true)]
    dev_token: Option<String>,

    /// Opens /_admin to whoever presents it, from anywhere; without one only this machine is answered.
    #[arg(long, value_name = "TOKEN", env = "REFUSAL_SERVER_ADMIN_TOKEN", hide_env_values = true)]
    admin_token: Option<String>,

    /// What presigned URLs start with, where that is not what clients send as `Host`.
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,

    /// For demonstrations: the Retry-After while objects are being indexed.
    #[arg(long, value_name = "SECONDS", default_value_t = FetchNotIndexed::RETRY_AFTER.as_seconds())]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    retry_after_index: u32,

    /// For demonstrations: the Retry-After while a pack is being prebuilt.
    #[arg(long, value_name = "SECONDS", default_value_t = MPackNotReady::RETRY_AFTER.as_seconds())]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    retry_after_prebuild: u32,

    /// For demonstrations: how long every job rests before its work, such as 1.5.
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = seconds)]
    job_delay: Duration,

    /// The same for index jobs alone.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    index_delay: Option<Duration>,

    /// The same for prebuild jobs alone.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    prebuild_delay: Option<Duration>,

    /// The cluster's nodes, networks and claims, as TOML; a small cluster is built in.
    #[arg(long, value_name = "FILE")]
    cluster: Option<PathBuf>,

    /// For demonstrations: the Retry-After of a transient lack of capacity.
    #[arg(long, value_name = "SECONDS", default_value_t = CapacityRefusal::RETRY_AFTER.as_seconds())]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    retry_after_capacity: u32,

    /// For demonstrations: how long a deleted instance goes on holding its capacity.
    #[arg(long, value_name = "SECONDS", default_value = "5.5", value_parser = seconds)]
    release_delay: Duration,

    /// For demonstrations: how long an instance is `creating`.
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    start_delay: Duration,

    /// How many requests a second each key of the throttle is admitted in the long run, such as 0.5.
    #[arg(long, value_name = "NUMBER", default_value_t = ThrottleRate::DEFAULT)]
    throttle_per_second: ThrottleRate,

    /// How many requests at once a key of the throttle is admitted after a rest.
    #[arg(long, value_name = "NUMBER", default_value_t = ThrottleConfig::BURST.get())]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(ThrottleConfig::LARGEST_BURST.get())))]
    throttle_burst: u32,

    /// Tell all whom the throttle refuses the same instant, which only one of them will find good.
    #[arg(long)]
    throttle_no_spread: bool,

    /// For tests: hold these kinds of jobs from the start, until the admin API releases them.
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    hold_jobs: Vec<JobKind>,
}

impl Serve {
    fn into_config(self) -> anyhow::Result<Config> {
        let cluster = match &self.cluster {
            None => ClusterConfig::default(),
            Some(file) => std::fs::read_to_string(file)
                .map_err(anyhow::Error::from)
                .and_then(|text| Ok(ClusterConfig::from_toml(&text)?))
                .with_context(|| format!("could not read the cluster from {}", file.display()))?,
        };
        Ok(Config {
            listen: self.listen,
            dev_token: secret(self.dev_token, "--dev-token", "REFUSAL_SERVER_DEV_TOKEN")?,
            admin_token: secret(self.admin_token, "--admin-token", "REFUSAL_SERVER_ADMIN_TOKEN")?,
            public_url: self.public_url,
            hub: HubConfig {
                retry_after_index: RetryAfter::seconds(self.retry_after_index),
                retry_after_prebuild: RetryAfter::seconds(self.retry_after_prebuild),
                index_delay: self.index_delay.unwrap_or(self.job_delay),
                prebuild_delay: self.prebuild_delay.unwrap_or(self.job_delay),
                held: self.hold_jobs,
                ..HubConfig::default()
            },
            cluster: ClusterConfig {
                retry_after: RetryAfter::seconds(self.retry_after_capacity),
                release_delay: self.release_delay,
                start_delay: self.start_delay,
                ..cluster
            },
            throttle: ThrottleConfig {
                rate: self.throttle_per_second,
                burst: NonZeroU32::new(self.throttle_burst).unwrap_or(NonZeroU32::MIN),
                spread: !self.throttle_no_spread,
                ..ThrottleConfig::default()
            },
            ..Config::new(self.data.data)
        })
    }
}

/// A token that was given; one that nobody could present is refused by the names that it may have come under.
fn secret(given: Option<String>, option: &str, variable: &str) -> anyhow::Result<Option<Secret>> {
    let Some(given) = given else { return Ok(None) };
    if given.is_empty() {
        anyhow::bail!("expected a token in {option} or {variable}, got an empty text");
    }
    let secret = Secret::new(given);
    if !secret.is_sound() {
        anyhow::bail!(
            "expected a token of visible ASCII characters in {option} or {variable}, got one with a blank, a line \
             feed or another character"
        );
    }
    Ok(Some(secret))
}

/// The path of the data folder; an empty one is refused by the names that it may have come under.
fn folder(given: OsString) -> Result<PathBuf, &'static str> {
    if given.is_empty() {
        return Err("expected a folder in --data or REFUSAL_SERVER_DATA, got an empty text");
    }
    Ok(given.into())
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds, such as 1.5".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

/// The program: reads the command line of this process, and returns what to exit with.
pub fn main() -> ExitCode {
    main_from(std::env::args_os())
}

/// The program, with `arguments` as its command line; the first one is the program's name.
pub fn main_from(arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> ExitCode {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(mut error) => {
            if error.kind() == ErrorKind::ArgumentConflict {
                let tip = "options follow the subcommand, as in `refusal-server token add NAME --data DIR`";
                error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
            }
            // Nobody to tell when even that fails.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let result = match arguments.command {
        None => serve(arguments.serve),
        Some(Command::Serve(options)) => serve(*options),
        Some(Command::Token { command: TokenCommand::Add { name, data } }) => add_token(&name, &data),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("refusal-server: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn add_token(name: &str, data: &Data) -> anyhow::Result<()> {
    // A token in a folder that no server uses would be good for nothing, and nobody would know why.
    if !data.data.is_dir() {
        anyhow::bail!(
            "there is no data folder {}: start the server there first, or name its folder with --data",
            data.data.display()
        );
    }
    let token = Tokens::open(&data.data, None)
        .and_then(|tokens| tokens.add(name))
        .with_context(|| format!("could not add a token in {}", data.data.display()))?;
    say(&token)
}

/// What to log: as `RUST_LOG` says, or why it says nothing.
fn log_filter() -> (EnvFilter, Option<String>) {
    // An empty variable is how a script says that there is none.
    let Some(given) = std::env::var_os(EnvFilter::DEFAULT_ENV).filter(|given| !given.is_empty()) else {
        return (LOG_LEVEL.into(), None);
    };
    match EnvFilter::try_from_default_env() {
        Ok(filter) => (filter, None),
        Err(error) => {
            let variable = EnvFilter::DEFAULT_ENV;
            let warning =
                format!("{variable}={given:?} is not a filter for logs, and {LOG_LEVEL} is used: {error}");
            (LOG_LEVEL.into(), Some(warning))
        }
    }
}

fn serve(options: Serve) -> anyhow::Result<()> {
    let (filter, warning) = log_filter();
    let config = options.into_config()?;
    // Another program that becomes this one may have set up its own.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .try_init();
    if let Some(warning) = warning {
        tracing::warn!("{warning}");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let result = runtime.block_on(run(config));
    runtime.shutdown_timeout(STUCK_THREADS);
    result
}

async fn run(config: Config) -> anyhow::Result<()> {
    // Before the ready line: whoever has read it may send a signal.
    let stop = stop_signal()?;
    let server = Server::bind(config).await?;
    say(&format!("refusal-server ready on {}", server.url()))?;
    stop.await;
    tracing::info!("asked to stop: finishing what is under way");
    server.shutdown().await;
    Ok(())
}

/// Completes at SIGTERM or SIGINT, from now on.
#[cfg(unix)]
fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// Completes at Ctrl-C, from now on.
#[cfg(not(unix))]
fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    Ok(async {
        // Where even that cannot be had, the server runs until it is ended from outside.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    })
}

/// One line on stdout, for whoever waits for it on the other side of a pipe.
fn say(line: &str) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{line}").and_then(|()| stdout.flush()).context("could not write to stdout")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        <Arguments as clap::CommandFactory>::command().debug_assert();
    }

    #[test]
    fn without_a_subcommand_it_serves_with_the_frozen_delays() {
        let arguments = Arguments::try_parse_from(["refusal-server", "--dev-token", "secret"]).unwrap();
        assert!(arguments.command.is_none());
        let config = arguments.serve.into_config().unwrap();
        assert_eq!(config.hub.retry_after_index, RetryAfter::seconds(60));
        assert_eq!(config.hub.retry_after_prebuild, RetryAfter::seconds(30));
        assert_eq!(config.dev_token, Some(Secret::new("secret")));
        assert!(config.listen.ip().is_loopback());
        assert_eq!(config.cluster.retry_after, RetryAfter::seconds(15));
        assert_eq!(config.cluster.release_delay, ClusterConfig::RELEASE_DELAY);
        assert_eq!(config.throttle, ThrottleConfig::default());
    }

    #[test]
    fn a_delay_of_nothing_is_no_delay_that_can_be_promised() {
        for (option, value) in [
            ("--retry-after-index", "0"),
            ("--job-delay", "-1"),
            ("--job-delay", "soon"),
            ("--hold-jobs", "mpack"),
            ("--throttle-per-second", "0"),
            ("--throttle-per-second", "nan"),
            ("--throttle-burst", "0"),
            ("--throttle-burst", "1000001"),
        ] {
            assert!(
                Arguments::try_parse_from(["refusal-server", option, value]).is_err(),
                "{option} {value}"
            );
        }
    }
}
