//! Remotes by name or address, with the token that each is asked with.

use hub_protocol::BranchName;

use crate::address::Address;
use crate::errors::Error;
use crate::hub::{Hub, Token};
use crate::repository::{Config, Remote, Repository};
use crate::session::Session;

/// A remote of a repository, ready to be asked.
#[derive(Debug)]
pub(super) struct RemoteInUse {
    pub(super) name: String,
    pub(super) address: Address,
    token: Option<Token>,
}

impl RemoteInUse {
    /// The remote of this name.
    pub(super) fn configured(repository: &Repository, session: &Session, name: &str) -> Result<Self, Error> {
        let config = repository.config()?;
        match config.remotes.get(checked_name(name)?) {
            Some(remote) => Self::new(name, remote, session),
            None => Err(Error::RemoteMissing { name: name.to_owned() }),
        }
    }

    pub(super) fn new(name: &str, remote: &Remote, session: &Session) -> Result<Self, Error> {
        let token = match (session.token(), &remote.token) {
            (Some(token), _) => Some(token.clone()),
            (None, Some(token)) => Some(Token::new(token)?),
            (None, None) => None,
        };
        Ok(Self { name: checked_name(name)?.to_owned(), address: remote.url.parse()?, token })
    }

    pub(super) fn hub<'a>(&'a self, session: &'a Session) -> Hub<'a> {
        Hub::new(session.transport(), &self.address, self.token.as_ref())
    }
}

/// The name that the configuration gives this address, if any.
pub(super) fn name_of<'a>(config: &'a Config, address: &Address) -> Option<&'a str> {
    let is_same = |remote: &Remote| remote.url.parse::<Address>().is_ok_and(|url| url == *address);
    config.remotes.iter().find(|(_, remote)| is_same(remote)).map(|(name, _)| name.as_str())
}

/// The name becomes a directory below `.muse/remotes`: it has to be safe as one.
fn checked_name(name: &str) -> Result<&str, Error> {
    match BranchName::new(name) {
        Ok(_) if !name.contains('/') => Ok(name),
        _ => Err(Error::RemoteMissing { name: name.to_owned() }),
    }
}
