//! `owner/slug`, as a path carries it.

use std::fmt;

use axum::extract::{FromRequestParts, Path};
use http::request::Parts;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::refusal::{Failure, Refused};

/// The longest owner or slug.
const LONGEST: usize = 64;

/// `owner/slug`: what a repository is called in URLs.
#[derive(Debug, Clone, PartialEq, Eq, Hash, IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct RepositoryName {
    #[param(pattern = "^[A-Za-z0-9_-][A-Za-z0-9._-]*$", max_length = 64)]
    owner: String,
    #[param(pattern = "^[A-Za-z0-9_-][A-Za-z0-9._-]*$", max_length = 64)]
    slug: String,
}

impl RepositoryName {
    /// Checks both parts: letters, digits, `.`, `_` and `-`, 64 at most, no leading dot.
    pub(super) fn new(owner: &str, slug: &str) -> Result<Self, Failure> {
        for (what, part) in [("owner", owner), ("slug", slug)] {
            let sound = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
            if part.is_empty() || part.len() > LONGEST || part.starts_with('.') || !part.bytes().all(sound) {
                let shown: String = part.chars().take(LONGEST).flat_map(char::escape_debug).collect();
                return Err(Failure::Unprocessable(format!(
                    "expected as {what} 1 to {LONGEST} letters, digits, dots, dashes and underscores that do \
                     not start with a dot, got `{shown}`"
                )));
            }
        }
        if owner == "_admin" {
            return Err(Failure::NotFound("nothing is served at this path".into()));
        }
        Ok(Self { owner: owner.into(), slug: slug.into() })
    }
}

impl fmt::Display for RepositoryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.owner, self.slug)
    }
}

#[derive(Deserialize)]
struct Segments {
    owner: String,
    slug: String,
}

impl<S: Send + Sync> FromRequestParts<S> for RepositoryName {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refused> {
        let Path(Segments { owner, slug }) = Path::from_request_parts(parts, state)
            .await
            .map_err(|error| Failure::BadRequest(format!("the path cannot be read: {error}")))?;
        Ok(Self::new(&owner, &slug)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sound_names_are_taken() {
        for (owner, slug) in [("gabriel", "muse"), ("A.b_c-1", "x"), ("_", &"s".repeat(64))] {
            assert_eq!(RepositoryName::new(owner, slug).unwrap().to_string(), format!("{owner}/{slug}"));
        }
    }

    #[test]
    fn other_names_are_refused_by_part() {
        for wrong in ["", ".", "..", ".hidden", "a/b", "a b", "a\0", "ä", &"s".repeat(65)] {
            let as_owner = RepositoryName::new(wrong, "slug").unwrap_err().to_string();
            assert!(as_owner.starts_with("expected as owner"), "{as_owner}");
            let as_slug = RepositoryName::new("owner", wrong).unwrap_err().to_string();
            assert!(as_slug.starts_with("expected as slug"), "{as_slug}");
        }
    }

    #[test]
    fn the_admin_folder_is_no_owner() {
        assert!(matches!(RepositoryName::new("_admin", "jobs"), Err(Failure::NotFound(_))));
    }
}
