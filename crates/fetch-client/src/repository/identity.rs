//! `.muse/repo.json`: which repository of the hub this is.

use std::fs;

use serde::{Deserialize, Serialize};

use super::durable;
use super::layout::Layout;
use crate::errors::{Error, IoContext};

/// The only layout there is.
const FORMAT: u32 = 1;

/// `.muse/repo.json`: the layout's number, and what the hub said that this repository is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    format: u32,
    /// What the hub calls the repository, once it has been asked.
    pub repo_id: Option<String>,
    /// What kind of work the repository holds, once the hub has been asked.
    pub domain: Option<String>,
}

impl Default for Identity {
    fn default() -> Self {
        Self { format: FORMAT, repo_id: None, domain: None }
    }
}

impl Identity {
    /// What the hub said.
    pub(crate) fn told(repo_id: &str, domain: &str) -> Self {
        Self { format: FORMAT, repo_id: Some(repo_id.to_owned()), domain: Some(domain.to_owned()) }
    }

    pub(super) fn read(layout: &Layout) -> Result<Self, Error> {
        let path = layout.identity();
        let text = fs::read(&path).while_doing("reading", &path)?;
        let identity: Self = serde_json::from_slice(&text)
            .map_err(|error| Error::Configuration { path: path.clone(), reason: error.to_string() })?;
        if identity.format != FORMAT {
            let reason = format!("expected the format {FORMAT}, got {}", identity.format);
            return Err(Error::Configuration { path, reason });
        }
        Ok(identity)
    }

    pub(super) fn write(&self, layout: &Layout) -> Result<(), Error> {
        let path = layout.identity();
        let mut text = serde_json::to_vec_pretty(self)
            .map_err(|error| Error::Configuration { path: path.clone(), reason: error.to_string() })?;
        text.push(b'\n');
        durable::replace_file(&layout.incoming(), &path, &text).while_doing("writing", &path)
    }
}
