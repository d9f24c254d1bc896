//! The stages of scheduling, and for each whether waiting helps.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A stage of scheduling at which a creation can be refused for want of capacity.
///
/// The stage alone decides whether waiting helps ([`Stage::transience`]); nothing else is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Stage {
    /// No node was up before anything was looked at.
    PreSchedule,
    /// No node runs instances.
    IsHypervisor,
    /// More cpus than any node allows one instance.
    CpuMaxPerInstance,
    /// Too few idle cpus.
    SufficientIdleCpu,
    /// Too little idle memory.
    SufficientIdleMemory,
    /// Too little free disk space.
    SufficientFreeDisk,
    /// The nodes have too many instances to start already.
    QueueState,
    /// The nodes' disks serve as many at once as they can.
    SufficientIdleDisk,
    /// Every candidate's capacity guard said no.
    CapacityGuard,
    /// The namespace's claim is used up, and claims are enforced.
    ClaimQuota,
}

/// Whether a refusal passes by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transience {
    /// A momentary shortage of something shared: it ends when others let go.
    Transient,
    /// The same request is refused however long one waits.
    Permanent,
}

impl Stage {
    /// All stages, in the order of scheduling.
    pub const ALL: [Self; 10] = [
        Self::PreSchedule,
        Self::IsHypervisor,
        Self::CpuMaxPerInstance,
        Self::SufficientIdleCpu,
        Self::SufficientIdleMemory,
        Self::SufficientFreeDisk,
        Self::QueueState,
        Self::SufficientIdleDisk,
        Self::CapacityGuard,
        Self::ClaimQuota,
    ];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PreSchedule => "pre_schedule",
            Self::IsHypervisor => "is_hypervisor",
            Self::CpuMaxPerInstance => "cpu_max_per_instance",
            Self::SufficientIdleCpu => "sufficient_idle_cpu",
            Self::SufficientIdleMemory => "sufficient_idle_memory",
            Self::SufficientFreeDisk => "sufficient_free_disk",
            Self::QueueState => "queue_state",
            Self::SufficientIdleDisk => "sufficient_idle_disk",
            Self::CapacityGuard => "capacity_guard",
            Self::ClaimQuota => "claim_quota",
        }
    }

    /// Whether waiting helps. There is no wildcard here on purpose: a new stage does not compile until
    /// somebody has decided.
    pub const fn transience(self) -> Transience {
        match self {
            Self::SufficientIdleCpu
            | Self::SufficientIdleMemory
            | Self::SufficientFreeDisk
            | Self::SufficientIdleDisk
            | Self::QueueState
            // Honest because a denial by claim is never published under this name: see `ClaimQuota`.
            | Self::CapacityGuard => Transience::Transient,
            // Deleting every instance of the cluster would satisfy none of these.
            Self::PreSchedule | Self::IsHypervisor | Self::CpuMaxPerInstance | Self::ClaimQuota => {
                Transience::Permanent
            }
        }
    }
}

/// The name of a stage as it goes out: one of [`Stage`], or one that this server does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageName(Cow<'static, str>);

impl StageName {
    /// What a refusal is called that arrives without a stage.
    pub const UNKNOWN: &'static str = "unknown";

    /// A name from elsewhere; an empty one is [`StageName::UNKNOWN`].
    pub fn from_elsewhere(name: &str) -> Self {
        Self(if name.is_empty() { Self::UNKNOWN.into() } else { name.to_owned().into() })
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether waiting helps; a name that is in neither set is permanent. To be wrong in that direction costs
    /// a client one retry; in the other, its whole deadline.
    pub fn transience(&self) -> Transience {
        Stage::ALL
            .into_iter()
            .find(|stage| stage.name() == self.0)
            .map_or(Transience::Permanent, Stage::transience)
    }
}

impl From<Stage> for StageName {
    fn from(stage: Stage) -> Self {
        Self(Cow::Borrowed(stage.name()))
    }
}

impl fmt::Display for StageName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;
    use utoipa::PartialSchema;

    use super::*;

    const TRANSIENT: [&str; 6] = [
        "capacity_guard",
        "queue_state",
        "sufficient_free_disk",
        "sufficient_idle_cpu",
        "sufficient_idle_disk",
        "sufficient_idle_memory",
    ];
    const PERMANENT: [&str; 4] = ["claim_quota", "cpu_max_per_instance", "is_hypervisor", "pre_schedule"];

    /// The names of the enum's variants as the derived schema lists them: it cannot leave one out.
    fn published() -> BTreeSet<String> {
        let schema = serde_json::to_value(Stage::schema()).unwrap();
        schema["enum"].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn every_stage_is_in_exactly_one_of_the_two_sets() {
        let classified: Vec<_> = TRANSIENT.into_iter().chain(PERMANENT).map(str::to_owned).collect();
        assert_eq!(classified.len(), published().len());
        assert_eq!(classified.into_iter().collect::<BTreeSet<_>>(), published());
        for name in TRANSIENT {
            assert_eq!(StageName::from_elsewhere(name).transience(), Transience::Transient, "{name}");
        }
        for name in PERMANENT {
            assert_eq!(StageName::from_elsewhere(name).transience(), Transience::Permanent, "{name}");
        }
    }

    #[test]
    fn all_lists_every_stage_by_the_name_that_serde_gives_it() {
        let listed: BTreeSet<_> = Stage::ALL.into_iter().map(|stage| stage.name().to_owned()).collect();
        assert_eq!(listed, published());
        for stage in Stage::ALL {
            assert_eq!(serde_json::to_value(stage).unwrap(), Value::from(stage.name()));
        }
    }

    #[test]
    fn a_name_in_neither_set_is_permanent() {
        for name in ["", "unknown", "Sufficient_Idle_Cpu", "sufficient_idle_cpu ", "gpu_topology"] {
            assert_eq!(StageName::from_elsewhere(name).transience(), Transience::Permanent, "{name:?}");
        }
        assert_eq!(StageName::from_elsewhere("").as_str(), "unknown");
    }
}
