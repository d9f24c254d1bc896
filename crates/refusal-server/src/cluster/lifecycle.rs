//! An instance's life: created, started a little later, deleted, and its capacity given back a little later
//! than that.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::Cluster;
use super::instance::{Instance, InstanceId, Record, ShownState, State};
use super::refusals::Plain;
use super::wanted::Wanted;
use crate::refusal::{Failure, Refused};

/// How long an instance is shown that could not be started and that nobody deleted.
const FAILED_KEPT: Duration = Duration::from_secs(3_600);

impl Cluster {
    /// Creates an instance, or refuses and leaves everything as it was.
    pub(super) fn create(self: &Arc<Self>, namespace: String, wanted: Wanted) -> Result<Instance, Refused> {
        self.addresses().check(&wanted.network)?;
        let mut draft = Draft::record(self, namespace, wanted);
        for interface in &draft.record.wanted.network {
            let interface = self.addresses().allocate(interface)?;
            draft.record.interfaces.push(interface);
        }
        let node = self
            .place(draft.id, &draft.record.demand(), &draft.record.wanted)
            .map_err(|error| error.into_refused(&self.config))?;
        let (id, instance) = draft.commit(node);
        tracing::info!(instance = instance.uuid, node = instance.node, "instance placed");
        self.later(self.config.start_delay, async move |cluster| cluster.start(id).await);
        Ok(instance)
    }

    /// Deletes an instance; its capacity and its addresses follow, each after its delay.
    pub(super) fn delete(self: &Arc<Self>, namespace: &str, id: &str) -> Result<Instance, Refused> {
        let (id, record) = {
            let mut records = self.records();
            let id = self.find(&records, namespace, id)?;
            (id, records.remove(&id).expect("it was found under this very lock"))
        };
        let mut instance = record.show(id);
        instance.state = ShownState::Deleted;
        if self.ledger().begin_release(id) {
            self.later(self.config.release_delay, async move |cluster| cluster.ledger().release(id));
        }
        self.later(self.config.address_delay, async move |cluster| {
            cluster.addresses().release(&record.interfaces);
        });
        Ok(instance)
    }

    pub(super) fn show(&self, namespace: &str, id: &str) -> Result<Instance, Refused> {
        let records = self.records();
        let id = self.find(&records, namespace, id)?;
        Ok(records[&id].show(id))
    }

    pub(super) fn list(&self, namespace: &str) -> Vec<Instance> {
        let is_shown = |record: &Record| record.namespace == namespace && record.state != State::Draft;
        let records = self.records();
        records.iter().filter(|(_, record)| is_shown(record)).map(|(id, record)| record.show(*id)).collect()
    }

    /// The instance of that namespace that is called so. That others exist is their own affair.
    fn find(
        &self,
        records: &BTreeMap<InstanceId, Record>,
        namespace: &str,
        id: &str,
    ) -> Result<InstanceId, Plain> {
        InstanceId::parse(id)
            .filter(|id| {
                records
                    .get(id)
                    .is_some_and(|record| record.namespace == namespace && record.state != State::Draft)
            })
            .ok_or_else(|| Plain(Failure::NotFound("instance not found".into())))
    }

    /// Starts an instance, once starts are not held: the guard is asked once more.
    async fn start(self: Arc<Self>, id: InstanceId) {
        // The sender is in `self`, so this ends only when starts are not held.
        let _ = self.starts_held.subscribe().wait_for(|held| !held).await;
        let Some(record) = self.records().get(&id).cloned() else { return };
        let placed_on = record.node.as_deref().unwrap_or_default();
        match self.preflight(id, placed_on, &record.demand(), &record.wanted) {
            Ok(None) => {}
            Ok(Some(node)) => {
                if let Some(record) = self.records().get_mut(&id) {
                    record.node = Some(node);
                    record.state = State::Created;
                }
            }
            Err(error) => {
                let refusal = error.capacity(&self.config).expect("the guard denies for want of capacity");
                tracing::warn!(instance = %id, %error, "an instance could not be started");
                self.fail(id, State::Failed(refusal));
            }
        }
    }

    /// An instance that never ran: what it held is free at once.
    fn fail(self: &Arc<Self>, id: InstanceId, state: State) {
        self.ledger().release(id);
        let interfaces = match self.records().get_mut(&id) {
            Some(record) => {
                record.node = None;
                record.state = state;
                std::mem::take(&mut record.interfaces)
            }
            None => return,
        };
        self.addresses().release(&interfaces);
        self.later(FAILED_KEPT, async move |cluster| {
            cluster.records().remove(&id);
        });
    }

    /// Does something after a while, unless the server stops before.
    fn later<F>(self: &Arc<Self>, delay: Duration, action: impl FnOnce(Arc<Self>) -> F + Send + 'static)
    where
        F: Future<Output = ()> + Send,
    {
        let cluster = Arc::clone(self);
        tokio::spawn(async move {
            let stop = cluster.stop.clone();
            let acting = async {
                tokio::time::sleep(delay).await;
                action(cluster).await;
            };
            tokio::select! {
                () = acting => {}
                () = stop.cancelled() => {}
            }
        });
    }
}

/// A creation under way. Unless it is committed, it takes back its record and its addresses when it ends,
/// however it ends.
struct Draft<'c> {
    cluster: &'c Cluster,
    id: InstanceId,
    record: Record,
    is_committed: bool,
}

impl<'c> Draft<'c> {
    fn record(cluster: &'c Cluster, namespace: String, wanted: Wanted) -> Self {
        let id = InstanceId::random();
        let record = Record { namespace, wanted, state: State::Draft, node: None, interfaces: Vec::new() };
        cluster.records().insert(id, record.clone());
        Self { cluster, id, record, is_committed: false }
    }

    fn commit(mut self, node: String) -> (InstanceId, Instance) {
        self.record.state = State::Creating;
        self.record.node = Some(node);
        self.is_committed = true;
        self.cluster.records().insert(self.id, self.record.clone());
        (self.id, self.record.show(self.id))
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        if !self.is_committed {
            self.cluster.addresses().release(&self.record.interfaces);
            self.cluster.records().remove(&self.id);
        }
    }
}
