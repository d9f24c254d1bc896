//! The command line as people write it; clap makes the help of it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Repositories over a hub that is asked again when it says so.
#[derive(Debug, Parser)]
#[command(name = "fetch-client", version)]
#[command(after_help = "\
Exit codes:
  0  done                                4  a name that is missing here
  1  the user's error                    5  the remote refused the push
  2  no repository here                130  interrupted
  3  the server, the connection, the disk, or a defect of this program")]
pub(super) struct Arguments {
    /// Work as if started in this directory
    #[arg(short = 'C', long, global = true, value_name = "DIRECTORY")]
    pub(super) directory: Option<PathBuf>,
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Make this directory a repository
    Init(Init),
    /// Record the working tree
    Commit(Commit),
    /// Show what differs from the last commit, and from the remote as it was last seen
    Status,
    /// Send the branch's commits to a hub
    Push(Push),
    /// Make a repository of what a hub has
    Clone(Clone),
    /// Bring what the hub has and this repository has not
    Fetch(Fetch),
    /// Fetch, then move on to the remote's branch or merge it
    Pull(Fetch),
    /// List the branches of a hub's repository
    LsRemote(LsRemote),
    /// Send any request, and come back later as a profile says
    Get(Get),
    /// Ask a cluster for instances
    Instance(Instance),
}

#[derive(Debug, Args)]
pub(super) struct Init {
    /// The directory, created where it is missing
    #[arg(value_name = "DIRECTORY")]
    pub(super) root: Option<PathBuf>,
    /// The first branch
    #[arg(long, default_value = "main")]
    pub(super) branch: String,
    /// The address of the hub's repository, noted as the remote `origin`
    #[arg(long, value_name = "URL")]
    pub(super) remote: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct Commit {
    /// What the commit is about
    #[arg(short, long)]
    pub(super) message: String,
}

#[derive(Debug, Args)]
pub(super) struct Push {
    /// An address, or the name of a remote
    #[arg(default_value = "origin")]
    pub(super) remote: String,
    /// The branch instead of the current one
    #[arg(long)]
    pub(super) branch: Option<String>,
    /// Let everybody read the repository, where this push creates it
    #[arg(long)]
    pub(super) public: bool,
    /// Move the remote's branch even where that loses commits
    #[arg(long)]
    pub(super) force: bool,
    #[command(flatten)]
    pub(super) access: Access,
}

#[derive(Debug, Args)]
pub(super) struct Clone {
    /// The address of the hub's repository
    pub(super) url: String,
    /// A directory that is missing or empty; without it, the address's last part
    pub(super) target: Option<PathBuf>,
    /// The branch to check out; without it the remote's default
    #[arg(long)]
    pub(super) branch: Option<String>,
    #[command(flatten)]
    pub(super) access: Access,
    #[command(flatten)]
    pub(super) retry: Retry,
}

#[derive(Debug, Args)]
pub(super) struct Fetch {
    /// The name of the remote
    #[arg(default_value = "origin")]
    pub(super) remote: String,
    /// This branch of the remote
    #[arg(long)]
    pub(super) branch: Option<String>,
    #[command(flatten)]
    pub(super) access: Access,
    #[command(flatten)]
    pub(super) retry: Retry,
}

#[derive(Debug, Args)]
pub(super) struct LsRemote {
    /// An address, or the name of a remote
    #[arg(default_value = "origin")]
    pub(super) remote: String,
    #[command(flatten)]
    pub(super) access: Access,
}

#[derive(Debug, Args)]
pub(super) struct Access {
    /// The access token; without it, the one in `.muse/config.toml`
    #[arg(long, env = "MUSE_TOKEN", hide_env_values = true)]
    pub(super) token: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct Retry {
    /// How long to wait in all while the remote is preparing; without it
    /// MUSE_FETCH_RETRY_BUDGET_S, or 120
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true)]
    pub(super) retry_timeout: Option<String>,
    /// One attempt, whatever the remote asks for
    #[arg(long)]
    pub(super) no_retry: bool,
    /// Print one JSON object on standard output, and everything else on standard error
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes:
  0  a success                           3  a refusal, no answer, or an answer that could not be written
  1  nothing was sent: a usage error   130  interrupted")]
pub(super) struct Get {
    /// Where to
    pub(super) url: String,
    /// The method; without it GET, or POST with a body
    #[arg(long)]
    pub(super) method: Option<String>,
    /// The file to send as the body, afresh in each attempt
    #[arg(long, value_name = "FILE")]
    pub(super) body_file: Option<PathBuf>,
    /// A header field, `Name: value`, but none that says how the request is sent; may be repeated
    #[arg(long, value_name = "FIELD")]
    pub(super) header: Vec<String>,
    /// When to come back, and how often: muse, shakenfist, alkhttp or recommended
    #[arg(long, default_value = "recommended")]
    pub(super) profile: String,
    /// Plan no attempt after this time, and let none run past it; with 0, one attempt and no wait
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true)]
    pub(super) deadline: Option<String>,
    /// Vouch that a refused request has changed nothing, so that any method may be sent again
    #[arg(long)]
    pub(super) vouch: bool,
    /// Write the answer's body to this file, once it is whole, and not to standard output
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct Instance {
    #[command(subcommand)]
    pub(super) command: InstanceCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum InstanceCommand {
    /// Create an instance, and print it
    Create(CreateInstance),
    /// Print an instance as it is now
    Get(NamedInstance),
    /// Print all instances of the namespace
    List(Cluster),
    /// Delete an instance, and print it as it was
    Delete(NamedInstance),
}

#[derive(Debug, Args)]
pub(super) struct Cluster {
    /// Where the cluster is
    #[arg(long, env = "CLUSTER_URL", value_name = "URL")]
    pub(super) url: String,
    /// Whose instances they are
    #[arg(long, env = "CLUSTER_NAMESPACE", value_name = "NAME")]
    pub(super) namespace: String,
    /// The key that opens the namespace
    #[arg(long, env = "CLUSTER_KEY", hide_env_values = true)]
    pub(super) key: String,
    /// How long to stay with it: not at all, a minute, or an hour
    #[arg(long, value_enum, default_value_t = Stay::Pause)]
    pub(super) strategy: Stay,
    /// Stay as long as this instead
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true, conflicts_with = "strategy")]
    pub(super) timeout: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Stay {
    /// One request, and no wait
    Continue,
    /// A minute
    Pause,
    /// An hour
    Block,
}

#[derive(Debug, Args)]
pub(super) struct NamedInstance {
    /// The instance's id
    pub(super) uuid: String,
    #[command(flatten)]
    pub(super) cluster: Cluster,
}

#[derive(Debug, Args)]
pub(super) struct CreateInstance {
    /// What it is to be called
    pub(super) name: String,
    /// How many processors
    #[arg(long, default_value_t = 1)]
    pub(super) cpus: u32,
    /// How much memory, in MiB
    #[arg(long, default_value_t = 1024)]
    pub(super) memory: u32,
    /// The size of a disk, in GiB; may be repeated
    #[arg(long, value_name = "GIB")]
    pub(super) disk: Vec<u32>,
    /// A network to be on, and perhaps the address there: NETWORK or NETWORK=ADDRESS; may be repeated
    #[arg(long, value_name = "NETWORK")]
    pub(super) network: Vec<String>,
    /// The node that has to take it
    #[arg(long, value_name = "NODE")]
    pub(super) placed_on: Option<String>,
    /// What others can be kept together with or apart from; may be repeated
    #[arg(long)]
    pub(super) tag: Vec<String>,
    /// On a node that has an instance with this tag; may be repeated
    #[arg(long, value_name = "TAG")]
    pub(super) together_with: Vec<String>,
    /// On a node that has no instance with this tag; may be repeated
    #[arg(long, value_name = "TAG")]
    pub(super) apart_from: Vec<String>,
    /// Ask again when the cluster says that its lack of capacity passes
    #[arg(long)]
    pub(super) retry_transient_capacity: bool,
    #[command(flatten)]
    pub(super) cluster: Cluster,
}
