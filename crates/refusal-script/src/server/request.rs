//! Reading requests: HTTP/1.1 and 1.0, within hard limits, each byte stamped when it was read.

use std::collections::VecDeque;

use sha2::{Digest, Sha256};
use tokio::io::AsyncReadExt;
use tokio::net::tcp::OwnedReadHalf;
use tokio::sync::mpsc;

use crate::clock::Clock;

/// Of the request line and all field lines together, in bytes.
const LARGEST_HEAD: usize = 64 * 1024;
/// In bytes. It is hashed as it comes and not kept, so this bounds time and not memory.
const LARGEST_BODY: u64 = 64 * 1024 * 1024;
/// What one read takes at the most, in bytes.
const PIECE: usize = 16 * 1024;
/// Pieces that wait to be parsed; beyond it the socket itself holds the client back.
const PIECES: usize = 8;

/// The head of a request, as received.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) method: String,
    pub(super) target: String,
    pub(super) fields: Vec<(String, String)>,
    pub(super) keep_alive: bool,
    pub(super) wants_continue: bool,
    framing: Framing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    Length(u64),
    Chunked,
}

/// The body of a request, hashed while it was read.
#[derive(Debug)]
pub(super) struct BodyRead {
    pub(super) bytes: u64,
    pub(super) sha256: String,
    pub(super) complete: bool,
}

/// The bytes of one connection.
///
/// They are read by a task of their own, so that a request that arrives while an answer is still being
/// written has the stamp of its arrival.
#[derive(Debug)]
pub(super) struct Requests {
    pieces: mpsc::Receiver<(u64, Vec<u8>)>,
    waiting: VecDeque<(u64, VecDeque<u8>)>,
}

/// Reads a connection until it ends or nobody wants its bytes any more.
pub(super) async fn read(mut half: OwnedReadHalf, clock: Clock, pieces: mpsc::Sender<(u64, Vec<u8>)>) {
    loop {
        let mut piece = vec![0; PIECE];
        match half.read(&mut piece).await {
            Ok(0) | Err(_) => return,
            Ok(length) => {
                let at_us = clock.at_us();
                piece.truncate(length);
                if pieces.send((at_us, piece)).await.is_err() {
                    return;
                }
            }
        }
    }
}

impl Requests {
    pub(super) fn channel() -> (mpsc::Sender<(u64, Vec<u8>)>, Self) {
        let (sender, pieces) = mpsc::channel(PIECES);
        (sender, Self { pieces, waiting: VecDeque::new() })
    }

    /// The next head and the stamp of its first byte; `None` at the end of the connection.
    ///
    /// # Errors
    ///
    /// What is wrong with the bytes; the connection is of no use afterwards.
    pub(super) async fn head(&mut self) -> Result<Option<(u64, Head)>, String> {
        let mut room = LARGEST_HEAD;
        // Empty lines before a request are to be ignored (RFC 9112 section 2.2).
        let (at_us, start) = loop {
            let Some(at_us) = self.next_stamp().await else { return Ok(None) };
            let line = self.line(&mut room).await?;
            if !line.is_empty() {
                break (at_us, line);
            }
        };
        let mut words = start.split(' ');
        let (Some(method), Some(target), Some(version), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(format!("expected a request line, got {:?}", shorten(&start)));
        };
        if version != "HTTP/1.1" && version != "HTTP/1.0" {
            return Err(format!("expected HTTP/1.1 or HTTP/1.0, got {:?}", shorten(version)));
        }
        let mut fields = Vec::new();
        loop {
            let line = self.line(&mut room).await?;
            if line.is_empty() {
                break;
            }
            let Some((name, value)) = line.split_once(':') else {
                return Err(format!("expected a field line, got {:?}", shorten(&line)));
            };
            fields.push((name.to_owned(), value.trim_matches([' ', '\t']).to_owned()));
        }
        let framing = framing(&fields)?;
        let has = |name: &str, token: &str| {
            fields.iter().any(|(field, value)| {
                field.eq_ignore_ascii_case(name)
                    && value.split(',').any(|member| member.trim().eq_ignore_ascii_case(token))
            })
        };
        let keep_alive =
            if version == "HTTP/1.1" { !has("connection", "close") } else { has("connection", "keep-alive") };
        let wants_continue = has("expect", "100-continue") && framing != Framing::Length(0);
        let (method, target) = (method.to_owned(), target.to_owned());
        Ok(Some((at_us, Head { method, target, fields, keep_alive, wants_continue, framing })))
    }

    /// Reads the body that a head announces.
    pub(super) async fn body(&mut self, head: &Head) -> BodyRead {
        let mut hash = Sha256::new();
        let mut bytes = 0;
        let complete = match head.framing {
            Framing::Length(length) => self.content(length, &mut hash, &mut bytes).await,
            Framing::Chunked => self.chunks(&mut hash, &mut bytes).await.unwrap_or(false),
        };
        let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        BodyRead { bytes, sha256, complete }
    }

    async fn content(&mut self, length: u64, hash: &mut Sha256, bytes: &mut u64) -> bool {
        let mut left = length;
        while left > 0 {
            let want = usize::try_from(left).unwrap_or(usize::MAX);
            let Some(piece) = self.some(want).await else { return false };
            hash.update(&piece);
            left -= piece.len() as u64;
            *bytes += piece.len() as u64;
        }
        true
    }

    async fn chunks(&mut self, hash: &mut Sha256, bytes: &mut u64) -> Result<bool, String> {
        let mut room = LARGEST_HEAD;
        loop {
            let line = self.line(&mut room).await?;
            let digits = line.split(';').next().unwrap_or_default().trim();
            let length = u64::from_str_radix(digits, 16).map_err(|_| "expected a chunk size".to_owned())?;
            if length.saturating_add(*bytes) > LARGEST_BODY {
                return Err(format!("expected at most {LARGEST_BODY} bytes of content"));
            }
            if length == 0 {
                while !self.line(&mut room).await?.is_empty() {}
                return Ok(true);
            }
            // Each chunk has room for its own line again; the content is what is bounded.
            room = LARGEST_HEAD;
            if !self.content(length, hash, bytes).await || !self.line(&mut room).await?.is_empty() {
                return Ok(false);
            }
        }
    }

    /// Throws away what still comes, until the client stops.
    pub(super) async fn drain(&mut self) {
        self.waiting.clear();
        let mut left = LARGEST_BODY;
        while let Some((_, piece)) = self.pieces.recv().await {
            left = left.saturating_sub(piece.len() as u64);
            if left == 0 {
                return;
            }
        }
    }

    /// The stamp of the next byte, once it is there.
    async fn next_stamp(&mut self) -> Option<u64> {
        while self.waiting.front().is_none_or(|(_, bytes)| bytes.is_empty()) {
            self.waiting.pop_front();
            let (at_us, piece) = self.pieces.recv().await?;
            self.waiting.push_back((at_us, piece.into()));
        }
        self.waiting.front().map(|(at_us, _)| *at_us)
    }

    async fn some(&mut self, want: usize) -> Option<Vec<u8>> {
        self.next_stamp().await?;
        let (_, bytes) = self.waiting.front_mut()?;
        let length = want.min(bytes.len());
        Some(bytes.drain(..length).collect())
    }

    async fn byte(&mut self) -> Option<u8> {
        self.next_stamp().await?;
        self.waiting.front_mut()?.1.pop_front()
    }

    /// One line without its end, bytes as code points 0 to 255.
    async fn line(&mut self, room: &mut usize) -> Result<String, String> {
        let mut line = String::new();
        loop {
            let Some(byte) = self.byte().await else {
                return Err(format!("the connection ended within a head, after {:?}", shorten(&line)));
            };
            *room = room
                .checked_sub(1)
                .ok_or_else(|| format!("expected a head of at most {LARGEST_HEAD} bytes"))?;
            if byte == b'\n' {
                if line.ends_with('\r') {
                    line.pop();
                }
                return Ok(line);
            }
            line.push(char::from(byte));
        }
    }
}

fn framing(fields: &[(String, String)]) -> Result<Framing, String> {
    let values = |name: &'static str| {
        fields
            .iter()
            .filter(move |(field, _)| field.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    };
    let mut lengths = values("content-length");
    if let Some(coding) = values("transfer-encoding").next() {
        // Both together are how requests are smuggled (RFC 9112 section 6.3).
        if lengths.next().is_some() {
            return Err("expected one of Content-Length and Transfer-Encoding, got both".to_owned());
        }
        if !coding.eq_ignore_ascii_case("chunked") {
            return Err(format!("expected the transfer coding chunked, got {:?}", shorten(coding)));
        }
        return Ok(Framing::Chunked);
    }
    let Some(first) = lengths.next() else { return Ok(Framing::Length(0)) };
    if lengths.any(|other| other != first) {
        return Err("expected one Content-Length, got several".to_owned());
    }
    let digits = !first.is_empty() && first.bytes().all(|byte| byte.is_ascii_digit());
    match first.parse() {
        Ok(length) if digits && length <= LARGEST_BODY => Ok(Framing::Length(length)),
        _ => Err(format!("expected a Content-Length of at most {LARGEST_BODY}, got {:?}", shorten(first))),
    }
}

fn shorten(text: &str) -> String {
    text.chars().take(80).collect()
}
