//! A pack on its way from the hub into the staging directory.
//!
//! The connection is read by one task, and the pack decoded, checked and written by another: a bounded channel
//! between them keeps both busy and memory small.

use std::io::{self, Read};

use bytes::{Buf, Bytes};
use http::StatusCode;
use http::header::CONTENT_RANGE;
use hub_protocol::{FetchAnswer, Summary};
use reqwest::Response;
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;
use url::Url;

use crate::errors::{DownloadFault, Error};
use crate::hub::Hub;
use crate::progress::{Direction, Transfer};
use crate::repository::{Staging, receive_pack};
use crate::session::Session;
use crate::transport::{deepest_cause, shown_url, unless_cancelled};

/// How many pieces of the connection's size may wait to be decoded.
const PIECES_IN_FLIGHT: usize = 16;
/// How often a download that was cut off is carried on from where it ended.
const MAX_RESUMPTIONS: u32 = 3;

/// Downloads the pack of `answer` into `staging`, which is handed back.
///
/// What was promised is held against what comes: the length before the first byte is taken, the id after the last.
pub(crate) async fn download_pack(
    session: &Session,
    hub: &Hub<'_>,
    answer: &FetchAnswer,
    mut staging: Staging,
) -> Result<(Summary, Staging), Error> {
    let url = hub.address().presigned(&answer.url)?;
    staging.check_fits(answer.size)?;
    let (sender, receiver) = mpsc::channel(PIECES_IN_FLIGHT);
    let cancel = session.cancel().clone();
    let decoding = spawn_blocking(move || {
        let received = receive_pack(PieceReader { receiver, piece: Bytes::new() }, &mut staging, &cancel);
        (received, staging)
    });
    // The sender is dropped at its end, which is the end of the pack for the task that decodes.
    let transferred = unless_cancelled(session.cancel(), transfer(session, hub, &url, answer, sender)).await;
    let (received, staging) = decoding.await?;
    // When the transfer failed, what decoding says of the cut-off pack is only a consequence of it.
    transferred.flatten()?;
    let summary = received?;
    if summary.mpack_id != answer.mpack_id {
        let fault = DownloadFault::Altered { actual: summary.mpack_id, promised: answer.mpack_id };
        return Err(Error::Download { url: shown_url(&url), fault });
    }
    Ok((summary, staging))
}

/// Carries the promised bytes from the connection into the channel.
async fn transfer(
    session: &Session,
    hub: &Hub<'_>,
    url: &Url,
    answer: &FetchAnswer,
    sender: mpsc::Sender<Bytes>,
) -> Result<(), Error> {
    let promised = answer.size;
    let failed = |fault| Error::Download { url: shown_url(url), fault };
    let mut received = 0;
    let mut response = hub.download(url, 0).await?;
    for resumptions in 0.. {
        let began_at = received;
        let announced = announced_length(&response, began_at);
        if let Some(announced) = announced.filter(|announced| *announced != promised) {
            return Err(failed(DownloadFault::Length { announced, promised }));
        }
        // A server without ranges starts again from the beginning; what has come already is passed over.
        let mut passed_over = if response.status() == StatusCode::PARTIAL_CONTENT { 0 } else { began_at };
        let cause = loop {
            let mut piece = match response.chunk().await {
                Ok(Some(piece)) => piece,
                Ok(None) => break "the server ended it".to_owned(),
                Err(error) => break deepest_cause(&error),
            };
            let skipped = passed_over.min(piece.len() as u64);
            passed_over -= skipped;
            piece.advance(usize::try_from(skipped).expect("no more than the length of the piece"));
            if piece.is_empty() {
                continue;
            }
            received += piece.len() as u64;
            if received > promised {
                return Err(failed(DownloadFault::TooLong { promised }));
            }
            session.observer().transferred(&Transfer {
                direction: Direction::Download,
                done: received,
                total: promised,
            });
            if sender.send(piece).await.is_err() {
                // Decoding has refused the pack, and says why.
                return Ok(());
            }
        };
        if received == promised {
            return Ok(());
        }
        let cut = failed(DownloadFault::Cut { received, promised, cause });
        if resumptions == MAX_RESUMPTIONS || received == began_at {
            return Err(cut);
        }
        // Why it cannot be carried on matters less than that it was cut off.
        response = hub.download(url, received).await.map_err(|_| cut)?;
    }
    unreachable!("the last resumption returns")
}

/// What the head says about the length of the whole pack.
///
/// A part that does not say that it starts where the last one ended would splice the pack wrongly: whatever length
/// it announces, it is as good as none.
fn announced_length(response: &Response, began_at: u64) -> Option<u64> {
    if response.status() != StatusCode::PARTIAL_CONTENT {
        return response.content_length();
    }
    let range = response.headers().get(CONTENT_RANGE).and_then(|range| range.to_str().ok());
    let parts = range.and_then(|range| range.strip_prefix("bytes ")?.split_once('/'));
    match parts {
        Some((place, whole)) if place.starts_with(&format!("{began_at}-")) => whole.parse().ok(),
        _ => Some(0),
    }
}

/// Reads what comes through the channel; its end is the end of the pack.
struct PieceReader {
    receiver: mpsc::Receiver<Bytes>,
    piece: Bytes,
}

impl Read for PieceReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.piece.is_empty() {
            match self.receiver.blocking_recv() {
                Some(piece) => self.piece = piece,
                None => return Ok(0),
            }
        }
        let count = self.piece.len().min(buffer.len());
        self.piece.copy_to_slice(&mut buffer[..count]);
        Ok(count)
    }
}
