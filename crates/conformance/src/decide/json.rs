//! Strict reading of JSON: every reader says what it expected, and errors name the field.
//!
//! Values are kept as they are written until a reader asks for a type. So `60.0` is told from `60`, an
//! integer of any length stays one, and what nobody asks for costs nothing.

use std::borrow::Cow;
use std::fmt;
use std::ops::RangeInclusive;

use retry_core::LARGEST;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The most of a wrong value that an error repeats, in characters.
const LONGEST_EXCERPT: usize = 40;

/// What is wrong with a question: where, what was expected and what came.
#[derive(Debug, thiserror::Error)]
pub(super) struct Invalid {
    /// Empty for the line as a whole, else `events[2].took_ms`.
    field: String,
    problem: String,
}

impl fmt::Display for Invalid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.field.is_empty() {
            formatter.write_str(&self.problem)
        } else {
            write!(formatter, "`{}`: {}", self.field, self.problem)
        }
    }
}

impl Invalid {
    /// A value whose field is added by [`Invalid::within`] on the way out.
    pub(super) fn because(problem: impl fmt::Display) -> Self {
        Self { field: String::new(), problem: problem.to_string() }
    }

    /// A line that is not even what questions are made of.
    pub(super) fn of_line(expected: &str, error: impl fmt::Display) -> Self {
        Self::because(format_args!("expected {expected}: {error}"))
    }

    /// A field that is missing though `reason` requires it.
    pub(super) fn missing(name: &str, expected: &str) -> Self {
        Self::because(format_args!("expected {expected}, got nothing")).within(name)
    }

    /// The same problem, seen from the object or list around it: `name` is a field's name, or `[2]`.
    pub(super) fn within(mut self, name: &str) -> Self {
        let separator = if self.field.is_empty() || self.field.starts_with('[') { "" } else { "." };
        self.field = format!("{name}{separator}{}", self.field);
        self
    }
}

/// A JSON value as it is written, without surrounding blanks.
#[derive(Clone, Copy)]
pub(super) struct Written<'a>(&'a str);

impl<'a> Written<'a> {
    pub(super) fn object(self) -> Result<Object<'a>, Invalid> {
        if !self.0.starts_with('{') {
            return Err(self.unexpected("an object"));
        }
        serde_json::from_str(self.0).map_err(|error| Invalid::of_line("an object", error))
    }

    /// The members of a list, each read by `read`; errors name the position.
    pub(super) fn list<T>(self, mut read: impl FnMut(Self) -> Result<T, Invalid>) -> Result<Vec<T>, Invalid> {
        if !self.0.starts_with('[') {
            return Err(self.unexpected("a list"));
        }
        let members: Vec<&'a RawValue> =
            serde_json::from_str(self.0).map_err(|error| Invalid::of_line("a list", error))?;
        let read_at = |(index, member): (usize, &'a RawValue)| {
            read(Self(member.get())).map_err(|invalid| invalid.within(&format!("[{index}]")))
        };
        members.into_iter().enumerate().map(read_at).collect()
    }

    pub(super) fn text(self) -> Result<Cow<'a, str>, Invalid> {
        let Some(inner) = self.0.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
            return Err(self.unexpected("a string"));
        };
        if inner.contains('\\') {
            serde_json::from_str(self.0)
                .map(Cow::Owned)
                .map_err(|error| Invalid::of_line("a string of whole code points", error))
        } else {
            Ok(Cow::Borrowed(inner))
        }
    }

    /// A string whose code points are bytes.
    pub(super) fn bytes(self) -> Result<Cow<'a, [u8]>, Invalid> {
        let text = self.text()?;
        if text.is_ascii() {
            return Ok(match text {
                Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                Cow::Owned(text) => Cow::Owned(text.into_bytes()),
            });
        }
        let byte_of = |character: char| {
            u8::try_from(character).map_err(|_| {
                Invalid::because(format_args!(
                    "expected code points of at most 255, got {}",
                    u32::from(character)
                ))
            })
        };
        text.chars().map(byte_of).collect::<Result<Vec<u8>, _>>().map(Cow::Owned)
    }

    pub(super) fn boolean(self) -> Result<bool, Invalid> {
        match self.0 {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(self.unexpected("true or false")),
        }
    }

    /// An integer of either sign; saturates at [`LARGEST`] and its negative.
    pub(super) fn integer(self) -> Result<i64, Invalid> {
        let (digits, sign) = self.0.strip_prefix('-').map_or((self.0, 1), |digits| (digits, -1));
        let size = saturating(digits).ok_or_else(|| self.unexpected("an integer"))?;
        Ok(i64::try_from(size).unwrap_or(i64::MAX) * sign)
    }

    /// An integer of at least 0; saturates at [`LARGEST`].
    pub(super) fn natural(self) -> Result<u64, Invalid> {
        self.integer()
            .ok()
            .and_then(|integer| u64::try_from(integer).ok())
            .ok_or_else(|| self.unexpected("an integer of at least 0"))
    }

    /// An integer within `range`.
    pub(super) fn natural_within(self, range: RangeInclusive<u64>) -> Result<u64, Invalid> {
        self.natural()
            .ok()
            .filter(|natural| range.contains(natural))
            .ok_or_else(|| self.unexpected(&format!("an integer from {} to {}", range.start(), range.end())))
    }

    /// One of the listed names.
    pub(super) fn one_of<T: Copy>(self, names: &[(&str, T)]) -> Result<T, Invalid> {
        let text = self.text().ok();
        match names.iter().find(|(name, _)| Some(*name) == text.as_deref()) {
            Some((_, value)) => Ok(*value),
            None => {
                let known: Vec<_> = names.iter().map(|(name, _)| format!("\"{name}\"")).collect();
                Err(self.unexpected(&known.join(" or ")))
            }
        }
    }

    /// What `read` makes of the value; nothing where it is an explicit null.
    pub(super) fn nullable<T>(
        self,
        read: impl FnOnce(Self) -> Result<T, Invalid>,
    ) -> Result<Option<T>, Invalid> {
        if self.0 == "null" { Ok(None) } else { read(self).map(Some) }
    }

    /// The JSON text.
    pub(super) const fn as_str(self) -> &'a str {
        self.0
    }

    fn unexpected(self, expected: &str) -> Invalid {
        let mut excerpt: String = self.0.chars().take(LONGEST_EXCERPT).collect();
        if excerpt.len() < self.0.len() {
            excerpt.push('…');
        }
        Invalid::because(format_args!("expected {expected}, got {excerpt}"))
    }
}

/// An object whose members are read on demand. Of members with the same name the last counts.
pub(super) struct Object<'a> {
    members: Vec<(Cow<'a, str>, &'a RawValue)>,
}

impl<'a> Object<'a> {
    /// The object that a line consists of.
    pub(super) fn of_line(line: &'a str) -> Result<Self, Invalid> {
        if line.trim_ascii().is_empty() {
            return Err(Invalid::because("expected a JSON object, got a blank line"));
        }
        serde_json::from_str(line).map_err(|error| Invalid::of_line("a JSON object", error))
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|(name, _)| &**name)
    }

    pub(super) fn get(&self, name: &str) -> Option<Written<'a>> {
        let (_, value) = self.members.iter().rfind(|(known, _)| known == name)?;
        Some(Written(value.get()))
    }

    pub(super) fn optional<T>(
        &self,
        name: &str,
        read: impl FnOnce(Written<'a>) -> Result<T, Invalid>,
    ) -> Result<Option<T>, Invalid> {
        self.get(name).map(read).transpose().map_err(|invalid| invalid.within(name))
    }

    pub(super) fn required<T>(
        &self,
        name: &str,
        read: impl FnOnce(Written<'a>) -> Result<T, Invalid>,
    ) -> Result<T, Invalid> {
        self.optional(name, read)?.ok_or_else(|| Invalid::missing(name, "a value"))
    }
}

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Members)
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Object<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
        let mut members = Vec::with_capacity(8);
        while let Some((name, value)) = map.next_entry::<&'de RawValue, _>()? {
            // A name with half a surrogate pair is none that is asked for; quoted, it equals no other.
            members.push((Written(name.get()).text().unwrap_or(Cow::Borrowed(name.get())), value));
        }
        Ok(Object { members })
    }
}

/// `1*DIGIT`, saturating at [`LARGEST`].
fn saturating(digits: &str) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.bytes().try_fold(0_u64, |number, byte| {
        let digit = u64::from(byte).checked_sub(u64::from(b'0')).filter(|digit| *digit <= 9)?;
        Some(number.saturating_mul(10).saturating_add(digit).min(LARGEST))
    })
}
