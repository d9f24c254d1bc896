//! What changes from run to run, taken out of what people read.

/// Replaces ids, ports, request ids and fractions of seconds, and folders by their names.
pub(crate) fn redacted(text: &str, folders: &[(&std::path::Path, &str)]) -> String {
    let mut text = text.to_owned();
    for (folder, name) in folders {
        text = text.replace(&folder.display().to_string(), name);
    }
    let digit = |c: char| c.is_ascii_digit();
    let hex_digit = |c: char| c.is_ascii_hexdigit();
    let number = |c: char| c.is_ascii_digit() || c == '.';
    let text = replace_after(&text, "sha256:", 64, hex_digit, "ID");
    let text = replace_after(&text, "127.0.0.1:", 1, digit, "PORT");
    // A pack holds the time of its commits, compressed.
    let text = replace_after(&text, "sent ", 1, digit, "SIZE");
    let text = replace_after(&text, " object, ", 1, digit, "SIZE");
    let text = replace_after(&text, "(request ", 32, hex_digit, "REQUEST");
    let text = replace_after(&text, "\"request_id\":\"", 32, hex_digit, "REQUEST");
    let text = replace_after(&text, "\"waited_s\":", 1, number, "WAITED");
    replace_after(&text, "; waited ", 1, number, "WAITED")
}

/// Replaces the run of at least so many characters that belong to a value, after each `mark`.
fn replace_after(text: &str, mark: &str, least: usize, belongs: impl Fn(char) -> bool, by: &str) -> String {
    let mut pieces = text.split(mark);
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let rest = piece.trim_start_matches(&belongs);
        out.push_str(mark);
        if piece.len() - rest.len() >= least {
            out.push_str(by);
            out.push_str(rest);
        } else {
            out.push_str(piece);
        }
    }
    out
}
