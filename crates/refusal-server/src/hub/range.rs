//! `Range` of a download: one range of bytes (RFC 9110 section 14).

use std::ops::RangeInclusive;

/// Which bytes a request is to be answered with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Asked {
    /// All of them: there is no `Range`, or one that a server may ignore.
    Whole,
    /// The bytes from the first to the last, both included.
    Part(RangeInclusive<u64>),
    /// No byte of the range exists.
    Unsatisfiable,
}

impl Asked {
    /// Reads the field's value against a representation of `size` bytes.
    ///
    /// A unit other than bytes, more than one range, and a malformed value are ignored, as section 14.2
    /// allows: the client gets the whole.
    pub(super) fn parse(value: Option<&str>, size: u64) -> Self {
        let Some(ranges) = value.and_then(|value| {
            let (unit, ranges) = value.split_once('=')?;
            unit.trim().eq_ignore_ascii_case("bytes").then_some(ranges.trim())
        }) else {
            return Self::Whole;
        };
        let Some((first, last)) = ranges.split_once('-') else { return Self::Whole };
        match (first.trim(), last.trim()) {
            ("", suffix) => match digits(suffix) {
                Some(0) => Self::Unsatisfiable,
                Some(_) if size == 0 => Self::Unsatisfiable,
                Some(length) => Self::Part(size.saturating_sub(length)..=size - 1),
                None => Self::Whole,
            },
            (first, last) => {
                let (Some(first), Some(last)) =
                    (digits(first), if last.is_empty() { Some(u64::MAX) } else { digits(last) })
                else {
                    return Self::Whole;
                };
                if last < first {
                    Self::Whole
                } else if first >= size {
                    Self::Unsatisfiable
                } else {
                    Self::Part(first..=last.min(size - 1))
                }
            }
        }
    }
}

/// `1*DIGIT`; more than a u64 holds is as good as the largest.
fn digits(text: &str) -> Option<u64> {
    (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()))
        .then(|| text.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_range_of_bytes_is_honoured() {
        for (value, range) in [
            ("bytes=0-0", 0..=0),
            ("bytes=2-5", 2..=5),
            ("bytes=2-", 2..=9),
            ("bytes=2-99", 2..=9),
            ("bytes=-3", 7..=9),
            ("bytes=-99", 0..=9),
            ("Bytes = 9-9", 9..=9),
            ("bytes=0-99999999999999999999999", 0..=9),
        ] {
            assert_eq!(Asked::parse(Some(value), 10), Asked::Part(range), "{value}");
        }
    }

    #[test]
    fn a_range_without_a_byte_is_unsatisfiable() {
        for value in ["bytes=10-", "bytes=10-12", "bytes=-0", "bytes=99999999999999999999999-"] {
            assert_eq!(Asked::parse(Some(value), 10), Asked::Unsatisfiable, "{value}");
        }
        assert_eq!(Asked::parse(Some("bytes=-5"), 0), Asked::Unsatisfiable);
        assert_eq!(Asked::parse(Some("bytes=0-"), 0), Asked::Unsatisfiable);
    }

    #[test]
    fn what_is_no_single_range_of_bytes_is_ignored() {
        for value in [
            "",
            "bytes",
            "bytes=",
            "bytes=-",
            "lines=1-2",
            "bytes=5-2",
            "bytes=0-1,3-4",
            "bytes=+1-2",
            "bytes=a-b",
        ] {
            assert_eq!(Asked::parse(Some(value), 10), Asked::Whole, "{value}");
        }
        assert_eq!(Asked::parse(None, 10), Asked::Whole);
    }
}
