//! Objects, lists and strings as text, now and then not as the rules want them.

use super::draw::Draw;

/// Values of every type, for where another is wanted.
const STRAYS: [&str; 16] = [
    "null",
    "true",
    "false",
    "0",
    "1",
    "-1",
    "1.0",
    "0.5",
    "1e3",
    "1001",
    "600",
    "\"\"",
    "\"x\"",
    "[]",
    "{}",
    "9223372036854775807",
];

/// An object with these members; one in 300 has a stray value, lacks a member, or has one more.
pub(super) fn object(draw: &mut Draw, mut members: Vec<(&str, String)>) -> String {
    if draw.one_in(300) && !members.is_empty() {
        let index = draw.index(members.len());
        let stray = draw.of(&STRAYS).to_owned();
        match draw.below(4) {
            0 => drop(members.remove(index)),
            1 => members.push((draw.of(&["note", "floor", "", "status"]), stray)),
            2 => members.push((members[index].0, stray)),
            _ => members[index].1 = stray,
        }
    }
    if draw.one_in(8) {
        members.reverse();
    }
    let members: Vec<_> = members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
    format!("{{{}}}", members.join(","))
}

pub(super) fn list(members: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", members.into_iter().collect::<Vec<_>>().join(","))
}

/// A string whose code points are `bytes`.
pub(super) fn bytes(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for byte in bytes {
        match byte {
            b'"' | b'\\' => text.extend(['\\', char::from(*byte)]),
            0..0x20 | 0x7f.. => text.push_str(&format!("\\u{byte:04x}")),
            _ => text.push(char::from(*byte)),
        }
    }
    text.push('"');
    text
}

pub(super) fn name(name: &str) -> String {
    bytes(name.as_bytes())
}

/// `text` with one character changed, added or taken away.
pub(super) fn misspelt(draw: &mut Draw, text: &str) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    let place = draw.index(characters.len());
    let stray = draw.of(&['"', ',', ':', '{', '}', '[', ']', '0', '9', '-', '.', 'e', 'x', ' ', 'ÿ', '€']);
    match draw.below(3) {
        0 => drop(characters.remove(place)),
        1 => characters.insert(place, stray),
        _ => characters[place] = stray,
    }
    characters.into_iter().collect()
}
