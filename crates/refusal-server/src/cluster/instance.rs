//! An instance, as it is kept and as it is shown.

use std::fmt;

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::addresses::Interface;
use super::ledger::Demand;
use super::refusals::CapacityRefusal;
use super::wanted::{Affinity, Disk, Wanted};

/// What an instance is called, for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct InstanceId(u128);

impl InstanceId {
    pub(super) fn random() -> Self {
        // Version 4, variant 1 (RFC 9562 section 5.4).
        Self(rand::random::<u128>() & !(0xf << 76) & !(0b11 << 62) | (4 << 76) | (0b10 << 62))
    }

    /// Reads the canonical form; anything else names no instance.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let hex: String = text.split('-').collect();
        let id = Self(u128::from_str_radix(&hex, 16).ok()?);
        (id.to_string() == text).then_some(id)
    }
}

impl fmt::Display for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = format!("{:032x}", self.0);
        write!(f, "{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
    }
}

/// What the cluster keeps of an instance.
#[derive(Debug, Clone)]
pub(super) struct Record {
    pub(super) namespace: String,
    pub(super) wanted: Wanted,
    pub(super) state: State,
    /// Empty until it is placed, and again once it has failed.
    pub(super) node: Option<String>,
    pub(super) interfaces: Vec<Interface>,
}

/// How far an instance has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    /// Its creation has not been answered: nobody may see it.
    Draft,
    Creating,
    Created,
    /// It was placed, and could then not be started anywhere.
    Failed(CapacityRefusal),
}

impl Record {
    pub(super) fn demand(&self) -> Demand {
        Demand {
            namespace: self.namespace.clone(),
            resources: self.wanted.resources(),
            tags: self.wanted.tags.clone(),
        }
    }

    /// The instance as the API shows it.
    pub(super) fn show(&self, id: InstanceId) -> Instance {
        let (state, failure) = match &self.state {
            State::Draft | State::Creating => (ShownState::Creating, None),
            State::Created => (ShownState::Created, None),
            State::Failed(refusal) => (ShownState::Error, Some(refusal.document())),
        };
        Instance {
            uuid: id.to_string(),
            name: self.wanted.name.clone(),
            namespace: self.namespace.clone(),
            state,
            node: self.node.clone(),
            cpus: self.wanted.cpus,
            memory: self.wanted.memory,
            disk: self.wanted.disk.clone(),
            network: self.interfaces.clone(),
            tags: self.wanted.tags.iter().cloned().collect(),
            affinity: self.wanted.affinity.clone(),
            placed_on: self.wanted.placed_on.clone(),
            failure,
        }
    }
}

/// An instance.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(super) struct Instance {
    #[schema(format = "uuid")]
    pub(super) uuid: String,
    pub(super) name: String,
    pub(super) namespace: String,
    pub(super) state: ShownState,
    /// Where it is placed; none once it has failed.
    #[schema(required)]
    pub(super) node: Option<String>,
    pub(super) cpus: u32,
    /// In MiB.
    pub(super) memory: u32,
    pub(super) disk: Vec<Disk>,
    pub(super) network: Vec<Interface>,
    pub(super) tags: Vec<String>,
    pub(super) affinity: Affinity,
    /// The node that was asked for.
    #[schema(required)]
    pub(super) placed_on: Option<String>,
    /// Why it is in state `error`: what a creation refused for the same reason is answered with.
    #[schema(required, value_type = Option<super::documents::CapacityRefused>)]
    pub(super) failure: Option<Value>,
}

/// How far an instance has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = InstanceState)]
pub(super) enum ShownState {
    Creating,
    Created,
    Error,
    /// Shown once, in the answer to its deletion.
    Deleted,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_round_trip_in_their_canonical_form_alone() {
        let id = InstanceId::random();
        let text = id.to_string();
        assert_eq!(InstanceId::parse(&text), Some(id));
        assert_eq!((text.len(), &text[14..15]), (36, "4"));
        assert!("89ab".contains(&text[19..20]));
        for wrong in
            [String::new(), text.to_uppercase() + "A", text.replace('-', ""), format!("+{}", &text[1..])]
        {
            assert_eq!(InstanceId::parse(&wrong), None, "{wrong}");
        }
    }
}
