//! `.muse/config.toml`: the remotes.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;

use serde::{Deserialize, Serialize};

use super::durable;
use super::layout::Layout;
use crate::errors::{Error, IoContext};

/// The name of the remote that a clone, or the first push, writes down.
pub const DEFAULT_REMOTE: &str = "origin";

/// `.muse/config.toml`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The remotes by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub remotes: BTreeMap<String, Remote>,
}

/// Where a remote is and how to be let in.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remote {
    /// The repository's address on the hub: `https://host/owner/slug`.
    pub url: String,
    /// The access token, for those who keep it here; sent to this remote alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

impl std::fmt::Debug for Remote {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let token = self.token.as_ref().map(|_| "(kept back)");
        formatter.debug_struct("Remote").field("url", &self.url).field("token", &token).finish()
    }
}

impl Config {
    pub(super) fn read(layout: &Layout) -> Result<Self, Error> {
        let path = layout.config();
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(error).while_doing("reading the configuration", &path),
        };
        toml::from_str(&text)
            .map_err(|error| Error::Configuration { path, reason: error.to_string().trim_end().to_owned() })
    }

    pub(super) fn write(&self, layout: &Layout) -> Result<(), Error> {
        let path = layout.config();
        let text = toml::to_string(self)
            .map_err(|error| Error::Configuration { path: path.clone(), reason: error.to_string() })?;
        durable::replace_file(&layout.incoming(), &path, text.as_bytes())
            .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(0o600)))
            .while_doing("writing the configuration", &path)
    }
}
