//! What a creation asks for, read from JSON: all faults are found at once, not only the first.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::config::is_label;
use super::faults::{Faults, Fields};
use super::resources::Resources;

/// The most disks, interfaces or tags of one instance.
const MOST: usize = 16;
/// More than any machine has; sums of such numbers stay far from overflowing.
const LARGEST: u32 = i32::MAX as u32;

/// An instance as it is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = InstanceRequest)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    /// Letters, digits, and inner dashes and dots.
    #[schema(min_length = 1, max_length = 63, pattern = "^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$")]
    pub(super) name: String,
    #[schema(minimum = 1, maximum = 2147483647)]
    pub(super) cpus: u32,
    /// In MiB.
    #[schema(minimum = 1, maximum = 2147483647)]
    pub(super) memory: u32,
    #[schema(required = false, max_items = 16)]
    pub(super) disk: Vec<Disk>,
    #[schema(required = false, max_items = 16)]
    pub(super) network: Vec<WantedInterface>,
    /// The node that has to take it.
    #[schema(min_length = 1, max_length = 63, pattern = "^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$")]
    pub(super) placed_on: Option<String>,
    /// What others of the namespace can be kept together with or apart from.
    #[schema(required = false, value_type = Vec<Tag>, max_items = 16)]
    pub(super) tags: BTreeSet<String>,
    #[schema(required = false)]
    pub(super) affinity: Affinity,
}

/// A disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Disk {
    /// In GiB.
    #[schema(minimum = 1, maximum = 2147483647)]
    pub(super) size: u32,
}

/// A network to be on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = InterfaceRequest)]
#[serde(deny_unknown_fields)]
pub(super) struct WantedInterface {
    /// One of the cluster's networks.
    #[schema(min_length = 1, max_length = 63, pattern = "^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$")]
    pub(super) network_uuid: String,
    /// An address of that network; any free one where there is none.
    #[schema(value_type = Option<String>, format = Ipv4)]
    pub(super) address: Option<Ipv4Addr>,
}

/// Which instances of the namespace the node must have, and must not have.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Affinity {
    #[schema(required = false, value_type = Vec<Tag>, max_items = 16)]
    pub(super) together_with: BTreeSet<String>,
    #[schema(required = false, value_type = Vec<Tag>, max_items = 16)]
    pub(super) apart_from: BTreeSet<String>,
}

/// A tag: letters, digits, and inner dashes and dots.
#[derive(ToSchema)]
#[schema(min_length = 1, max_length = 63, pattern = "^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$")]
#[expect(dead_code, reason = "it stands for the texts of a set in the published schema")]
pub(super) struct Tag(String);

impl Affinity {
    pub(super) fn is_empty(&self) -> bool {
        self.together_with.is_empty() && self.apart_from.is_empty()
    }
}

impl Wanted {
    /// Reads a request, or says everything that is wrong with it.
    pub(super) fn parse(document: Value) -> Result<Self, Faults> {
        let mut faults = Faults::default();
        let mut fields = Fields::of(document, "", &mut faults);
        let name = fields.text("name", LABEL, is_label, &mut faults);
        let cpus = fields.number("cpus", 1..=LARGEST, &mut faults);
        let memory = fields.number("memory", 1..=LARGEST, &mut faults);
        let disk = fields.list("disk", MOST, &mut faults, Disk::parse);
        let network = fields.list("network", MOST, &mut faults, WantedInterface::parse);
        let placed_on = fields.optional_text("placed_on", LABEL, is_label, &mut faults);
        let tags = fields.list("tags", MOST, &mut faults, tag);
        let affinity = Affinity::parse(fields.take("affinity"), &mut faults);
        fields.end(&mut faults);
        match (name, cpus, memory) {
            (Some(name), Some(cpus), Some(memory)) if faults.is_empty() => Ok(Self {
                name,
                cpus,
                memory,
                disk,
                network,
                placed_on,
                tags: tags.into_iter().collect(),
                affinity,
            }),
            _ => Err(faults),
        }
    }

    /// What it takes of a node.
    pub(super) fn resources(&self) -> Resources {
        Resources {
            cpus: self.cpus.into(),
            memory: self.memory.into(),
            disk: self.disk.iter().map(|disk| u64::from(disk.size)).sum(),
            disks: self.disk.len() as u64,
        }
    }
}

const LABEL: &str = "1 to 63 letters, digits and inner dashes or dots";

fn tag(value: Value, at: &str, faults: &mut Faults) -> Option<String> {
    match value {
        Value::String(text) if is_label(&text) => Some(text),
        other => faults.expected(at, LABEL, Some(&other)),
    }
}

impl Disk {
    fn parse(value: Value, at: &str, faults: &mut Faults) -> Option<Self> {
        let mut fields = Fields::of(value, at, faults);
        let size = fields.number("size", 1..=LARGEST, faults);
        fields.end(faults);
        Some(Self { size: size? })
    }
}

impl WantedInterface {
    fn parse(value: Value, at: &str, faults: &mut Faults) -> Option<Self> {
        let mut fields = Fields::of(value, at, faults);
        let network_uuid = fields.text("network_uuid", LABEL, is_label, faults);
        let address = fields.optional_text(
            "address",
            "an IPv4 address",
            |text| text.parse::<Ipv4Addr>().is_ok(),
            faults,
        );
        fields.end(faults);
        Some(Self { network_uuid: network_uuid?, address: address.and_then(|text| text.parse().ok()) })
    }
}

impl Affinity {
    fn parse(value: Option<Value>, faults: &mut Faults) -> Self {
        let Some(value) = value else { return Self::default() };
        let mut fields = Fields::of(value, "affinity", faults);
        let together_with = fields.list("together_with", MOST, faults, tag).into_iter().collect();
        let apart_from = fields.list("apart_from", MOST, faults, tag).into_iter().collect();
        fields.end(faults);
        Self { together_with, apart_from }
    }
}
