//! What a user of a cluster calls.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::Method;
use retry_core::{Decision, Wait};
use retry_middleware::{Clock, Event, SystemClock};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::errors::ClusterError;
use super::instance::{Instance, InstanceRequest};
use super::settings::ClusterSettings;
use super::talk::{Ask, Talk};
use super::wire::Network;
use crate::hub::Token;
use crate::transport::{Transport, TransportSettings};

/// Is told of each wait before a creation is sent again.
type Told = Arc<dyn Fn(&Wait) + Send + Sync>;

/// A client of one cluster.
pub struct Cluster {
    settings: ClusterSettings,
    transport: Transport,
    /// The access token that was good last.
    token: Mutex<Option<Token>>,
    told: Option<Told>,
    cancel: CancellationToken,
}

impl fmt::Debug for Cluster {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Cluster").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Cluster {
    /// Makes no connection yet.
    #[must_use]
    pub fn new(settings: ClusterSettings, transport: TransportSettings) -> Self {
        Self {
            settings,
            transport: Transport::new(transport),
            token: Mutex::new(None),
            told: None,
            cancel: CancellationToken::new(),
        }
    }

    /// Who is told of waits before a creation is sent again.
    #[must_use]
    pub fn with_observer(self, told: impl Fn(&Wait) + Send + Sync + 'static) -> Self {
        Self { told: Some(Arc::new(told)), ..self }
    }

    /// What ends every request at once when it is cancelled.
    #[must_use]
    pub fn with_cancel(self, cancel: CancellationToken) -> Self {
        Self { cancel, ..self }
    }

    /// Creates an instance, and waits for it to leave `creating` for as long as the strategy says.
    ///
    /// # Errors
    ///
    /// [`ClusterError::Refused`] with the cluster's last answer, retried or not; see there for the rest.
    pub async fn create(&self, request: &InstanceRequest) -> Result<Instance, ClusterError> {
        let body = Bytes::from(serde_json::to_vec(request).expect("texts and numbers are JSON"));
        let told = self.told.clone();
        let observer = move |event: Event<'_>| {
            if let (Some(told), Event::Decided { decision: Decision::Wait(wait), .. }) = (&told, event) {
                told(wait);
            }
        };
        // The driver ends at once as well; this ends what comes after it too.
        self.talk(async |talk| talk.create(body, observer, self.cancel.cancelled()).await).await
    }

    /// The instance as it is now.
    ///
    /// # Errors
    ///
    /// As for [`Cluster::create`].
    pub async fn get(&self, uuid: &str) -> Result<Instance, ClusterError> {
        self.of_instance(Method::GET, uuid).await
    }

    /// Deletes an instance; as it was.
    ///
    /// # Errors
    ///
    /// As for [`Cluster::create`].
    pub async fn delete(&self, uuid: &str) -> Result<Instance, ClusterError> {
        self.of_instance(Method::DELETE, uuid).await
    }

    /// The namespace's instances.
    ///
    /// # Errors
    ///
    /// As for [`Cluster::create`].
    pub async fn list(&self) -> Result<Vec<Instance>, ClusterError> {
        self.read(Ask::new(Method::GET, "/instances")).await
    }

    async fn of_instance(&self, method: Method, uuid: &str) -> Result<Instance, ClusterError> {
        // It becomes a part of a path: what could leave that place is no id.
        let is_sound = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if uuid.is_empty() || !uuid.bytes().all(is_sound) {
            return Err(ClusterError::Id(uuid.to_owned()));
        }
        self.read(Ask::new(method, format!("/instances/{uuid}"))).await
    }

    async fn read<T: serde::de::DeserializeOwned + Send>(&self, ask: Ask) -> Result<T, ClusterError> {
        let deadline = self.settings.strategy.deadline(SystemClock.monotonic());
        self.talk(async |talk| talk.read(&ask, deadline).await).await
    }

    /// Lends a conversation, and keeps the token that it ends with.
    async fn talk<T>(
        &self,
        work: impl AsyncFnOnce(&mut Talk<'_, Network<'_>, SystemClock>) -> Result<T, ClusterError>,
    ) -> Result<T, ClusterError> {
        let token = self.token.lock().await.clone();
        let wire = Network(&self.transport);
        let mut talk = Talk { wire, clock: &SystemClock, settings: &self.settings, token };
        let done = self.cancel.run_until_cancelled(work(&mut talk)).await;
        *self.token.lock().await = talk.token;
        done.ok_or(ClusterError::Interrupted)?
    }
}
