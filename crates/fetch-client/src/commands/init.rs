//! `init`: a directory becomes a repository.

use std::path::Path;

use hub_protocol::BranchName;

use crate::address::Address;
use crate::errors::{Error, IoContext};
use crate::repository::{DEFAULT_REMOTE, Remote, Repository};

/// Makes `root` a repository without commits; it may hold files already, and is created where it is missing.
///
/// # Errors
///
/// [`Error::AlreadyARepository`], or what keeps it from being written.
pub fn init(root: &Path, branch: &BranchName, remote: Option<&Address>) -> Result<Repository, Error> {
    std::fs::create_dir_all(root).while_doing("creating", root)?;
    let repository = Repository::init(root, branch)?;
    if let Some(address) = remote {
        let mut config = repository.config()?;
        config.remotes.insert(DEFAULT_REMOTE.to_owned(), Remote { url: address.to_string(), token: None });
        repository.set_config(&config)?;
    }
    Ok(repository)
}
