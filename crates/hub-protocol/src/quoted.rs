//! Text from outside, in error messages.

/// A text from outside, as it appears in an error: quoted, escaped, and cut where it would drown the rest.
pub(crate) fn quoted(text: &str) -> String {
    const MAX_SHOWN: usize = 120;
    match text.char_indices().nth(MAX_SHOWN) {
        None => format!("\"{}\"", text.escape_debug()),
        Some((end, _)) => format!("\"{}…\" ({} bytes)", text[..end].escape_debug(), text.len()),
    }
}
