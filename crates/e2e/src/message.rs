//! As much of HTTP/1.1 as it takes to watch others speak it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use anyhow::Context;

use crate::process::PATIENCE;

/// The first line and the fields of a request or an answer, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    text: String,
}

impl Head {
    /// All of it, without the empty line at its end. Bytes that are no UTF-8 are replaced.
    #[must_use]
    pub fn text(&self) -> &str {
        self.text.trim_end()
    }

    /// The request line or the status line.
    #[must_use]
    pub fn first_line(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }

    /// The values of the field lines of this name, in their order.
    pub fn fields<'a, 'n>(&'a self, name: &'n str) -> impl Iterator<Item = &'a str> + use<'a, 'n> {
        self.text.lines().skip(1).filter_map(move |line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// The value of the first field line of this name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields(name).next()
    }

    /// The status of an answer.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.first_line().strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok()
    }

    /// The method and the target of a request, without its query, where signatures are.
    #[must_use]
    pub fn asked(&self) -> &str {
        let line = self.first_line();
        let end = line.find('?').or_else(|| line.rfind(" HTTP/")).unwrap_or(line.len());
        &line[..end]
    }

    /// How long the body is; `None` where it lasts until the connection ends or comes in chunks.
    fn body_length(&self) -> Option<u64> {
        let is_bare = match self.status() {
            Some(status) => status < 200 || matches!(status, 204 | 304),
            None => self.field("transfer-encoding").is_none() && self.field("content-length").is_none(),
        };
        if is_bare { Some(0) } else { self.field("content-length")?.parse().ok() }
    }
}

/// What a [`Follower`] has seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// A whole head.
    Head(Head),
    /// The end of the body that followed it: its beginning, up to 64 KiB.
    Body(Vec<u8>),
}

/// Finds the messages in one direction of a connection.
#[derive(Debug)]
pub struct Follower {
    state: State,
}

#[derive(Debug)]
enum State {
    Head(Vec<u8>),
    Body {
        left: u64,
        kept: Vec<u8>,
    },
    /// A body that has no length: the rest of the connection is not looked at.
    Lost,
}

const KEPT: usize = 64 * 1_024;

impl Default for Follower {
    fn default() -> Self {
        Self { state: State::Head(Vec::new()) }
    }
}

impl Follower {
    /// Takes the next bytes of the connection and says what ends in them.
    pub fn follow(&mut self, mut bytes: &[u8]) -> Vec<Seen> {
        let mut seen = Vec::new();
        loop {
            match &mut self.state {
                State::Lost => return seen,
                State::Head(begun) => {
                    let had = begun.len();
                    begun.extend_from_slice(bytes);
                    let Some(end) = begun.windows(4).position(|window| window == b"\r\n\r\n") else {
                        return seen;
                    };
                    let end = end + 4;
                    let head = Head { text: String::from_utf8_lossy(&begun[..end]).into_owned() };
                    bytes = &bytes[end - had..];
                    self.state = match head.body_length() {
                        Some(left) => State::Body { left, kept: Vec::new() },
                        None => State::Lost,
                    };
                    seen.push(Seen::Head(head));
                }
                State::Body { left, kept } => {
                    let part = usize::try_from(*left).map_or(bytes.len(), |left| left.min(bytes.len()));
                    kept.extend_from_slice(&bytes[..part.min(KEPT - kept.len())]);
                    *left -= part as u64;
                    bytes = &bytes[part..];
                    if *left > 0 {
                        return seen;
                    }
                    seen.push(Seen::Body(std::mem::take(kept)));
                    self.state = State::Head(Vec::new());
                }
            }
        }
    }
}

/// Sends one request with a JSON body over a connection of its own, and returns the whole answer.
///
/// # Errors
///
/// When no complete answer comes.
pub fn ask(server: SocketAddr, request_line: &str, json: &str) -> anyhow::Result<(Head, String)> {
    let exchange = || -> anyhow::Result<(Head, String)> {
        let mut connection = TcpStream::connect(server)?;
        connection.set_read_timeout(Some(PATIENCE))?;
        write!(
            connection,
            "{request_line} HTTP/1.1\r\nHost: {server}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{json}",
            json.len()
        )?;
        let mut answer = Vec::new();
        connection.read_to_end(&mut answer)?;
        let mut seen = Follower::default().follow(&answer).into_iter();
        match (seen.next(), seen.next()) {
            (Some(Seen::Head(head)), Some(Seen::Body(body))) => Ok((head, String::from_utf8(body)?)),
            _ => anyhow::bail!("expected an answer, got {:?}", String::from_utf8_lossy(&answer)),
        }
    };
    exchange().with_context(|| format!("{request_line} at {server}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &[u8] =
        b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\ncontent-length: 5\r\n\r\nlater\
        HTTP/1.1 204 No Content\r\n\r\n";

    #[test]
    fn messages_are_found_however_they_are_cut_up() {
        let whole = Follower::default().follow(TWO);
        assert_eq!(whole.len(), 4);
        assert!(matches!(&whole[0], Seen::Head(head) if head.status() == Some(503)
            && head.field("retry-after") == Some("1")));
        assert_eq!(whole[1], Seen::Body(b"later".to_vec()));
        assert_eq!(whole[3], Seen::Body(Vec::new()));
        for size in 1..TWO.len() {
            let mut follower = Follower::default();
            let pieces: Vec<Seen> = TWO.chunks(size).flat_map(|piece| follower.follow(piece)).collect();
            assert_eq!(pieces, whole, "in pieces of {size}");
        }
    }

    #[test]
    fn a_target_is_shown_without_its_signature() {
        let seen = Follower::default().follow(b"GET /a/b?signature=secret HTTP/1.1\r\n\r\n");
        let Seen::Head(head) = &seen[0] else { panic!("expected a head") };
        assert_eq!(head.asked(), "GET /a/b");
    }
}
