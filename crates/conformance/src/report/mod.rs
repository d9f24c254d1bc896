//! Reports, all from one result: JSON lines, a terminal tree, JUnit, one HTML file, differences.

mod difference;
mod explain;
mod html;
mod junit;
mod lines;
mod markdown;
mod narrator;
mod summary;
mod timeline;
mod tree;

pub use difference::Difference;
pub use explain::explain;
pub use html::html;
pub use junit::junit;
pub use markdown::markdown;
pub use narrator::Narrator;
pub use summary::{Outcome, Tally, outcome, tallies};
pub use tree::{tree, verdict_mark};

pub(crate) use tree::level_name;

use refusal_script::{Case, Event, Verdict};
use serde::{Deserialize, Serialize};

/// Everything that one run found out, traces included; what the JSON lines hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// When, where and how.
    pub run: RunRecord,
    /// The clients, in the order in which they are reported.
    pub clients: Vec<ClientRecord>,
    /// The cases, likewise.
    pub cases: Vec<CaseRecord>,
    /// One result for each client and case.
    pub results: Vec<ResultRecord>,
}

/// When, where and how a run was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunRecord {
    /// The edition of the cases.
    pub edition: String,
    /// The version of the runner.
    pub runner: String,
    /// When it began, unix milliseconds.
    pub started_unix_ms: u64,
    /// How long it took, milliseconds.
    pub took_ms: u64,
    /// Operating system and architecture.
    pub host: String,
    /// Processors that the runner may use.
    pub processors: usize,
    /// The host's load at the beginning and at the end, where the system says so.
    pub load: Vec<String>,
    /// Clients at once.
    pub jobs: usize,
}

/// A client that was tested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientRecord {
    /// Its name; results refer to it.
    pub name: String,
    /// What it is.
    pub title: String,
    /// What it says of its version.
    pub version: String,
    /// The command line, placeholders and all.
    pub command: Vec<String>,
    /// Why it could not be run at all; then there are no results of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// A case that was played.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseRecord {
    /// The file that it stands in.
    pub group: String,
    /// The case itself.
    pub case: Case,
}

/// What one client did in one case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResultRecord {
    /// The client's name.
    pub client: String,
    /// The case's id.
    pub case: String,
    /// What was shown.
    pub verdict: Verdict,
    /// Why the adapter expects it to fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known_failing: Option<String>,
    /// The end of what the client wrote to its standard error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complaint: Option<String>,
    /// What was seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<Event>,
}

impl Report {
    /// The result of a client in a case.
    #[must_use]
    pub fn result(&self, client: &str, case: &str) -> Option<&ResultRecord> {
        self.results.iter().find(|result| result.client == client && result.case == case)
    }

    /// One report of several: clients of the same name keep the results of the last.
    #[must_use]
    pub fn merged(reports: Vec<Self>) -> Option<Self> {
        let mut reports = reports.into_iter();
        let mut merged = reports.next()?;
        for report in reports {
            for client in &report.clients {
                merged.clients.retain(|known| known.name != client.name);
                merged.results.retain(|result| result.client != client.name);
            }
            for case in report.cases {
                if !merged.cases.iter().any(|known| known.case.id == case.case.id) {
                    merged.cases.push(case);
                }
            }
            merged.clients.extend(report.clients);
            merged.results.extend(report.results);
            merged.run.started_unix_ms = merged.run.started_unix_ms.min(report.run.started_unix_ms);
            merged.run.took_ms = merged.run.took_ms.saturating_add(report.run.took_ms);
        }
        Some(merged)
    }
}

/// `1 client`, `2 clients`.
fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
