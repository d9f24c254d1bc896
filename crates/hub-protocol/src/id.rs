//! Ids: digests as names, and how they are made and written.

use std::fmt;
use std::io::{self, Read};
use std::str::FromStr;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

use crate::quoted::quoted;

const PREFIX: &str = "sha256:";
const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// The SHA-256 that names an object, a snapshot, a commit or a pack.
///
/// Written as `sha256:` and 64 lower-case hex digits, and in no other way: two spellings of one id would be
/// two file names and two map keys.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id([u8; 32]);

impl Id {
    /// The length of the text form, in bytes.
    pub const TEXT_LEN: usize = PREFIX.len() + 64;

    /// The id of these bytes.
    #[must_use]
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        Self(Sha256::digest(bytes.as_ref()).into())
    }

    /// The id with this digest.
    #[must_use]
    pub const fn from_digest(digest: [u8; 32]) -> Self {
        Self(digest)
    }

    /// The digest, 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The 64 lower-case hex digits, without the prefix.
    #[must_use]
    pub fn hex(&self) -> String {
        self.with_text(|text| text[PREFIX.len()..].to_owned())
    }

    /// Hands the text form to `use_text` without allocating: ids are hashed and serialised by the thousand.
    pub(crate) fn with_text<T>(&self, use_text: impl FnOnce(&str) -> T) -> T {
        let mut text = [0; Self::TEXT_LEN];
        text[..PREFIX.len()].copy_from_slice(PREFIX.as_bytes());
        for (pair, byte) in text[PREFIX.len()..].chunks_exact_mut(2).zip(self.0) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 0xf)];
        }
        use_text(str::from_utf8(&text).expect("the prefix and hex digits are ASCII"))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with_text(|text| f.pad(text))
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with_text(|text| f.write_str(text))
    }
}

/// A text that is no id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected an id, `sha256:` and 64 lower-case hex digits, and got {}", quoted(.text))]
pub struct IdError {
    text: String,
}

impl FromStr for Id {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        parse(text).ok_or_else(|| IdError { text: text.to_owned() })
    }
}

fn parse(text: &str) -> Option<Id> {
    let digits = text.strip_prefix(PREFIX)?.as_bytes();
    let mut digest = [0; 32];
    if digits.len() != 2 * digest.len() {
        return None;
    }
    for (byte, pair) in digest.iter_mut().zip(digits.chunks_exact(2)) {
        let [high, low] = [pair[0], pair[1]].map(|digit| VALUES[usize::from(digit)]);
        if high | low == NO_DIGIT {
            return None;
        }
        *byte = high << 4 | low;
    }
    Some(Id(digest))
}

const NO_DIGIT: u8 = 0xff;

/// What each byte is worth as a lower-case hex digit. A snapshot is mostly ids: parsing one is worth a table.
const VALUES: [u8; 256] = {
    let mut values = [NO_DIGIT; 256];
    let mut value = 0;
    while value < 16 {
        values[DIGITS[value] as usize] = value as u8;
        value += 1;
    }
    values
};

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.with_text(|text| serializer.serialize_str(text))
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct IdVisitor;

        impl Visitor<'_> for IdVisitor {
            type Value = Id;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an id, `sha256:` and 64 lower-case hex digits")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Id, E> {
                text.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_str(IdVisitor)
    }
}

/// Makes an [`Id`] of bytes that arrive in pieces.
#[derive(Debug, Clone, Default)]
pub struct IdHasher(Sha256);

impl IdHasher {
    /// A hasher that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes.
    pub fn update(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.update(bytes.as_ref());
    }

    /// The id of everything seen.
    #[must_use]
    pub fn finish(self) -> Id {
        Id(self.0.finalize().into())
    }
}

/// A reader that hashes and counts what passes through it.
#[derive(Debug)]
pub struct HashingReader<R> {
    inner: R,
    hasher: IdHasher,
    len: u64,
}

impl<R: Read> HashingReader<R> {
    /// Wraps `inner`.
    pub fn new(inner: R) -> Self {
        Self { inner, hasher: IdHasher::new(), len: 0 }
    }

    /// The reader, the id of the bytes that were read through it, and how many they were.
    pub fn finish(self) -> (R, Id, u64) {
        (self.inner, self.hasher.finish(), self.len)
    }
}

impl<R: Read> Read for HashingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.hasher.update(&buffer[..count]);
        self.len += count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OF_NOTHING: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn the_id_of_nothing_is_the_published_digest() {
        assert_eq!(Id::of("").to_string(), OF_NOTHING);
        assert_eq!(OF_NOTHING.parse(), Ok(Id::of(b"")));
        assert_eq!(Id::of("").hex(), OF_NOTHING[7..]);
    }

    #[test]
    fn pieces_hash_like_the_whole() {
        let mut hasher = IdHasher::new();
        hasher.update("come back ");
        hasher.update("later");
        assert_eq!(hasher.finish(), Id::of("come back later"));
    }

    #[test]
    fn a_wrapped_reader_sees_every_byte() {
        let mut reader = HashingReader::new(&b"come back later"[..]);
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).unwrap();
        let (_, id, len) = reader.finish();
        assert_eq!((id, len), (Id::of(&bytes), 15));
    }

    #[test]
    fn any_other_spelling_is_refused_by_name() {
        let upper = OF_NOTHING.to_uppercase();
        let upper_digit = OF_NOTHING.replace('e', "E");
        let long = format!("{OF_NOTHING}0");
        let spaced = format!(" {OF_NOTHING}");
        for text in [
            "",
            "sha256:",
            &upper,
            &upper_digit,
            &long,
            &spaced,
            &OF_NOTHING[7..],
            &OF_NOTHING[..70],
            "sha512:00",
        ] {
            let error = text.parse::<Id>().unwrap_err();
            assert_eq!(error.text, text);
        }
        insta::assert_snapshot!("sha256:E3\n".parse::<Id>().unwrap_err(), @r#"expected an id, `sha256:` and 64 lower-case hex digits, and got "sha256:E3\n""#);
    }

    #[test]
    fn json_is_the_text_form() {
        let json = serde_json::to_string(&Id::of("")).unwrap();
        assert_eq!(json, format!("\"{OF_NOTHING}\""));
        assert_eq!(serde_json::from_str::<Id>(&json).unwrap(), Id::of(""));
        insta::assert_snapshot!(serde_json::from_str::<Id>("\"main\"").unwrap_err(), @r#"expected an id, `sha256:` and 64 lower-case hex digits, and got "main" at line 1 column 6"#);
        insta::assert_snapshot!(serde_json::from_str::<Id>("7").unwrap_err(), @"invalid type: integer `7`, expected an id, `sha256:` and 64 lower-case hex digits at line 1 column 1");
    }
}
