//! The filters that a node has to pass, in order, and the stage that each of them is.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::config::Node;
use super::resources::Resources;
use super::stage::Stage;
use super::wanted::Wanted;

/// A node as it is measured when a creation is scheduled.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) node: Arc<Node>,
    pub(super) idle: Resources,
    /// How many instances it has to start.
    pub(super) starting: u32,
    /// The tags of the namespace's instances on it.
    pub(super) tags: BTreeSet<String>,
}

/// One filter.
pub(super) struct Filter {
    pub(super) stage: FilterStage,
    pub(super) keeps: fn(&Candidate, &Wanted) -> bool,
    /// What to tell of the nodes that were left when none of them passed.
    pub(super) detail: fn(&[Candidate], &Wanted) -> Option<String>,
}

/// What it means that no node passed a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FilterStage {
    /// A want of capacity, for a while or for good: as the stage says.
    Capacity(Stage),
    /// A contradiction with what runs already: nothing is short.
    Affinity,
}

impl FilterStage {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Capacity(stage) => stage.name(),
            Self::Affinity => "affinity_constraints",
        }
    }
}

/// The filters, in order.
pub(super) const FILTERS: [Filter; 9] = [
    Filter {
        stage: FilterStage::Capacity(Stage::PreSchedule),
        keeps: |candidate, _| candidate.node.up,
        detail: |_, _| None,
    },
    Filter {
        stage: FilterStage::Capacity(Stage::IsHypervisor),
        keeps: |candidate, _| candidate.node.is_hypervisor,
        detail: |_, _| None,
    },
    Filter {
        stage: FilterStage::Capacity(Stage::CpuMaxPerInstance),
        keeps: |candidate, wanted| wanted.cpus <= candidate.node.cpu_max_per_instance,
        detail: |candidates, wanted| {
            let most = candidates.iter().map(|candidate| candidate.node.cpu_max_per_instance).max()?;
            Some(format!("asked for {} cpus, and one instance may have {most}", wanted.cpus))
        },
    },
    Filter {
        stage: FilterStage::Capacity(Stage::SufficientIdleCpu),
        keeps: |candidate, wanted| wanted.resources().cpus <= candidate.idle.cpus,
        detail: |candidates, wanted| most(candidates, wanted, "cpus", |resources| resources.cpus),
    },
    Filter {
        stage: FilterStage::Capacity(Stage::SufficientIdleMemory),
        keeps: |candidate, wanted| wanted.resources().memory <= candidate.idle.memory,
        detail: |candidates, wanted| most(candidates, wanted, "MiB of memory", |resources| resources.memory),
    },
    Filter {
        stage: FilterStage::Capacity(Stage::SufficientFreeDisk),
        keeps: |candidate, wanted| wanted.resources().disk <= candidate.idle.disk,
        detail: |candidates, wanted| most(candidates, wanted, "GiB of disk", |resources| resources.disk),
    },
    Filter {
        stage: FilterStage::Affinity,
        keeps: |candidate, wanted| {
            wanted.affinity.together_with.is_subset(&candidate.tags)
                && wanted.affinity.apart_from.is_disjoint(&candidate.tags)
        },
        detail: |_, _| None,
    },
    Filter {
        stage: FilterStage::Capacity(Stage::QueueState),
        keeps: |candidate, _| candidate.starting < candidate.node.queue,
        detail: |_, _| None,
    },
    Filter {
        stage: FilterStage::Capacity(Stage::SufficientIdleDisk),
        keeps: |candidate, wanted| wanted.resources().disks <= candidate.idle.disks,
        detail: |candidates, wanted| most(candidates, wanted, "disks", |resources| resources.disks),
    },
];

fn most(
    candidates: &[Candidate],
    wanted: &Wanted,
    unit: &str,
    amount: fn(&Resources) -> u64,
) -> Option<String> {
    let most = candidates.iter().map(|candidate| amount(&candidate.idle)).max()?;
    Some(format!("asked for {} {unit}, and no node has more than {most} idle", amount(&wanted.resources())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filters_are_in_the_published_order() {
        let order = FILTERS.map(|filter| filter.stage.name());
        assert_eq!(
            order,
            [
                "pre_schedule",
                "is_hypervisor",
                "cpu_max_per_instance",
                "sufficient_idle_cpu",
                "sufficient_idle_memory",
                "sufficient_free_disk",
                "affinity_constraints",
                "queue_state",
                "sufficient_idle_disk",
            ]
        );
    }
}
