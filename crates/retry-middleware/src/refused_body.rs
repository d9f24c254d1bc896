//! The body of a refusal: looked into for a marker, drained before a wait, handed on whole otherwise.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use retry_core::Monotonic;

use crate::carriers::LARGEST_MARKED_BODY;
use crate::clock::Clock;

/// At most this much is read and thrown away so that a connection can be used again, in bytes.
pub const LARGEST_DRAIN: usize = 64 * 1_024;

/// How long a drain may take.
const DRAIN_PATIENCE: Duration = Duration::from_secs(1);

/// A body that this crate may have looked into: it still yields everything, from the first byte on.
///
/// The exception: after a wait was cancelled, a body that was too large or too slow to be kept ends in
/// [`BodyGivenUp`].
pub struct RetryBody<B: Body> {
    read: VecDeque<Frame<Bytes>>,
    rest: Rest<B>,
}

enum Rest<B: Body> {
    Unread(B),
    Failed(Option<B::Error>),
    GivenUp,
    Ended,
}

impl<B: Body> std::fmt::Debug for RetryBody<B> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("RetryBody").field("frames_read", &self.read.len()).finish_non_exhaustive()
    }
}

/// The rest of a refusal's body was given up, because a wait was to follow; then that was cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BodyGivenUp;

impl std::fmt::Display for BodyGivenUp {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("the rest of the refusal's body was given up before the wait")
    }
}

impl std::error::Error for BodyGivenUp {}

impl<B: Body<Data = Bytes> + Unpin> RetryBody<B> {
    pub(crate) fn new(body: B) -> Self {
        Self { read: VecDeque::new(), rest: Rest::Unread(body) }
    }

    /// Reads until the whole is there, or more than fits, or `until`; and returns what was read if that is
    /// the whole.
    pub(crate) async fn marker(&mut self, until: Monotonic, clock: &impl Clock) -> Option<Vec<u8>> {
        if !self.read_up_to(LARGEST_MARKED_BODY, until, clock).await {
            return None;
        }
        let chunks: Vec<&[u8]> = self.read.iter().filter_map(Frame::data_ref).map(AsRef::as_ref).collect();
        Some(chunks.concat())
    }

    /// Reads the body to its end, so that its connection is free; drops it where that would take too much.
    pub(crate) async fn drain(&mut self, clock: &impl Clock) {
        let until = clock.monotonic().after(DRAIN_PATIENCE);
        if !self.read_up_to(LARGEST_DRAIN, until, clock).await && matches!(self.rest, Rest::Unread(_)) {
            self.rest = Rest::GivenUp;
        }
    }

    /// Whether the body ended, in at most `most` bytes, as many frames, and by `until`. What was read is kept.
    async fn read_up_to(&mut self, most: usize, until: Monotonic, clock: &impl Clock) -> bool {
        tokio::select! {
            biased;
            whole = self.read_on(most) => whole,
            () = clock.sleep_until(until) => false,
        }
    }

    async fn read_on(&mut self, most: usize) -> bool {
        let mut length: usize = self.read.iter().filter_map(Frame::data_ref).map(Bytes::len).sum();
        // Frames are counted, too: empty ones without end take memory, and time that no timer interrupts.
        while length <= most && self.read.len() <= most {
            let Rest::Unread(body) = &mut self.rest else { break };
            match body.frame().await {
                None => self.rest = Rest::Ended,
                Some(Err(error)) => self.rest = Rest::Failed(Some(error)),
                Some(Ok(frame)) => {
                    length += frame.data_ref().map_or(0, Bytes::len);
                    self.read.push_back(frame);
                }
            }
        }
        matches!(self.rest, Rest::Ended) && length <= most
    }
}

/// Errors are never pinned.
impl<B: Body + Unpin> Unpin for RetryBody<B> {}

impl<B> Body for RetryBody<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if let Some(frame) = self.read.pop_front() {
            return Poll::Ready(Some(Ok(frame)));
        }
        match &mut self.rest {
            Rest::Unread(body) => Pin::new(body).poll_frame(context).map_err(Into::into),
            Rest::Failed(error) => Poll::Ready(error.take().map(|error| Err(error.into()))),
            Rest::GivenUp => {
                self.rest = Rest::Ended;
                Poll::Ready(Some(Err(BodyGivenUp.into())))
            }
            Rest::Ended => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.read.is_empty()
            && match &self.rest {
                Rest::Unread(body) => body.is_end_stream(),
                Rest::Failed(error) => error.is_none(),
                Rest::GivenUp => false,
                Rest::Ended => true,
            }
    }

    fn size_hint(&self) -> SizeHint {
        let read: usize = self.read.iter().filter_map(Frame::data_ref).map(Bytes::len).sum();
        let read = u64::try_from(read).unwrap_or(u64::MAX);
        let rest = match &self.rest {
            Rest::Unread(body) => body.size_hint(),
            Rest::Ended => SizeHint::with_exact(0),
            Rest::Failed(_) | Rest::GivenUp => SizeHint::new(),
        };
        let mut hint = SizeHint::new();
        hint.set_lower(rest.lower().saturating_add(read));
        if let Some(upper) = rest.upper() {
            hint.set_upper(upper.saturating_add(read));
        }
        hint
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::Full;

    use super::*;
    use crate::clock::SystemClock;

    fn later() -> Monotonic {
        SystemClock.monotonic().after(Duration::from_secs(60))
    }

    async fn collected<B>(body: RetryBody<B>) -> Vec<u8>
    where
        B: Body<Data = Bytes> + Unpin,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        body.collect().await.unwrap().to_bytes().to_vec()
    }

    /// C2: the bound is inclusive, and what goes beyond is handed on all the same.
    #[tokio::test]
    async fn a_marked_body_may_be_exactly_as_long_as_its_bound() {
        for (length, whole) in [(LARGEST_MARKED_BODY, true), (LARGEST_MARKED_BODY + 1, false)] {
            let bytes = vec![b'x'; length];
            let mut body = RetryBody::new(Full::new(Bytes::from(bytes.clone())));
            let read = body.marker(later(), &SystemClock).await;
            assert_eq!(read.map(|read| read.len()), whole.then_some(length));
            assert_eq!(body.size_hint().exact(), Some(length as u64));
            assert_eq!(collected(body).await, bytes);
        }
    }

    /// The bound of a drain is inclusive, too; what goes beyond is given up.
    #[tokio::test]
    async fn a_drained_body_may_be_exactly_as_long_as_its_bound() {
        for (length, whole) in [(LARGEST_DRAIN, true), (LARGEST_DRAIN + 1, false)] {
            let mut body = RetryBody::new(Full::new(Bytes::from(vec![b'x'; length])));
            body.drain(&SystemClock).await;
            assert_eq!(body.collect().await.is_ok(), whole, "{length}");
        }
    }

    /// Empty frames, always ready, without end.
    struct Empties(usize);

    impl Body for Empties {
        type Data = Bytes;
        type Error = std::convert::Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _context: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
            self.0 += 1;
            assert!(self.0 < 1_000_000, "somebody reads on and on");
            Poll::Ready(Some(Ok(Frame::data(Bytes::new()))))
        }
    }

    #[tokio::test]
    async fn empty_frames_without_end_are_given_up() {
        let mut body = RetryBody::new(Empties(0));
        assert_eq!(body.marker(later(), &SystemClock).await, None);
        body.drain(&SystemClock).await;
        assert!(matches!(body.rest, Rest::GivenUp));
    }
}
