//! Which node takes an instance, or why none does.

use super::filters::{Candidate, FILTERS, FilterStage};
use super::instance::InstanceId;
use super::ledger::{Demand, Denial};
use super::refusals::{CapacityRefusal, Plain};
use super::stage::{Stage, StageName};
use super::wanted::Wanted;
use super::{Cluster, ClusterConfig};
use crate::refusal::{Failure, Refused};

/// Why an instance could not be placed. The stage travels as a field, never in prose.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum SchedulingError {
    #[error("node not found: {0}")]
    NodeNotFound(String),
    #[error("No nodes remaining at scheduling stage {stage}{}", after_colon(.detail.as_deref()))]
    NoNodes { stage: StageName, detail: Option<String> },
    #[error("No nodes remaining at scheduling stage {}", FilterStage::Affinity.name())]
    Affinity,
    #[error("no node had capacity for this instance, {candidates} candidates refused it")]
    Guard { stage: StageName, candidates: usize },
}

fn after_colon(detail: Option<&str>) -> String {
    detail.map(|detail| format!(": {detail}")).unwrap_or_default()
}

impl SchedulingError {
    /// Every candidate was denied: one error for a creation and for a start alike.
    fn denied(denials: &[Denial]) -> Self {
        // Only an enforced claim denies, and no wait clears a quota.
        let by_claim = denials.contains(&Denial::Claim);
        let stage = if by_claim { Stage::ClaimQuota } else { Stage::CapacityGuard };
        Self::Guard { stage: stage.into(), candidates: denials.len() }
    }

    /// The refusal of a creation, or what an instance that could not be started shows.
    pub(super) fn capacity(&self, config: &ClusterConfig) -> Option<CapacityRefusal> {
        match self {
            Self::NoNodes { stage, .. } | Self::Guard { stage, .. } => {
                Some(CapacityRefusal::new(stage.clone(), self.to_string(), config.retry_after))
            }
            Self::NodeNotFound(_) | Self::Affinity => None,
        }
    }

    pub(super) fn into_refused(self, config: &ClusterConfig) -> Refused {
        match self.capacity(config) {
            Some(refusal) => refusal.into(),
            None => Plain(match &self {
                Self::NodeNotFound(_) => Failure::NotFound(self.to_string()),
                _ => Failure::Conflict(self.to_string()),
            })
            .into(),
        }
    }
}

impl Cluster {
    /// Finds a node for an instance and promises its capacity; the name of the node.
    pub(super) fn place(
        &self,
        id: InstanceId,
        demand: &Demand,
        wanted: &Wanted,
    ) -> Result<String, SchedulingError> {
        let mut denials = Vec::new();
        for candidate in self.candidates(&demand.namespace, wanted)? {
            let node = &candidate.node.name;
            match self.ledger().admit(id, node, demand) {
                Ok(()) => return Ok(node.clone()),
                Err(denial) => denials.push(denial),
            }
        }
        Err(SchedulingError::denied(&denials))
    }

    /// Starts an instance where it was placed or, where that node cannot any more, on another; the name of
    /// the node, or `None` when it is no longer to be started.
    pub(super) fn preflight(
        &self,
        id: InstanceId,
        placed_on: &str,
        demand: &Demand,
        wanted: &Wanted,
    ) -> Result<Option<String>, SchedulingError> {
        let mut denials = match self.ledger().start(id, placed_on) {
            None => return Ok(None),
            Some(Ok(())) => return Ok(Some(placed_on.to_owned())),
            Some(Err(denial)) => vec![denial],
        };
        // The filters may leave nothing: then the guard's is the only denial.
        for candidate in self.candidates(&demand.namespace, wanted).unwrap_or_default() {
            let node = &candidate.node.name;
            if node == placed_on {
                continue;
            }
            match self.ledger().start(id, node) {
                None => return Ok(None),
                Some(Ok(())) => return Ok(Some(node.clone())),
                Some(Err(denial)) => denials.push(denial),
            }
        }
        Err(SchedulingError::denied(&denials))
    }

    /// The nodes that pass every filter, the emptiest first.
    fn candidates(&self, namespace: &str, wanted: &Wanted) -> Result<Vec<Candidate>, SchedulingError> {
        let mut left = {
            let ledger = self.ledger();
            if let Some(stage) = ledger.hold().and_then(|hold| hold.stage.clone()) {
                return Err(SchedulingError::NoNodes { stage, detail: Some("capacity is held".into()) });
            }
            if let Some(node) = &wanted.placed_on
                && !ledger.has_node(node)
            {
                return Err(SchedulingError::NodeNotFound(node.clone()));
            }
            ledger.measure((!wanted.affinity.is_empty()).then_some(namespace))
        };
        if let Some(forced) = &wanted.placed_on {
            left.retain(|candidate| candidate.node.name == *forced);
        }
        for filter in &FILTERS {
            if !left.iter().any(|candidate| (filter.keeps)(candidate, wanted)) {
                return Err(match filter.stage {
                    FilterStage::Capacity(stage) => SchedulingError::NoNodes {
                        stage: stage.into(),
                        detail: (filter.detail)(&left, wanted),
                    },
                    FilterStage::Affinity => SchedulingError::Affinity,
                });
            }
            left.retain(|candidate| (filter.keeps)(candidate, wanted));
        }
        // A stable sort: among equals the configured order counts.
        left.sort_by_key(|candidate| std::cmp::Reverse(candidate.idle.cpus));
        Ok(left)
    }
}
