//! HTTP/1.1 by hand, for the built-in clients: one connection a request, nothing hidden.

use std::io;

use http::{HeaderMap, HeaderName, HeaderValue};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const LARGEST_HEAD: usize = 64 * 1_024;

/// Where a request goes.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) authority: String,
    pub(super) path: String,
}

impl Target {
    /// From the URL of a server of this program.
    pub(super) fn of(url: &str) -> Self {
        let rest = url.strip_prefix("http://").unwrap_or(url);
        match rest.find('/') {
            Some(slash) => {
                let (authority, path) = rest.split_at(slash);
                Self { authority: authority.to_owned(), path: path.to_owned() }
            }
            None => Self { authority: rest.to_owned(), path: "/".to_owned() },
        }
    }
}

/// The head of an answer, and the connection that its body may still come from.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    stream: TcpStream,
    body: Vec<u8>,
}

impl Answer {
    /// Up to `most` bytes of the body.
    pub(super) async fn body(mut self, most: usize) -> Vec<u8> {
        let announced = self
            .headers
            .get(http::header::CONTENT_LENGTH)
            .and_then(|value| value.to_str().ok()?.parse().ok());
        let want = announced.unwrap_or(most).min(most);
        while self.body.len() < want {
            match self.stream.read_buf(&mut self.body).await {
                Ok(1..) => {}
                _ => break,
            }
        }
        self.body.truncate(want);
        self.body
    }
}

/// Sends a request and reads the final head; interim responses are passed over.
pub(super) async fn exchange(target: &Target, method: &str, body: Option<&[u8]>) -> io::Result<Answer> {
    let mut stream = TcpStream::connect(&target.authority).await?;
    stream.set_nodelay(true)?;
    let mut request =
        format!("{method} {} HTTP/1.1\r\nHost: {}\r\n", target.path, target.authority).into_bytes();
    if let Some(body) = body {
        request.extend_from_slice(
            format!("Content-Type: application/octet-stream\r\nContent-Length: {}\r\n", body.len())
                .as_bytes(),
        );
    }
    request.extend_from_slice(b"Connection: close\r\n\r\n");
    request.extend_from_slice(body.unwrap_or_default());
    // An early refusal may end the sending; what counts is the answer.
    let sent = stream.write_all(&request).await;
    let mut read = Vec::new();
    loop {
        while let Some(end) = head_end(&read) {
            let rest = read.split_off(end);
            let (status, headers) = parse(&read)?;
            if status >= 200 {
                return Ok(Answer { status, headers, stream, body: rest });
            }
            read = rest;
        }
        if read.len() > LARGEST_HEAD {
            return Err(io::Error::other("expected a head of at most 64 KiB"));
        }
        if stream.read_buf(&mut read).await? == 0 {
            sent?;
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

fn head_end(read: &[u8]) -> Option<usize> {
    read.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4)
}

fn parse(head: &[u8]) -> io::Result<(u16, HeaderMap)> {
    let bad = || io::Error::other("expected the head of an HTTP/1.1 response");
    let mut lines = head.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let start = lines.next().ok_or_else(bad)?;
    let status =
        start.get(9..12).and_then(|digits| str::from_utf8(digits).ok()?.parse().ok()).ok_or_else(bad)?;
    let mut headers = HeaderMap::new();
    for line in lines.filter(|line| !line.is_empty()) {
        let colon = line.iter().position(|byte| *byte == b':').ok_or_else(bad)?;
        let (name, value) = line.split_at(colon);
        let name = HeaderName::from_bytes(name).map_err(|_| bad())?;
        let value = value.get(1..).unwrap_or_default().trim_ascii();
        headers.append(name, HeaderValue::from_bytes(value).map_err(|_| bad())?);
    }
    Ok((status, headers))
}
