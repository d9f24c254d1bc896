//! Paths of files, safe on every system that they are cloned to.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::name;
use crate::quoted::quoted;

/// The longest path, in bytes: what Linux allows a whole path to be.
const MAX_PATH_BYTES: usize = 4096;
/// The longest component, in bytes: what common file systems allow a name to be.
const MAX_COMPONENT_BYTES: usize = 255;

/// The path of a file inside a repository: relative, `/` between components, safe to join to a folder.
///
/// A value of this type stays below the folder it is joined to, touches nothing in `.muse`, and names a plain
/// file on every common file system. Symlinks that already stand in the target are the caller's to refuse:
/// they are a fact of the disk, not of the path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RepositoryPath(String);

impl RepositoryPath {
    /// Checks `path`.
    ///
    /// # Errors
    ///
    /// [`PathError`] names the path and the first reason found to refuse it.
    pub fn new(path: impl Into<String>) -> Result<Self, PathError> {
        let path = path.into();
        match refusal(&path) {
            None => Ok(Self(path)),
            Some(reason) => Err(PathError { path, reason }),
        }
    }

    /// The path as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The names between the slashes; at least one.
    pub fn components(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/')
    }

    /// The folders above the file, from the outermost in; none for a file at the top.
    pub fn ancestors(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.match_indices('/').map(|(end, _)| &self.0[..end])
    }
}

/// A path that a repository must not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the path {} {reason}", quoted(.path))]
pub struct PathError {
    path: String,
    reason: Reason,
}

impl PathError {
    /// The path that was refused, as it came.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum Reason {
    #[error("is empty")]
    Empty,
    #[error("is {0} bytes long, and at most {MAX_PATH_BYTES} are allowed")]
    TooLong(usize),
    #[error("is absolute")]
    Absolute,
    #[error("holds the character {0:?}, which is not allowed")]
    Character(char),
    #[error("has an empty component")]
    EmptyComponent,
    #[error("has the component \"{0}\", which is no file name")]
    Dots(String),
    #[error("has a component of {0} bytes, and at most {MAX_COMPONENT_BYTES} are allowed")]
    ComponentTooLong(usize),
    #[error("has the component {}, which is the repository's own folder", quoted(.0))]
    ControlFolder(String),
    #[error("has the component {}, which Windows reserves for a device", quoted(.0))]
    Device(String),
    #[error("has the component {}, which ends in a dot or a space", quoted(.0))]
    Trailing(String),
}

fn refusal(path: &str) -> Option<Reason> {
    if path.is_empty() {
        return Some(Reason::Empty);
    }
    if path.len() > MAX_PATH_BYTES {
        return Some(Reason::TooLong(path.len()));
    }
    if path.starts_with('/') {
        return Some(Reason::Absolute);
    }
    // A backslash separates and a colon names a drive or a stream on Windows.
    let forbidden = |character: &char| character.is_control() || matches!(character, '\\' | ':');
    if let Some(character) = path.chars().find(forbidden) {
        return Some(Reason::Character(character));
    }
    path.split('/').find_map(component_refusal)
}

fn component_refusal(component: &str) -> Option<Reason> {
    if component.is_empty() {
        Some(Reason::EmptyComponent)
    } else if matches!(component, "." | "..") {
        Some(Reason::Dots(component.to_owned()))
    } else if component.len() > MAX_COMPONENT_BYTES {
        Some(Reason::ComponentTooLong(component.len()))
    } else if component.ends_with(['.', ' ']) {
        Some(Reason::Trailing(component.to_owned()))
    } else if name::is_control_folder(component) {
        Some(Reason::ControlFolder(component.to_owned()))
    } else if name::is_reserved_by_windows(component) {
        Some(Reason::Device(component.to_owned()))
    } else {
        None
    }
}

impl fmt::Display for RepositoryPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for RepositoryPath {
    type Err = PathError;

    fn from_str(path: &str) -> Result<Self, PathError> {
        Self::new(path)
    }
}

impl TryFrom<String> for RepositoryPath {
    type Error = PathError;

    fn try_from(path: String) -> Result<Self, PathError> {
        Self::new(path)
    }
}

impl From<RepositoryPath> for String {
    fn from(path: RepositoryPath) -> Self {
        path.0
    }
}

impl AsRef<str> for RepositoryPath {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// The order and equality of the newtype are those of its text.
impl Borrow<str> for RepositoryPath {
    fn borrow(&self) -> &str {
        &self.0
    }
}
