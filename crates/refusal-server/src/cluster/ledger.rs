//! Who has been promised what, on which node: the one truth about capacity, behind one lock.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::config::{ClusterConfig, Node};
use super::filters::Candidate;
use super::instance::InstanceId;
use super::resources::Resources;
use super::stage::StageName;

/// Why the guard denied a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Denial {
    /// The namespace has all that it may have.
    Claim,
    /// The cluster as a whole has promised all that it may, or is held.
    Cluster,
    /// The node has promised all that it has.
    Node,
}

/// What is asked of the ledger for one instance.
#[derive(Debug, Clone)]
pub(super) struct Demand {
    pub(super) namespace: String,
    pub(super) resources: Resources,
    pub(super) tags: BTreeSet<String>,
}

/// How far a promise has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Promised, and not yet to be measured on the node.
    Starting,
    Running,
    /// Deleted, and still measured.
    Releasing,
}

struct Promise {
    demand: Demand,
    node: usize,
    phase: Phase,
}

/// One node's line: what it has, and the sums over its promises.
struct Line {
    node: Arc<Node>,
    promised: Resources,
    measured: Resources,
    starting: u32,
}

pub(super) struct Ledger {
    lines: Vec<Line>,
    promises: HashMap<InstanceId, Promise>,
    claims: BTreeMap<String, u64>,
    claimed: HashMap<String, u64>,
    enforce_claims: bool,
    most_cpus: u64,
    hold: Option<Hold>,
}

/// Capacity that is held back until it is released again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hold {
    /// The stage at which creations are refused; the guard's own where there is none.
    pub(crate) stage: Option<StageName>,
}

impl Ledger {
    pub(super) fn new(config: &ClusterConfig) -> Self {
        let line = |node: &Node| Line {
            node: Arc::new(node.clone()),
            promised: Resources::default(),
            measured: Resources::default(),
            starting: 0,
        };
        Self {
            lines: config.nodes.iter().map(line).collect(),
            promises: HashMap::new(),
            claims: config.claims.clone(),
            claimed: HashMap::new(),
            enforce_claims: config.enforce_claims,
            most_cpus: config.most_cpus.unwrap_or(u64::MAX),
            hold: None,
        }
    }

    /// The nodes as they are measured now, in the configured order. What has been promised and not yet started
    /// is not to be seen in measurements: that is what the guard is for.
    ///
    /// With the tags of one namespace's instances, where they are asked for.
    pub(super) fn measure(&self, tags_of: Option<&str>) -> Vec<Candidate> {
        let mut candidates: Vec<_> = self
            .lines
            .iter()
            .map(|line| Candidate {
                node: Arc::clone(&line.node),
                idle: line.node.capacity().left_by(line.measured),
                starting: line.starting,
                tags: BTreeSet::new(),
            })
            .collect();
        if let Some(namespace) = tags_of {
            for promise in self.promises.values() {
                if promise.demand.namespace == namespace && promise.phase != Phase::Releasing {
                    candidates[promise.node].tags.extend(promise.demand.tags.iter().cloned());
                }
            }
        }
        candidates
    }

    /// The guard: promises the capacity of a node to an instance, or says why not. Changes nothing if it denies.
    pub(super) fn admit(&mut self, id: InstanceId, node: &str, demand: &Demand) -> Result<(), Denial> {
        let node = self.guard(node, demand)?;
        self.insert(id, Promise { demand: demand.clone(), node, phase: Phase::Starting });
        Ok(())
    }

    /// The same guard once more, for an instance that is about to run on `node`, with its own promise set
    /// aside; `None` when there is no such promise, or no longer.
    ///
    /// Admitted, it runs. Denied, its promise is as it was.
    pub(super) fn start(&mut self, id: InstanceId, node: &str) -> Option<Result<(), Denial>> {
        if self.promises.get(&id)?.phase != Phase::Starting {
            return None;
        }
        let before = self.remove(id)?;
        match self.guard(node, &before.demand) {
            Ok(node) => {
                self.insert(id, Promise { node, phase: Phase::Running, ..before });
                Some(Ok(()))
            }
            Err(denial) => {
                self.insert(id, before);
                Some(Err(denial))
            }
        }
    }

    /// From now on the promise is only waiting for its end. `false` when there is none.
    pub(super) fn begin_release(&mut self, id: InstanceId) -> bool {
        let Some(before) = self.remove(id) else { return false };
        self.insert(id, Promise { phase: Phase::Releasing, ..before });
        true
    }

    /// Ends a promise.
    pub(super) fn release(&mut self, id: InstanceId) {
        self.remove(id);
    }

    /// Refuses every creation until told otherwise. When this returns, none slips through.
    pub(super) fn set_hold(&mut self, hold: Option<Hold>) {
        self.hold = hold;
    }

    pub(super) fn hold(&self) -> Option<&Hold> {
        self.hold.as_ref()
    }

    pub(super) fn has_node(&self, name: &str) -> bool {
        self.lines.iter().any(|line| line.node.name == name)
    }

    /// Each node with what it has promised and what is measured on it.
    pub(super) fn lines(&self) -> impl Iterator<Item = (&Node, Resources, Resources)> {
        self.lines.iter().map(|line| (line.node.as_ref(), line.promised, line.measured))
    }

    pub(super) fn promises(&self) -> usize {
        self.promises.len()
    }

    fn guard(&self, node: &str, demand: &Demand) -> Result<usize, Denial> {
        // The claim first: a quota is not to hide behind a shortage that passes.
        let claimed = self.claimed.get(&demand.namespace).copied().unwrap_or(0);
        if let Some(claim) = self.claims.get(&demand.namespace)
            && claimed + demand.resources.cpus > *claim
        {
            if self.enforce_claims {
                return Err(Denial::Claim);
            }
            tracing::warn!(namespace = demand.namespace, claim, claimed, "over its claim, and admitted");
        }
        let promised: u64 = self.lines.iter().map(|line| line.promised.cpus).sum();
        if self.hold.is_some() || promised + demand.resources.cpus > self.most_cpus {
            return Err(Denial::Cluster);
        }
        let found = self.lines.iter().position(|line| {
            line.node.name == node
                && line.node.up
                && line.node.capacity().left_by(line.promised).hold(demand.resources)
        });
        found.ok_or(Denial::Node)
    }

    fn insert(&mut self, id: InstanceId, promise: Promise) {
        let (line, resources) = (&mut self.lines[promise.node], promise.demand.resources);
        line.promised += resources;
        match promise.phase {
            Phase::Starting => line.starting += 1,
            Phase::Running | Phase::Releasing => line.measured += resources,
        }
        *self.claimed.entry(promise.demand.namespace.clone()).or_default() += resources.cpus;
        let earlier = self.promises.insert(id, promise);
        debug_assert!(earlier.is_none(), "an instance has one promise");
    }

    fn remove(&mut self, id: InstanceId) -> Option<Promise> {
        let promise = self.promises.remove(&id)?;
        let (line, resources) = (&mut self.lines[promise.node], promise.demand.resources);
        line.promised -= resources;
        match promise.phase {
            Phase::Starting => line.starting -= 1,
            Phase::Running | Phase::Releasing => line.measured -= resources,
        }
        if let Some(claimed) = self.claimed.get_mut(&promise.demand.namespace) {
            *claimed -= resources.cpus;
            if *claimed == 0 {
                self.claimed.remove(&promise.demand.namespace);
            }
        }
        Some(promise)
    }

    /// Asserts that every sum is the sum of its promises, and that nothing is promised twice over.
    #[cfg(test)]
    pub(super) fn assert_exact(&self) {
        let mut claimed: HashMap<String, u64> = HashMap::new();
        for (number, line) in self.lines.iter().enumerate() {
            let (mut promised, mut measured, mut starting) = (Resources::default(), Resources::default(), 0);
            for promise in self.promises.values().filter(|promise| promise.node == number) {
                promised += promise.demand.resources;
                match promise.phase {
                    Phase::Starting => starting += 1,
                    Phase::Running | Phase::Releasing => measured += promise.demand.resources,
                }
                *claimed.entry(promise.demand.namespace.clone()).or_default() +=
                    promise.demand.resources.cpus;
            }
            let name = &line.node.name;
            assert_eq!(
                (line.promised, line.measured, line.starting),
                (promised, measured, starting),
                "{name}"
            );
            assert!(line.node.capacity().hold(promised), "{name} has promised {promised:?}");
        }
        assert_eq!(self.claimed, claimed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever happens to promises in whatever order, the sums are exact, and go back to nothing.
    #[test]
    fn the_sums_are_those_of_the_promises_after_every_step() {
        let mut config = ClusterConfig::default();
        config.claims.insert("a".into(), 9);
        config.enforce_claims = true;
        let nodes: Vec<_> = config.nodes.iter().map(|node| node.name.clone()).collect();
        let mut ledger = Ledger::new(&config);
        let ids: Vec<_> = (0..40).map(|_| InstanceId::random()).collect();
        let (mut admitted, mut denied) = (0, 0);
        // A fixed walk over instances, nodes and steps: 7,919 is prime, so every pair comes up.
        for step in 0..4_000_usize {
            let number = step * 7_919;
            let (id, node) = (ids[number % 40], &nodes[number / 40 % nodes.len()]);
            let demand = Demand {
                namespace: if number % 3 == 0 { "a" } else { "b" }.into(),
                resources: Resources { cpus: (number % 5 + 1) as u64, memory: 64, disk: 1, disks: 1 },
                tags: BTreeSet::new(),
            };
            match step / 40 % 4 {
                0 | 1 if !ledger.promises.contains_key(&id) => match ledger.admit(id, node, &demand) {
                    Ok(()) => admitted += 1,
                    Err(_) => denied += 1,
                },
                2 => drop(ledger.start(id, node)),
                3 if number % 2 == 0 => drop(ledger.begin_release(id)),
                _ => ledger.release(id),
            }
            ledger.assert_exact();
        }
        assert!(admitted > 100 && denied > 100, "{admitted} admitted, {denied} denied");
        ids.into_iter().for_each(|id| ledger.release(id));
        assert_eq!((ledger.promises(), &ledger.claimed), (0, &HashMap::new()));
        assert!(ledger.lines().all(|(_, promised, measured)| promised == measured && promised.cpus == 0));
    }

    /// A quota is not to hide behind a shortage that passes.
    #[test]
    fn a_claim_is_looked_at_first() {
        let mut config =
            ClusterConfig { enforce_claims: true, most_cpus: Some(0), ..ClusterConfig::default() };
        config.claims.insert("a".into(), 0);
        let mut ledger = Ledger::new(&config);
        let resources = Resources { cpus: 1, ..Resources::default() };
        let mut demand = Demand { namespace: "a".into(), resources, tags: BTreeSet::new() };
        assert_eq!(ledger.admit(InstanceId::random(), "node-1", &demand), Err(Denial::Claim));
        demand.namespace = "b".into();
        assert_eq!(ledger.admit(InstanceId::random(), "node-1", &demand), Err(Denial::Cluster));
    }
}
