//! Names of branches, safe as paths of files.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::name;
use crate::quoted::quoted;

const MAX_BYTES: usize = 255;

/// The name of a branch, safe as the path of a file below `refs/heads`.
///
/// Components of `A-Z a-z 0-9 . _ -` joined by `/`; a component starts with neither dot nor dash, ends
/// neither with a dot nor with `.lock`, holds no `..`, and is no device of Windows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BranchName(String);

impl BranchName {
    /// Checks `name`.
    ///
    /// # Errors
    ///
    /// [`BranchNameError`] names the branch and the first reason found to refuse it.
    pub fn new(name: impl Into<String>) -> Result<Self, BranchNameError> {
        let name = name.into();
        match refusal(&name) {
            None => Ok(Self(name)),
            Some(reason) => Err(BranchNameError { name, reason }),
        }
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A name that no branch may have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the branch name {} {reason}", quoted(.name))]
pub struct BranchNameError {
    name: String,
    reason: Reason,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum Reason {
    #[error("is empty")]
    Empty,
    #[error("is {0} bytes long, and at most {MAX_BYTES} are allowed")]
    TooLong(usize),
    #[error("holds the character {0:?}, and only ASCII letters, digits, `.`, `_`, `-` and `/` are allowed")]
    Character(char),
    #[error("has an empty component")]
    EmptyComponent,
    #[error("has the component \"{0}\", which starts with a dot or a dash")]
    Leading(String),
    #[error("has the component \"{0}\", which ends in a dot or `.lock`")]
    Trailing(String),
    #[error("has the component \"{0}\", which holds `..`")]
    Dots(String),
    #[error("has the component \"{0}\", which Windows reserves for a device")]
    Device(String),
}

fn refusal(name: &str) -> Option<Reason> {
    if name.is_empty() {
        return Some(Reason::Empty);
    }
    if name.len() > MAX_BYTES {
        return Some(Reason::TooLong(name.len()));
    }
    let allowed =
        |character: char| character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-' | '/');
    if let Some(character) = name.chars().find(|character| !allowed(*character)) {
        return Some(Reason::Character(character));
    }
    name.split('/').find_map(component_refusal)
}

fn component_refusal(component: &str) -> Option<Reason> {
    let reason: fn(String) -> Reason = if component.is_empty() {
        return Some(Reason::EmptyComponent);
    } else if component.starts_with(['.', '-']) {
        Reason::Leading
    } else if component.ends_with('.') || component.to_ascii_lowercase().ends_with(".lock") {
        Reason::Trailing
    } else if component.contains("..") {
        Reason::Dots
    } else if name::is_reserved_by_windows(component) {
        Reason::Device
    } else {
        return None;
    };
    Some(reason(component.to_owned()))
}

impl fmt::Display for BranchName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for BranchName {
    type Err = BranchNameError;

    fn from_str(name: &str) -> Result<Self, BranchNameError> {
        Self::new(name)
    }
}

impl TryFrom<String> for BranchName {
    type Error = BranchNameError;

    fn try_from(name: String) -> Result<Self, BranchNameError> {
        Self::new(name)
    }
}

impl From<BranchName> for String {
    fn from(name: BranchName) -> Self {
        name.0
    }
}

impl AsRef<str> for BranchName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// The order and equality of the newtype are those of its text.
impl Borrow<str> for BranchName {
    fn borrow(&self) -> &str {
        &self.0
    }
}
