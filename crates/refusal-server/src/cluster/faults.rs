//! Reading a JSON document field by field, and keeping all that is wrong with it.

use std::fmt;
use std::ops::RangeInclusive;

use serde_json::{Map, Value};

/// The most faults that are told: whoever made more has no use for the rest.
const MOST_TOLD: usize = 16;
/// How much is shown of a value that was not expected.
const MOST_SHOWN: usize = 60;

/// All that is wrong with a document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Faults {
    told: Vec<String>,
    untold: usize,
}

impl Faults {
    pub(super) fn is_empty(&self) -> bool {
        self.told.is_empty()
    }

    pub(super) fn add(&mut self, at: &str, fault: impl fmt::Display) {
        if self.told.len() == MOST_TOLD {
            self.untold += 1;
        } else if at.is_empty() {
            self.told.push(fault.to_string());
        } else {
            self.told.push(format!("{at}: {fault}"));
        }
    }

    /// Adds "expected this, got that". Returns `None`, for whoever has nothing now.
    pub(super) fn expected<T>(&mut self, at: &str, expected: &str, got: Option<&Value>) -> Option<T> {
        let got = got.map_or_else(|| "nothing".to_owned(), |value| shown(&value.to_string()));
        self.add(at, format_args!("expected {expected}, got {got}"));
        None
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told.join("; "))?;
        if self.untold > 0 {
            write!(f, "; and {} more", self.untold)?;
        }
        Ok(())
    }
}

/// A whole number, also where it is written with a fraction of zero: JSON Schema makes no difference.
fn whole(value: &Value) -> Option<u32> {
    match (value.as_u64(), value.as_f64()) {
        (Some(number), _) => u32::try_from(number).ok(),
        // Exact: the range is asked first.
        (None, Some(float)) if (0.0..=f64::from(u32::MAX)).contains(&float) && float.fract() == 0.0 => {
            Some(float as u32)
        }
        _ => None,
    }
}

fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(MOST_SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// The fields of an object that have not been taken yet.
pub(super) struct Fields {
    at: String,
    map: Map<String, Value>,
}

impl Fields {
    /// The fields of the object at this path; none, and a fault, where it is no object.
    pub(super) fn of(document: Value, at: &str, faults: &mut Faults) -> Self {
        let map = match document {
            Value::Object(map) => map,
            other => {
                faults.expected::<()>(at, "a JSON object", Some(&other));
                Map::new()
            }
        };
        Self { at: at.to_owned(), map }
    }

    fn path(&self, name: &str) -> String {
        if self.at.is_empty() { name.to_owned() } else { format!("{}.{name}", self.at) }
    }

    pub(super) fn take(&mut self, name: &str) -> Option<Value> {
        self.map.remove(name)
    }

    /// A text that has to be there.
    pub(super) fn text(
        &mut self,
        name: &str,
        expected: &str,
        is_sound: impl Fn(&str) -> bool,
        faults: &mut Faults,
    ) -> Option<String> {
        let value = self.take(name);
        self.sound(name, value, expected, is_sound, faults)
    }

    /// A text that has to be there and is never shown.
    pub(super) fn secret(&mut self, name: &str, faults: &mut Faults) -> Option<String> {
        match self.take(name) {
            Some(Value::String(text)) if !text.is_empty() => Some(text),
            _ => {
                faults.add(&self.path(name), "expected a text that is not empty");
                None
            }
        }
    }

    /// A text that may be absent, or `null`.
    pub(super) fn optional_text(
        &mut self,
        name: &str,
        expected: &str,
        is_sound: impl Fn(&str) -> bool,
        faults: &mut Faults,
    ) -> Option<String> {
        let value = self.take(name).filter(|value| !value.is_null())?;
        self.sound(name, Some(value), expected, is_sound, faults)
    }

    fn sound(
        &self,
        name: &str,
        value: Option<Value>,
        expected: &str,
        is_sound: impl Fn(&str) -> bool,
        faults: &mut Faults,
    ) -> Option<String> {
        match value {
            Some(Value::String(text)) if is_sound(&text) => Some(text),
            other => faults.expected(&self.path(name), expected, other.as_ref()),
        }
    }

    /// A whole number that has to be there.
    pub(super) fn number(
        &mut self,
        name: &str,
        range: RangeInclusive<u32>,
        faults: &mut Faults,
    ) -> Option<u32> {
        let value = self.take(name);
        let number = value.as_ref().and_then(whole);
        number.filter(|number| range.contains(number)).or_else(|| {
            let expected = format!("a whole number from {} to {}", range.start(), range.end());
            faults.expected(&self.path(name), &expected, value.as_ref())
        })
    }

    /// A list that may be absent; each element is read by `parse`.
    pub(super) fn list<T>(
        &mut self,
        name: &str,
        most: usize,
        faults: &mut Faults,
        parse: impl Fn(Value, &str, &mut Faults) -> Option<T>,
    ) -> Vec<T> {
        let path = self.path(name);
        match self.take(name) {
            None => Vec::new(),
            Some(Value::Array(values)) if values.len() <= most => {
                let read = |(number, value)| parse(value, &format!("{path}[{number}]"), faults);
                values.into_iter().enumerate().filter_map(read).collect()
            }
            Some(Value::Array(values)) => {
                faults.add(&path, format_args!("expected at most {most} elements, got {}", values.len()));
                Vec::new()
            }
            Some(other) => {
                faults.expected::<()>(&path, "a list", Some(&other));
                Vec::new()
            }
        }
    }

    /// Whatever is left is a field that nobody asked for: a misspelt option must not be lost in silence.
    pub(super) fn end(self, faults: &mut Faults) {
        for name in self.map.keys() {
            faults.add(&self.path(&shown(name).escape_debug().to_string()), "no such field");
        }
    }
}
