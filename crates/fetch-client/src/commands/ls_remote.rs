//! `ls-remote`: what a remote says of itself.

use hub_protocol::Refs;

use crate::address::Address;
use crate::errors::Error;
use crate::hub::Hub;
use crate::session::Session;
use crate::transport::unless_cancelled;

/// What the remote says of itself: its branches and their heads.
///
/// # Errors
///
/// What the hub or the connection said.
pub async fn ls_remote(session: &Session, address: &Address) -> Result<Refs, Error> {
    let hub = Hub::new(session.transport(), address, session.token());
    unless_cancelled(session.cancel(), hub.refs()).await?
}
