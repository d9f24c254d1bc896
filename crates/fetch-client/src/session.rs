//! What one run of a command carries from one request to the next.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::budget::DEFAULT_RETRY_BUDGET;
use crate::hub::Token;
use crate::progress::{Observer, Unobserved};
use crate::transport::{Transport, TransportSettings};

/// What the commands share: the connection, the token, the budget, who watches, and how to stop.
pub struct Session {
    transport: Transport,
    token: Option<Token>,
    retry_budget: Duration,
    observer: Arc<dyn Observer>,
    cancel: CancellationToken,
}

impl Session {
    /// A session with the default budget, no token, and nobody watching.
    #[must_use]
    pub fn new(settings: TransportSettings) -> Self {
        Self {
            transport: Transport::new(settings),
            token: None,
            retry_budget: DEFAULT_RETRY_BUDGET,
            observer: Arc::new(Unobserved),
            cancel: CancellationToken::new(),
        }
    }

    /// The token for whatever is asked. Without one, a remote's own is taken from the configuration.
    #[must_use]
    pub fn with_token(self, token: Option<Token>) -> Self {
        Self { token, ..self }
    }

    /// How long refusals of a fetch are waited out; zero means one attempt.
    #[must_use]
    pub fn with_retry_budget(self, retry_budget: Duration) -> Self {
        Self { retry_budget, ..self }
    }

    /// Who is told of waits and transfers.
    #[must_use]
    pub fn with_observer(self, observer: Arc<dyn Observer>) -> Self {
        Self { observer, ..self }
    }

    /// What ends the command at once when it is cancelled.
    #[must_use]
    pub fn with_cancel(self, cancel: CancellationToken) -> Self {
        Self { cancel, ..self }
    }

    pub(crate) fn transport(&self) -> &Transport {
        &self.transport
    }

    pub(crate) fn token(&self) -> Option<&Token> {
        self.token.as_ref()
    }

    pub(crate) fn retry_budget(&self) -> Duration {
        self.retry_budget
    }

    pub(crate) fn observer(&self) -> &Arc<dyn Observer> {
        &self.observer
    }

    pub(crate) fn cancel(&self) -> &CancellationToken {
        &self.cancel
    }
}
