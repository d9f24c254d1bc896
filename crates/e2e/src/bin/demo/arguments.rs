//! The command line of the demonstration.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Parser;

/// Pushes a folder to a hub, clones it at once, and shows how the hub says "come back later" and the client does.
#[derive(Debug, Parser)]
#[command(name = "demo", version, max_term_width = 80)]
pub(crate) struct Arguments {
    /// A folder of your own to push and clone; it is only read
    #[arg(long, value_name = "PATH", default_value_os_t = own_crates(), hide_default_value = true)]
    pub(crate) dir: PathBuf,

    /// Leave the hub up at the end, and say how to go on by hand
    #[arg(long)]
    pub(crate) keep: bool,
}

impl Arguments {
    /// The folder in full, which can be read: looked at before anything is started.
    pub(crate) fn folder(&self) -> anyhow::Result<PathBuf> {
        let folder = fs::canonicalize(&self.dir)
            .with_context(|| format!("could not find the folder {}", self.dir.display()))?;
        fs::read_dir(&folder).with_context(|| format!("could not read the folder {}", folder.display()))?;
        Ok(folder)
    }
}

/// The folder with this project's crates, or the current one where the program has been moved away from it.
fn own_crates() -> PathBuf {
    let built_at = Path::new(env!("CARGO_MANIFEST_DIR")).parent().filter(|crates| crates.is_dir());
    built_at.unwrap_or(Path::new(".")).to_owned()
}
