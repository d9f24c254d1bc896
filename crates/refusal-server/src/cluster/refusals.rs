//! The answers of the cluster that are not what was asked for, one type each.

use http::{HeaderMap, StatusCode};
use serde_json::{Map, Value, json};

use super::stage::{StageName, Transience};
use crate::refusal::{Body, Failure, Refusal, RetryAfter};

/// 507: no node can take the instance. The only answer that says whether it is worth asking again.
///
/// It commits nothing: the record, the addresses and the ledger are as they were before the request, so the
/// same bytes may be sent again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapacityRefusal {
    message: String,
    stage: StageName,
    hint: RetryAfter,
}

impl CapacityRefusal {
    /// What a client is told to wait while the shortage is transient.
    ///
    /// Capacity is back 5.3 to 5.6 s after an instance was deleted (see
    /// [`RELEASE_DELAY`](super::ClusterConfig::RELEASE_DELAY)): this is more than twice that, so one wait is
    /// enough, and it is not computed, because the server does not know who is about to delete what.
    pub const RETRY_AFTER: RetryAfter = RetryAfter::seconds(15);

    /// The refusal of a creation at `stage`, which decides whether it is transient. `hint` goes out only if it
    /// is.
    pub fn new(stage: impl Into<StageName>, message: impl Into<String>, hint: RetryAfter) -> Self {
        Self { message: message.into(), stage: stage.into(), hint }
    }

    /// The stage at which the creation was refused.
    pub fn stage(&self) -> &StageName {
        &self.stage
    }

    fn is_transient(&self) -> bool {
        self.stage.transience() == Transience::Transient
    }

    /// The four members of the body.
    pub(crate) fn document(&self) -> Value {
        json!({
            "error": self.message,
            "status": self.status().as_u16(),
            "stage": self.stage.as_str(),
            "transient": self.is_transient(),
        })
    }
}

impl Refusal for CapacityRefusal {
    fn status(&self) -> StatusCode {
        StatusCode::INSUFFICIENT_STORAGE
    }

    fn title(&self) -> &'static str {
        "No capacity for this instance"
    }

    fn detail(&self) -> String {
        self.message.clone()
    }

    fn retry_after(&self) -> Option<RetryAfter> {
        self.is_transient().then_some(self.hint)
    }

    fn members(&self) -> Map<String, Value> {
        Map::from_iter([
            ("stage".to_owned(), self.stage.as_str().into()),
            ("transient".to_owned(), self.is_transient().into()),
        ])
    }

    fn body(&self) -> Body {
        Body::Json(self.document())
    }
}

/// 507 without a mark: a network has no address to give.
///
/// An address comes back only long after the instance that had it, so no hint of seconds would be honest, and
/// what is said is the plain shape of every other error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CongestedNetwork(pub(super) String);

impl Refusal for CongestedNetwork {
    fn status(&self) -> StatusCode {
        StatusCode::INSUFFICIENT_STORAGE
    }

    fn title(&self) -> &'static str {
        "The network has no address left"
    }

    fn detail(&self) -> String {
        self.0.clone()
    }

    fn body(&self) -> Body {
        plain(self.status(), &self.0)
    }
}

/// 406: something that the instance depends on is not ready yet. Commits nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DependencyNotReady(pub(super) String);

impl Refusal for DependencyNotReady {
    fn status(&self) -> StatusCode {
        StatusCode::NOT_ACCEPTABLE
    }

    fn title(&self) -> &'static str {
        "A dependency is not ready"
    }

    fn detail(&self) -> String {
        self.0.clone()
    }

    fn body(&self) -> Body {
        plain(self.status(), &self.0)
    }
}

/// Any other error of the cluster: a [`Failure`] in the cluster's own shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plain(pub(super) Failure);

impl Refusal for Plain {
    fn status(&self) -> StatusCode {
        self.0.status()
    }

    fn title(&self) -> &'static str {
        self.0.title()
    }

    fn detail(&self) -> String {
        self.0.detail()
    }

    fn body(&self) -> Body {
        plain(self.status(), &self.detail())
    }

    fn add_headers(&self, headers: &mut HeaderMap) {
        self.0.add_headers(headers);
    }
}

/// The plain shape of the cluster's errors: two keys, and no third.
fn plain(status: StatusCode, message: &str) -> Body {
    Body::Json(json!({ "error": message, "status": status.as_u16() }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{ClusterConfig, Stage};

    /// Changing this shape changes every error of the cluster but one; clients read it by these names.
    #[test]
    fn canary_the_plain_shape_is_these_two_keys() {
        let shape = Body::Json(json!({ "error": "a text", "status": 409 }));
        assert_eq!(Plain(Failure::Conflict("a text".into())).body(), shape);
        let shape = Body::Json(json!({ "error": "a text", "status": 507 }));
        assert_eq!(CongestedNetwork("a text".into()).body(), shape);
        let shape = Body::Json(json!({ "error": "a text", "status": 406 }));
        assert_eq!(DependencyNotReady("a text".into()).body(), shape);
    }

    #[test]
    fn the_marked_shape_is_these_four_keys() {
        for (stage, transient, hint) in [
            (StageName::from(Stage::SufficientIdleCpu), true, Some(RetryAfter::seconds(15))),
            (StageName::from(Stage::CpuMaxPerInstance), false, None),
            (StageName::from_elsewhere("gpu_topology"), false, None),
        ] {
            let refusal = CapacityRefusal::new(stage.clone(), "a text", CapacityRefusal::RETRY_AFTER);
            let shape =
                json!({ "error": "a text", "status": 507, "stage": stage.as_str(), "transient": transient });
            assert_eq!(refusal.body(), Body::Json(shape));
            assert_eq!(refusal.retry_after(), hint);
            assert_eq!(refusal.status(), 507);
        }
    }

    /// The comment of the constant claims "more than twice".
    #[test]
    fn the_hint_is_more_than_twice_the_release_delay() {
        let hint = f64::from(CapacityRefusal::RETRY_AFTER.as_seconds());
        assert!(hint > 2.0 * ClusterConfig::RELEASE_DELAY.as_secs_f64());
        assert_eq!(ClusterConfig::default().release_delay, ClusterConfig::RELEASE_DELAY);
        assert_eq!(ClusterConfig::default().retry_after, CapacityRefusal::RETRY_AFTER);
    }
}
