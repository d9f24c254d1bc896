//! Writing answers, to the byte.

use std::io;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::tcp::OwnedWriteHalf;

use super::recorder::AnswerTime;
use crate::case::{Base, Connection, HeaderValue, Step, Trickle, latin1};
use crate::date;

/// A client that has the head already does not lose it to the reset that follows.
const BEFORE_RESET: Duration = Duration::from_millis(50);

/// The head of a step's answer.
pub(super) fn head(step: &Step, time: AnswerTime) -> Vec<u8> {
    if let Some(raw) = &step.raw_head {
        return latin1(raw);
    }
    let status = step.status.unwrap_or(200);
    let mut head = start(status);
    fields(&mut head, &step.headers, time);
    let has = |name: &str| step.headers.iter().any(|(field, _)| field.eq_ignore_ascii_case(name));
    let bodiless = matches!(status, 204 | 304);
    if !bodiless && !has("content-length") && !has("transfer-encoding") {
        line(&mut head, "Content-Length", step.body.bytes().len().to_string().as_bytes());
    }
    if step.connection == Connection::Close && !has("connection") {
        line(&mut head, "Connection", b"close");
    }
    head.extend_from_slice(b"\r\n");
    head
}

/// `200 OK` behind a script, and `404` for what is none of its business.
pub(super) fn plain(status: u16, body: &str) -> Vec<u8> {
    let mut head = start(status);
    line(&mut head, "Content-Type", b"text/plain");
    line(&mut head, "Content-Length", body.len().to_string().as_bytes());
    head.extend_from_slice(b"\r\n");
    head
}

/// Writes the interim responses of a step.
pub(super) async fn interim(half: &mut OwnedWriteHalf, step: &Step, time: AnswerTime) -> io::Result<()> {
    for interim in &step.interim {
        let mut head = start(interim.status);
        fields(&mut head, &interim.headers, time);
        head.extend_from_slice(b"\r\n");
        half.write_all(&head).await?;
        tokio::time::sleep(Duration::from_millis(interim.then_wait_ms.into())).await;
    }
    Ok(())
}

/// Writes a body and says how much of it went out.
pub(super) async fn body(
    half: &mut OwnedWriteHalf,
    body: &[u8],
    trickle: Option<Trickle>,
) -> (u64, io::Result<()>) {
    let Some(Trickle { chunk_bytes, every_ms }) = trickle else {
        return match half.write_all(body).await {
            Ok(()) => (body.len() as u64, Ok(())),
            Err(error) => (0, Err(error)),
        };
    };
    let mut written = 0;
    for piece in body.chunks(usize::try_from(chunk_bytes).unwrap_or(usize::MAX).max(1)) {
        if let Err(error) = half.write_all(piece).await {
            return (written, Err(error));
        }
        written += piece.len() as u64;
        tokio::time::sleep(Duration::from_millis(every_ms.into())).await;
    }
    (written, Ok(()))
}

/// Lets the client read what was written, then sees to it that closing the socket resets it.
pub(super) async fn prepare_reset(half: &OwnedWriteHalf) {
    tokio::time::sleep(BEFORE_RESET).await;
    // A socket that is gone already needs no reset.
    let _ = half.as_ref().set_zero_linger();
}

fn start(status: u16) -> Vec<u8> {
    format!("HTTP/1.1 {status} {}\r\n", reason_phrase(status)).into_bytes()
}

fn fields(head: &mut Vec<u8>, fields: &[(String, HeaderValue)], time: AnswerTime) {
    for (name, value) in fields {
        match value {
            HeaderValue::Literal(text) => line(head, name, &latin1(text)),
            HeaderValue::Date(template) => {
                let base_ms = match template.base {
                    Base::Now => time.unix_ms,
                    Base::FirstAnswer => time.first_answer_unix_ms,
                };
                let unix = base_ms.div_euclid(1_000).saturating_add(template.offset_s);
                line(head, name, date::format(unix, template.form).as_bytes());
            }
        }
    }
}

fn line(head: &mut Vec<u8>, name: &str, value: &[u8]) {
    head.extend_from_slice(name.as_bytes());
    head.extend_from_slice(b": ");
    head.extend_from_slice(value);
    head.extend_from_slice(b"\r\n");
}

/// For people who read a capture; clients are to ignore it (RFC 9112 section 4).
fn reason_phrase(status: u16) -> &'static str {
    match status {
        100 => "Continue",
        102 => "Processing",
        103 => "Early Hints",
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        204 => "No Content",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        408 => "Request Timeout",
        409 => "Conflict",
        413 => "Content Too Large",
        425 => "Too Early",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        507 => "Insufficient Storage",
        _ => "Unassigned",
    }
}
