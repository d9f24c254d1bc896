//! Instances, as they are asked for and as they are shown.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// An instance to be created. What is empty is not sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default)]
pub struct InstanceRequest {
    /// What it is to be called.
    pub name: String,
    /// How many processors.
    pub cpus: u32,
    /// How much memory, in MiB.
    pub memory: u32,
    /// The sizes of its disks, in GiB.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "disks")]
    pub disk: Vec<u32>,
    /// The networks to be on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub network: Vec<InterfaceRequest>,
    /// The node that has to take it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placed_on: Option<String>,
    /// What other instances can be kept together with or apart from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Which instances its node must have, and must not have.
    #[serde(skip_serializing_if = "AffinityRequest::is_empty")]
    pub affinity: AffinityRequest,
}

/// A network to be on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InterfaceRequest {
    /// Which network.
    pub network_uuid: String,
    /// Which address of it; any free one where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
}

/// Which instances of the namespace, by their tags, a node must have, and must not have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default)]
pub struct AffinityRequest {
    /// The node has one of each.
    pub together_with: Vec<String>,
    /// The node has none of these.
    pub apart_from: Vec<String>,
}

impl AffinityRequest {
    fn is_empty(&self) -> bool {
        self.together_with.is_empty() && self.apart_from.is_empty()
    }
}

fn disks<S: serde::Serializer>(sizes: &[u32], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(sizes.iter().map(|size| Map::from_iter([("size".to_owned(), Value::from(*size))])))
}

/// An instance as the cluster shows it: what every client needs, and everything else as it came.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Instance {
    /// What it is called, for ever.
    pub uuid: String,
    /// What it is called by people.
    pub name: String,
    /// How far it has come: `creating`, `created`, or what else the cluster says.
    pub state: String,
    /// The rest.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

impl Instance {
    pub(crate) fn is_creating(&self) -> bool {
        self.state == "creating"
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_empty_is_not_sent() {
        let mut request =
            InstanceRequest { name: "it".into(), cpus: 1, memory: 64, ..InstanceRequest::default() };
        assert_eq!(
            serde_json::to_value(&request).expect("JSON"),
            json!({ "name": "it", "cpus": 1, "memory": 64 })
        );
        request.disk = vec![8];
        request.affinity.apart_from = vec!["web".into()];
        assert_eq!(
            serde_json::to_value(&request).expect("JSON"),
            json!({
                "name": "it", "cpus": 1, "memory": 64, "disk": [{ "size": 8 }],
                "affinity": { "together_with": [], "apart_from": ["web"] },
            })
        );
    }
}
