//! What changes from run to run, taken out of what people read.

/// Replaces ids, ports, request ids and fractions of seconds, and folders by their names.
pub(crate) fn redacted(text: &str, folders: &[(&std::path::Path, &str)]) -> String {
    let mut text = text.to_owned();
    for (folder, name) in folders {
        text = text.replace(&folder.display().to_string(), name);
    }
    let text = replace_after(&text, "sha256:", |c| c.is_ascii_hexdigit(), "ID");
    let text = replace_after(&text, "127.0.0.1:", |c| c.is_ascii_digit(), "PORT");
    let text = replace_after(&text, "(request ", |c| c.is_ascii_hexdigit(), "REQUEST");
    let text = replace_after(&text, "\"request_id\":\"", |c| c.is_ascii_hexdigit(), "REQUEST");
    let text = replace_after(&text, "\"waited_s\":", |c| c.is_ascii_digit() || c == '.', "WAITED");
    replace_after(&text, "; waited ", |c| c.is_ascii_digit() || c == '.', "WAITED")
}

/// Replaces the run of characters that belong to a value, after each `mark`.
fn replace_after(text: &str, mark: &str, belongs: impl Fn(char) -> bool, by: &str) -> String {
    let mut pieces = text.split(mark);
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let rest = piece.trim_start_matches(&belongs);
        out.push_str(mark);
        if rest.len() < piece.len() {
            out.push_str(by);
        }
        out.push_str(rest);
    }
    out
}
