//! How the demonstration is laid out.

use std::io::{IsTerminal, Write};
use std::time::Instant;

use e2e::clock;

/// What a terminal is sure to have.
const WIDTH: usize = 80;
/// Where what happened begins, after the time at which it did.
const EVENT: usize = 11;

/// What the reader sees: standard output, 80 columns wide.
#[derive(Debug)]
pub(crate) struct Page {
    start: Instant,
    styled: bool,
}

impl Page {
    pub(crate) fn new() -> Self {
        let styled = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        Self { start: clock::now(), styled }
    }

    /// The name of a part, or of a step of it.
    pub(crate) fn heading(&self, text: &str) {
        let (on, off) = if self.styled { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
        put(&format!("\n{on}{text}{off}\n"));
    }

    /// A paragraph.
    pub(crate) fn say(&self, text: &str) {
        put(&folded(text, 2, 2));
    }

    /// A point of a list.
    pub(crate) fn point(&self, text: &str) {
        put(&folded(&format!("* {text}"), 2, 4));
    }

    /// Something that has just happened.
    pub(crate) fn event(&self, text: &str) {
        let at = format!("{:6.2} s   ", clock::since(self.start).as_secs_f64());
        put(&folded(&format!("{at}{text}"), 0, EVENT));
    }

    /// Something that another program said, line by line.
    pub(crate) fn quote(&self, text: &str) {
        let margin = format!("{}| ", " ".repeat(EVENT));
        let room = WIDTH - margin.len();
        for line in text.lines() {
            if line.is_empty() {
                put(&format!("{}\n", margin.trim_end()));
                continue;
            }
            // What has no space to be folded at, such as an id beside an address, is cut.
            for line in folded_to(line, 0, 2, room).lines() {
                let mut rest: Vec<char> = line.chars().collect();
                while rest.len() > room {
                    let cut = rest.split_off(room);
                    put(&format!("{margin}{}\n", rest.into_iter().collect::<String>()));
                    rest = "  ".chars().chain(cut).collect();
                }
                put(&format!("{margin}{}\n", rest.into_iter().collect::<String>()));
            }
        }
    }

    /// Something to copy into a shell, in one piece.
    pub(crate) fn command(&self, text: &str) {
        put(&format!("    {text}\n"));
    }

    /// A name and a value, below one another.
    pub(crate) fn row(&self, name: &str, value: &str) {
        put(&folded(&format!("{name:<16}{value}"), 2, 18));
    }
}

/// A reader that has gone away wants no more of it.
fn put(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Breaks `text` at spaces, which it keeps as they are, into lines that fit the page.
fn folded(text: &str, first: usize, others: usize) -> String {
    folded_to(text, first, others, WIDTH)
}

fn folded_to(text: &str, first: usize, others: usize, most: usize) -> String {
    let mut out = " ".repeat(first);
    let mut column = first;
    let mut is_first_of_line = true;
    for word in text.split_inclusive(' ') {
        let width = columns(word.trim_end_matches(' '));
        if !is_first_of_line && column + width > most {
            out.truncate(out.trim_end_matches(' ').len());
            out.push('\n');
            out.push_str(&" ".repeat(others));
            column = others;
        }
        out.push_str(word);
        column += columns(word);
        is_first_of_line = false;
    }
    out.truncate(out.trim_end_matches(' ').len());
    out.push('\n');
    out
}

/// How wide text is on a terminal: the signs that the client puts before its lines take two columns.
fn columns(text: &str) -> usize {
    text.chars().map(|c| if matches!(c, '⏳' | '❌') { 2 } else { 1 }).sum()
}

/// A number of bytes, for a person.
pub(crate) fn bytes(count: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if count < 1_024 {
        return format!("{count} bytes");
    }
    let mut value = count as f64;
    let mut unit = "bytes";
    for larger in UNITS {
        if value < 1_024.0 {
            break;
        }
        value /= 1_024.0;
        unit = larger;
    }
    format!("{value:.1} {unit}")
}

/// A number and what there is that many of.
pub(crate) fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_folded_at_spaces_and_its_columns_stay() {
        let text = format!("name            {}", "word ".repeat(20));
        let folded = folded(&text, 2, 18);
        assert!(folded.lines().all(|line| line.len() <= WIDTH), "{folded}");
        assert!(folded.starts_with("  name            word word"), "{folded}");
        assert!(
            folded.lines().nth(1).is_some_and(|line| line.starts_with("                  word")),
            "{folded}"
        );
    }

    #[test]
    fn bytes_are_counted_in_the_unit_that_fits() {
        assert_eq!(
            [0, 1_023, 1_024, 64 << 20, 3 << 40].map(bytes),
            ["0 bytes", "1023 bytes", "1.0 KiB", "64.0 MiB", "3.0 TiB"]
        );
    }
}
