//! Who may push: bearer tokens, of which the server keeps only the hashes.
//!
//! A token is a file named by the SHA-256 of the token, holding the name of its owner. Files, not a table:
//! `token add` must work while a server has the database open, and one look-up is one `stat`.

use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use http::HeaderMap;
use http::header::AUTHORIZATION;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::refusal::Failure;

/// The longest name of a token.
const LONGEST_NAME: usize = 64;

/// A text that is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps the text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Whether `other` is the same text, in time that does not depend on where they differ.
    ///
    /// The hashes are compared, so the length does not show either.
    pub(crate) fn matches(&self, other: &str) -> bool {
        digest(&self.0).ct_eq(&digest(other)).into()
    }

    /// Whether it can be presented as a token: visible ASCII characters, without blanks and line feeds.
    pub(crate) fn is_sound(&self) -> bool {
        !self.0.is_empty() && self.0.bytes().all(|byte| byte.is_ascii_graphic())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

/// The tokens that the server knows.
#[derive(Debug, Clone)]
pub struct Tokens {
    folder: PathBuf,
    dev_token: Option<Secret>,
}

impl Tokens {
    /// The tokens kept below the data folder `data`, and one that is not kept.
    ///
    /// # Errors
    ///
    /// When the folder cannot be made.
    pub fn open(data: &Path, dev_token: Option<Secret>) -> io::Result<Self> {
        let folder = data.join("tokens");
        fs::create_dir_all(&folder)?;
        Ok(Self { folder, dev_token })
    }

    /// Makes a fresh token for `name` and returns it: the only time that it can be seen.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for a name that is no name; whatever the file system says.
    pub fn add(&self, name: &str) -> io::Result<String> {
        if !is_token_name(name) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!(
                    "expected a name of 1 to {LONGEST_NAME} letters, digits or `-._@`, got `{}`",
                    name.escape_debug()
                ),
            ));
        }
        let token = format!("muse_{}", hex(&rand::random::<[u8; 32]>()));
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(name.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(self.file_of(&token)).map_err(|error| error.error)?;
        fs::File::open(&self.folder)?.sync_all()?;
        Ok(token)
    }

    /// Whether the request carries a token that is known.
    pub(crate) fn admits(&self, headers: &HeaderMap) -> bool {
        bearer(headers).is_some_and(|token| self.knows(token))
    }

    /// Refuses a request that carries no known token.
    pub(crate) fn require(&self, headers: &HeaderMap) -> Result<(), Failure> {
        match bearer(headers) {
            None => Err(Failure::Unauthorized("expected `Authorization: Bearer TOKEN`".into())),
            Some(token) if self.knows(token) => Ok(()),
            Some(_) => Err(Failure::Unauthorized("the token is not known to this server".into())),
        }
    }

    /// Whether a token was added under this name. The one that was not added is good for all. Blocks.
    pub(crate) fn opens(&self, token: &str, name: &str) -> bool {
        self.dev_token.as_ref().is_some_and(|dev| dev.matches(token))
            || fs::read(self.file_of(token)).is_ok_and(|owner| owner == name.as_bytes())
    }

    fn knows(&self, token: &str) -> bool {
        self.dev_token.as_ref().is_some_and(|dev| dev.matches(token)) || self.file_of(token).is_file()
    }

    fn file_of(&self, token: &str) -> PathBuf {
        self.folder.join(hex(&digest(token)))
    }
}

/// Whether a token can be called so.
pub(crate) fn is_token_name(name: &str) -> bool {
    let sound = |byte: u8| byte.is_ascii_alphanumeric() || b"-._@".contains(&byte);
    (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(sound)
}

/// The credentials of RFC 6750 section 2.1; the scheme's name is case-insensitive.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

/// Two lower-case hex digits for each byte.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = vec![0; 2 * bytes.len()];
    for (pair, byte) in text.as_chunks_mut().0.iter_mut().zip(bytes) {
        *pair = [byte >> 4, byte & 0xf].map(|value| DIGITS[usize::from(value)]);
    }
    String::from_utf8(text).expect("hex digits are ASCII")
}

/// The 32 bytes that [`hex`] makes this text of; any other spelling of them is none.
pub(crate) fn from_hex(text: &str) -> Option<[u8; 32]> {
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    let pairs: &[[u8; 2]; 32] = pairs.try_into().ok()?;
    let mut bytes = [0; 32];
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = value(*high)? << 4 | value(*low)?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn headers(authorization: &str) -> HeaderMap {
        HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_str(authorization).unwrap())])
    }

    #[test]
    fn an_added_token_is_admitted_and_only_its_hash_is_kept() {
        let data = tempfile::tempdir().unwrap();
        let tokens = Tokens::open(data.path(), None).unwrap();
        let token = tokens.add("gabriel").unwrap();
        assert!(tokens.admits(&headers(&format!("Bearer {token}"))));
        assert!(tokens.admits(&headers(&format!("bearer  {token}"))));
        for entry in fs::read_dir(data.path().join("tokens")).unwrap() {
            let entry = entry.unwrap();
            let kept = fs::read_to_string(entry.path()).unwrap();
            assert!(!kept.contains(&token) && !entry.file_name().to_string_lossy().contains(&token[5..]));
            assert_eq!(kept, "gabriel");
        }
    }

    #[test]
    fn a_token_added_by_another_process_is_known_at_once() {
        let data = tempfile::tempdir().unwrap();
        let serving = Tokens::open(data.path(), None).unwrap();
        let token = Tokens::open(data.path(), None).unwrap().add("late").unwrap();
        assert!(serving.admits(&headers(&format!("Bearer {token}"))));
    }

    #[test]
    fn other_credentials_are_refused_and_the_refusal_says_which() {
        let data = tempfile::tempdir().unwrap();
        let tokens = Tokens::open(data.path(), Some(Secret::new("secret"))).unwrap();
        assert_eq!(tokens.require(&headers("Bearer secret")), Ok(()));
        for wrong in ["Bearer", "Bearer ", "Basic secret", "secret"] {
            let error = tokens.require(&headers(wrong)).unwrap_err();
            assert_eq!(error.to_string(), "expected `Authorization: Bearer TOKEN`", "{wrong}");
        }
        for wrong in ["Bearer secre", "Bearer secrets", "Bearer ../tokens"] {
            let error = tokens.require(&headers(wrong)).unwrap_err();
            assert_eq!(error.to_string(), "the token is not known to this server", "{wrong}");
        }
    }

    #[test]
    fn a_name_that_is_no_name_is_refused() {
        let data = tempfile::tempdir().unwrap();
        let tokens = Tokens::open(data.path(), None).unwrap();
        for name in ["", "two words", "a/b", &"x".repeat(65)] {
            assert_eq!(tokens.add(name).unwrap_err().kind(), io::ErrorKind::InvalidInput, "{name}");
        }
    }
}
