//! Whose bucket a request takes from.

use std::fmt;

use axum::extract::{FromRequestParts, Path};
use http::request::Parts;
use utoipa::IntoParams;

use crate::refusal::{Failure, Refused};

/// The longest key: it is kept, and shown in refusals and logs.
const LONGEST: usize = 64;

/// Whom a bucket is for, as the path names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, IntoParams)]
#[into_params(parameter_in = Path, names("key"))]
pub(super) struct Key(
    /// Whose bucket: 1 to 64 letters, digits, `.`, `_` or `-`
    String,
);

impl Key {
    pub(super) fn new(text: &str) -> Result<Self, Failure> {
        let sound = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if text.is_empty() || text.len() > LONGEST || !text.bytes().all(sound) {
            let shown: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
            return Err(Failure::Unprocessable(format!(
                "expected as key 1 to {LONGEST} letters, digits, dots, dashes and underscores, got `{shown}`"
            )));
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Key {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refused> {
        let Path(key): Path<String> = Path::from_request_parts(parts, state)
            .await
            .map_err(|error| Failure::BadRequest(format!("the path cannot be read: {error}")))?;
        Ok(Self::new(&key)?)
    }
}
