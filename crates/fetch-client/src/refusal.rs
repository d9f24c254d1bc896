//! An answer that says no, and what of it a person is shown.

use std::fmt;
use std::time::Duration;

use http::{HeaderMap, Method, StatusCode};
use reqwest::Response;
use tokio::time::timeout;

use crate::transport::shown_url;

/// How much of a refusal's body is read: enough for any message a person would read, and for its mark.
const MAX_BODY: usize = 64 * 1024;
/// How long its body may take: the head has said when to come back, and that time runs already.
pub(crate) const BODY_TIME: Duration = Duration::from_secs(2);

/// An answer that says no: the server's own words, kept.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// What was asked: method and URL, as they may be shown.
    pub asked: String,
    /// The status.
    pub status: StatusCode,
    /// The server's name for this exchange.
    pub request_id: Option<String>,
    /// The server's own text, made safe for a terminal.
    pub text: String,
    /// The head, for those who want to read more.
    pub headers: HeaderMap,
}

impl Refusal {
    /// Takes an answer apart, its body within bounds.
    ///
    /// A body that cannot be read leaves the text empty: the head has said what matters.
    pub(crate) async fn read(method: &Method, response: Response) -> Self {
        Self::read_within(BODY_TIME, method, response).await
    }

    /// The same, where the body has this long and no longer.
    pub(crate) async fn read_within(time: Duration, method: &Method, mut response: Response) -> Self {
        let asked = format!("{method} {}", shown_url(response.url()));
        let status = response.status();
        let headers = response.headers().clone();
        let body = refused_body(&mut response, time).await;
        Self { asked, status, request_id: request_id(&headers), text: server_text(&body), headers }
    }

    /// Whether the hub has no such repository, or does not show it to us.
    pub(crate) fn is_not_found(&self) -> bool {
        self.status == StatusCode::NOT_FOUND
    }
}

/// What comes of a refusal's body within bounds of size and time. One that breaks off, or does not end, keeps what
/// came of it (F24): the head has decided.
pub(crate) async fn refused_body(response: &mut Response, time: Duration) -> Vec<u8> {
    let mut body = Vec::new();
    let _ = timeout(time, async {
        while body.len() < MAX_BODY
            && let Ok(Some(piece)) = response.chunk().await
        {
            body.extend_from_slice(&piece[..piece.len().min(MAX_BODY - body.len())]);
        }
    })
    .await;
    body
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} answered {}", self.asked, self.status.as_u16())?;
        match (self.text.is_empty(), self.status.canonical_reason()) {
            (false, _) => write!(formatter, ": {}", self.text)?,
            (true, Some(reason)) => write!(formatter, " {reason}")?,
            (true, None) => {}
        }
        match &self.request_id {
            Some(id) => write!(formatter, " (request {id})"),
            None => Ok(()),
        }
    }
}

fn request_id(headers: &HeaderMap) -> Option<String> {
    headers.get("x-request-id").and_then(|value| value.to_str().ok()).map(|text| printable(text, 128))
}

/// What a person should read of an error's body: the member that carries the sentence, or the text itself.
fn server_text(body: &[u8]) -> String {
    const MEMBERS: [&str; 4] = ["detail", "error", "message", "title"];
    let text = String::from_utf8_lossy(body);
    let sentence = serde_json::from_slice::<serde_json::Value>(body)
        .ok()
        .and_then(|json| MEMBERS.iter().find_map(|member| json.get(member)?.as_str().map(str::to_owned)));
    printable(sentence.as_deref().unwrap_or(&text), 1_000)
}

/// A server's text on one line and without what a terminal would obey.
pub(crate) fn printable(text: &str, most_characters: usize) -> String {
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c.is_control() || is_invisible(c)).collect();
    let line = words.iter().filter(|word| !word.is_empty()).copied().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most_characters) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Characters that show nothing and change how the rest is shown: a direction turned round, a tag.
fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn a_servers_text_neither_drives_a_terminal_nor_turns_it_round() {
        let hostile = "\u{1b}[31mred\r\nnext\u{9b}0m \u{202e}txt.exe\u{2066}a\u{200b}b\u{e0041}\0";
        assert_eq!(printable(hostile, 100), "[31mred next 0m txt.exe a b");
        assert_eq!(printable("größer – 大 …", 100), "größer – 大 …");
        assert_eq!(printable("four words are here", 9), "four word…");
    }
}
