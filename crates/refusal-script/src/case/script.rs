//! The steps of a script: what the server writes, to the byte.

use serde::{Deserialize, Serialize};

use super::is_default;

/// One answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The status, unless `raw_head` says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Field lines in order, names in the case in which they are written here. The engine adds
    /// `Content-Length` and `Connection: close` where they are called for and not given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, HeaderValue)>,
    /// The exact bytes of the head instead: each code point from 0 to 255 is one byte. Empty, with a
    /// connection fate, is no answer at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_head: Option<String>,
    /// The body.
    #[serde(default, skip_serializing_if = "is_default")]
    pub body: Body,
    /// Write the body slowly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trickle: Option<Trickle>,
    /// Interim responses before the head.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interim: Vec<Interim>,
    /// What becomes of the connection.
    #[serde(default, skip_serializing_if = "is_default")]
    pub connection: Connection,
    /// Answer before the request's body has been read.
    #[serde(default, skip_serializing_if = "is_default")]
    pub before_body: bool,
    /// How often the step is played before the next one.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub repeat: u32,
    /// What the answer asks for, stated by the case itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promise: Option<Promise>,
}

impl Step {
    /// Takes the hint and its promise away.
    pub(super) fn remove_hint(&mut self) {
        self.promise = None;
        self.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("retry-after"));
        if let Some(head) = &mut self.raw_head {
            *head = without_hint_lines(head);
        }
    }
}

/// A raw head without its `Retry-After` lines and the folded lines that continue them.
fn without_hint_lines(head: &str) -> String {
    let mut kept = String::with_capacity(head.len());
    let mut dropping = false;
    for line in head.split_inclusive('\n') {
        let continues = line.starts_with([' ', '\t']);
        if !continues {
            let name = line.split(':').next().unwrap_or_default().trim();
            dropping = name.eq_ignore_ascii_case("retry-after");
        }
        if !dropping {
            kept.push_str(line);
        }
    }
    kept
}

fn once() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn is_once(repeat: &u32) -> bool {
    *repeat == 1
}

/// The value of a field line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum HeaderValue {
    /// Exactly these bytes (code points 0 to 255).
    Literal(String),
    /// A date, computed when the answer is written.
    Date(DateTemplate),
}

/// A date relative to the server's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DateTemplate {
    /// Seconds after the base; may be negative.
    pub offset_s: i64,
    /// How it is spelt.
    #[serde(default, skip_serializing_if = "is_default")]
    pub form: DateForm,
    /// What the offset counts from.
    #[serde(default, skip_serializing_if = "is_default")]
    pub base: Base,
}

/// The three date forms of RFC 9110 section 5.6.7.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DateForm {
    /// `Sun, 06 Nov 1994 08:49:37 GMT`
    #[default]
    Imf,
    /// `Sunday, 06-Nov-94 08:49:37 GMT`
    Rfc850,
    /// `Sun Nov  6 08:49:37 1994`
    Asctime,
}

/// What an offset counts from, in whole seconds, rounded down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Base {
    /// The second in which this answer is written.
    #[default]
    Now,
    /// The second in which the first answer of the script was written: one fixed instant for a chain.
    FirstAnswer,
}

/// What one answer asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Promise {
    /// The next attempt arrives no earlier than this after the answer, or after `base` for a date.
    pub not_before_ms: u64,
    /// How exactly the hint can be obeyed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub precision: Precision,
    /// For a date: what it was computed from.
    #[serde(default, skip_serializing_if = "is_default")]
    pub base: Base,
}

impl Promise {
    /// The time asked for in microseconds, counted from an answer that left at `answered_unix_ms`, where the
    /// first answer of the run left at `first_answer_unix_ms`.
    #[must_use]
    pub fn asked_us(&self, answered_unix_ms: i64, first_answer_unix_ms: i64) -> u64 {
        let gone_ms = match self.precision {
            Precision::Seconds => 0,
            Precision::Date => {
                let base_ms = match self.base {
                    Base::Now => answered_unix_ms,
                    Base::FirstAnswer => first_answer_unix_ms,
                };
                // The date is in whole seconds: what has passed of the second, and since the base, is gone.
                let whole_ms = base_ms.div_euclid(1_000).saturating_mul(1_000);
                u64::try_from(answered_unix_ms.saturating_sub(whole_ms)).unwrap_or(0)
            }
        };
        self.not_before_ms.saturating_sub(gone_ms).saturating_mul(1_000)
    }
}

/// How exactly a hint can be obeyed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// Counted from the answer.
    #[default]
    Seconds,
    /// An instant in whole seconds: up to a second early is imprecise, not wrong.
    Date,
}

/// A response body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Body {
    /// These bytes (code points 0 to 255).
    Text(String),
    /// So many bytes of filling.
    Filling {
        /// The number of bytes.
        bytes: u64,
    },
}

impl Default for Body {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl Body {
    /// The bytes themselves.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Text(text) => latin1(text),
            Self::Filling { bytes } => vec![b'.'; usize::try_from(*bytes).unwrap_or(usize::MAX)],
        }
    }

    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Text(text) => text.chars().count() as u64,
            Self::Filling { bytes } => *bytes,
        }
    }
}

/// The bytes that code points 0 to 255 stand for. Others are refused when a case is checked.
pub(crate) fn latin1(text: &str) -> Vec<u8> {
    text.chars().map(|character| u8::try_from(u32::from(character)).unwrap_or(b'?')).collect()
}

/// A body written slowly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trickle {
    /// Bytes a piece.
    pub chunk_bytes: u32,
    /// The pause after each piece.
    pub every_ms: u32,
}

/// An interim response (RFC 9110 section 15.2).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interim {
    /// 100 to 199, and not 101.
    pub status: u16,
    /// Field lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, HeaderValue)>,
    /// The pause after it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub then_wait_ms: u32,
}

/// What becomes of the connection after an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Connection {
    /// It stays open for the next request.
    #[default]
    Keep,
    /// It is closed in an orderly way after the body, complete or not.
    Close,
    /// It is reset when the head has been written.
    ResetAfterHead,
    /// It is reset in the middle of the body.
    ResetInBody,
}

/// What follows the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// `200 OK`.
    #[default]
    Ok,
    /// The last step again, for ever.
    RepeatLast,
}
