//! What an error says about a request that got no answer (C6).

use std::error::Error;

use crate::exchange::Fate;

/// Whether an attempt that ended with this error can have been processed (C6), as far as the error and its
/// sources tell: [`Fate::NotSent`] where HTTP/2 said that the stream was not processed, by `REFUSED_STREAM` or
/// by a GOAWAY that excludes it (RFC 9113 section 8.7); [`Fate::Lost`] otherwise.
#[must_use]
pub fn fate_of(error: &(dyn Error + 'static)) -> Fate {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<h2::Error>() {
            let refused = error.reason() == Some(h2::Reason::REFUSED_STREAM);
            // A GOAWAY with an error may also end streams that the server did process.
            let excluded =
                error.is_go_away() && error.is_remote() && error.reason() == Some(h2::Reason::NO_ERROR);
            return if refused || excluded { Fate::NotSent } else { Fate::Lost };
        }
        cause = error.source();
    }
    Fate::Lost
}
