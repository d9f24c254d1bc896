//! What the cluster is told at its start, and what contradicts itself in it.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::time::Duration;

use serde::Deserialize;

use super::refusals::CapacityRefusal;
use super::resources::Resources;
use crate::refusal::RetryAfter;

/// The cluster's settings. The defaults are the contract and a small cluster to try it on.
#[derive(Debug, Clone)]
pub struct ClusterConfig {
    /// The nodes, in the order in which they are preferred among equals.
    pub nodes: Vec<Node>,
    /// The networks that instances can be on.
    pub networks: Vec<Network>,
    /// The most cpus that all nodes together promise; all that they have where it is `None`.
    pub most_cpus: Option<u64>,
    /// The most cpus of a namespace, by its name.
    pub claims: BTreeMap<String, u64>,
    /// Whether a claim that is used up refuses a creation; otherwise it is only logged.
    pub enforce_claims: bool,
    /// What a transient [`CapacityRefusal`] tells clients to wait.
    pub retry_after: RetryAfter,
    /// How long a deleted instance goes on holding its capacity.
    pub release_delay: Duration,
    /// How long a deleted instance goes on holding its addresses: neighbours remember who had them.
    pub address_delay: Duration,
    /// How long an instance is `creating` before it is started.
    pub start_delay: Duration,
    /// How long an access token is good, in whole seconds.
    pub token_lifetime: Duration,
}

impl ClusterConfig {
    /// A node's measurements follow a deletion after 5.3 to 5.6 s: the middle of that.
    pub const RELEASE_DELAY: Duration = Duration::from_millis(5_500);

    /// A cluster as a file describes it: `[[nodes]]`, `[[networks]]`, `[claims]`, `most_cpus` and
    /// `enforce_claims`, with the default times.
    ///
    /// # Errors
    ///
    /// [`ClusterConfigError::Toml`] says where the text is not such a description. Contradictions are found by
    /// [`Server::bind`](crate::Server::bind).
    pub fn from_toml(text: &str) -> Result<Self, ClusterConfigError> {
        let Written { nodes, networks, most_cpus, claims, enforce_claims } =
            toml::from_str(text).map_err(|error| ClusterConfigError::Toml(error.to_string()))?;
        Ok(Self { nodes, networks, most_cpus, claims, enforce_claims, ..Self::default() })
    }

    pub(crate) fn check(&self) -> Result<(), ClusterConfigError> {
        let mut names = BTreeSet::new();
        for name in self.nodes.iter().map(|node| &node.name) {
            if !is_label(name) {
                return Err(ClusterConfigError::Name(name.clone()));
            }
            if !names.insert(name) {
                return Err(ClusterConfigError::Twice(name.clone()));
            }
        }
        let mut ids = BTreeSet::new();
        for network in &self.networks {
            if !is_label(&network.id) {
                return Err(ClusterConfigError::Name(network.id.clone()));
            }
            if !ids.insert(&network.id) {
                return Err(ClusterConfigError::Twice(network.id.clone()));
            }
            if network.last < network.first || network.size() > Network::LARGEST {
                return Err(ClusterConfigError::Network(network.clone()));
            }
        }
        if Duration::from_secs(self.retry_after.as_seconds().into()) < self.release_delay {
            return Err(ClusterConfigError::Hint { hint: self.retry_after, release: self.release_delay });
        }
        Ok(())
    }
}

/// What a file says of a cluster. Times are no part of it: they are for demonstrations.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    nodes: Vec<Node>,
    #[serde(default)]
    networks: Vec<Network>,
    most_cpus: Option<u64>,
    #[serde(default)]
    claims: BTreeMap<String, u64>,
    #[serde(default)]
    enforce_claims: bool,
}

impl Default for ClusterConfig {
    fn default() -> Self {
        let hypervisor = |name: &str| Node { name: name.into(), ..Node::default() };
        Self {
            nodes: vec![
                Node { is_hypervisor: false, ..hypervisor("control-1") },
                hypervisor("node-1"),
                hypervisor("node-2"),
                hypervisor("node-3"),
            ],
            networks: vec![Network {
                id: "default".into(),
                first: Ipv4Addr::new(10, 0, 0, 2),
                last: Ipv4Addr::new(10, 0, 0, 254),
            }],
            most_cpus: None,
            claims: BTreeMap::new(),
            enforce_claims: false,
            retry_after: CapacityRefusal::RETRY_AFTER,
            release_delay: Self::RELEASE_DELAY,
            // Five minutes: longer than what machines keep in their tables of neighbours.
            address_delay: Duration::from_secs(300),
            // Long enough to be seen, short enough to wait for.
            start_delay: Duration::from_secs(1),
            // A quarter of an hour: long for a command, short for a token that is found in a log.
            token_lifetime: Duration::from_secs(15 * 60),
        }
    }
}

/// A node, as it is configured.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Node {
    /// What it is called.
    pub name: String,
    /// Whether it answers.
    pub up: bool,
    /// Whether it runs instances.
    pub is_hypervisor: bool,
    /// How many cpus it has.
    pub cpus: u32,
    /// The most cpus of one instance.
    pub cpu_max_per_instance: u32,
    /// How much memory it has, in MiB.
    pub memory: u32,
    /// How much disk space it has, in GiB.
    pub disk: u32,
    /// How many disks it serves at once.
    pub disks: u32,
    /// How many instances it starts at once.
    pub queue: u32,
}

impl Node {
    pub(super) fn capacity(&self) -> Resources {
        Resources {
            cpus: self.cpus.into(),
            memory: self.memory.into(),
            disk: self.disk.into(),
            disks: self.disks.into(),
        }
    }
}

impl Default for Node {
    fn default() -> Self {
        Self {
            name: String::new(),
            up: true,
            is_hypervisor: true,
            cpus: 16,
            cpu_max_per_instance: 8,
            memory: 64 << 10,
            disk: 1_000,
            disks: 64,
            queue: 32,
        }
    }
}

/// A network: a pool of addresses, from the first to the last.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// What it is called.
    pub id: String,
    /// The first address that it gives out.
    pub first: Ipv4Addr,
    /// The last address that it gives out.
    pub last: Ipv4Addr,
}

impl Network {
    /// Finding a free address looks at those that are not.
    const LARGEST: u64 = 1 << 16;

    pub(super) fn size(&self) -> u64 {
        u64::from(self.last.to_bits().saturating_sub(self.first.to_bits())) + 1
    }

    pub(super) fn holds(&self, address: Ipv4Addr) -> bool {
        (self.first..=self.last).contains(&address)
    }
}

/// Why a cluster cannot be as configured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterConfigError {
    /// Not a description of a cluster.
    #[error("{0}")]
    Toml(String),
    /// Not a name.
    #[error("expected a name of 1 to 63 letters, digits and inner dashes or dots, got `{}`", .0.escape_debug())]
    Name(String),
    /// Two of one name.
    #[error("the name `{0}` is given twice")]
    Twice(String),
    /// Not a range of addresses.
    #[error("expected a range of at most 65536 addresses for `{}`, got {} to {}", .0.id, .0.first, .0.last)]
    Network(Network),
    /// Whoever obeyed the hint would come too early.
    #[error("a hint of {} s would be a lie: capacity is back only after {} s", hint.as_seconds(), release.as_secs_f64())]
    Hint {
        /// What clients would be told.
        hint: RetryAfter,
        /// How long a deleted instance holds its capacity.
        release: Duration,
    },
}

/// A name as in DNS: 1 to 63 letters, digits, dashes and dots, the latter two not at an end.
pub(super) fn is_label(name: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"-.".contains(&byte);
    let edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = name.as_bytes();
    bytes.len() <= 63 && edge(bytes.first()) && edge(bytes.last()) && name.bytes().all(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_cluster_is_sound() {
        assert_eq!(ClusterConfig::default().check(), Ok(()));
    }

    #[test]
    fn a_cluster_is_read_from_toml_and_a_misspelt_key_is_named() {
        let text = r#"
            enforce_claims = true
            [[nodes]]
            name = "big"
            cpus = 128
            [[networks]]
            id = "net"
            first = "10.0.0.2"
            last = "10.0.0.9"
            [claims]
            tenant = 4
        "#;
        let config = ClusterConfig::from_toml(text).unwrap();
        assert_eq!(config.check(), Ok(()));
        assert_eq!(
            (config.nodes[0].cpus, config.nodes[0].memory, config.networks[0].size()),
            (128, 65_536, 8)
        );
        assert_eq!(config.claims["tenant"], 4);
        let error = ClusterConfig::from_toml("[[nodes]]\nname = \"n\"\nhypervisor = true").unwrap_err();
        assert!(error.to_string().contains("unknown field `hypervisor`"), "{error}");
        assert!(ClusterConfig::from_toml("").unwrap_err().to_string().contains("missing field `nodes`"));
    }

    #[test]
    fn a_contradiction_is_refused_by_name() {
        let refused = |change: fn(&mut ClusterConfig)| {
            let mut config = ClusterConfig::default();
            change(&mut config);
            config.check().unwrap_err().to_string()
        };
        insta::assert_snapshot!(refused(|config| config.nodes[1].name = "a/b".into()), @"expected a name of 1 to 63 letters, digits and inner dashes or dots, got `a/b`");
        insta::assert_snapshot!(refused(|config| config.nodes[1].name = "node-2".into()), @"the name `node-2` is given twice");
        insta::assert_snapshot!(refused(|config| config.networks[0].last = Ipv4Addr::new(10, 0, 0, 1)), @"expected a range of at most 65536 addresses for `default`, got 10.0.0.2 to 10.0.0.1");
        insta::assert_snapshot!(refused(|config| config.networks[0].last = Ipv4Addr::BROADCAST), @"expected a range of at most 65536 addresses for `default`, got 10.0.0.2 to 255.255.255.255");
        insta::assert_snapshot!(refused(|config| config.retry_after = RetryAfter::seconds(5)), @"a hint of 5 s would be a lie: capacity is back only after 5.5 s");
    }
}
