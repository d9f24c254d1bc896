//! What changed between two reports.

use std::fmt;

use refusal_script::VerdictKind;

use super::Report;

/// One client and case whose verdict is another than before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The client's name.
    pub client: String,
    /// The case's id.
    pub case: String,
    /// The verdict before, if there was one.
    pub before: Option<VerdictKind>,
    /// The verdict now, if there is one.
    pub after: Option<VerdictKind>,
    /// What the new report says about it.
    pub sentence: String,
}

impl Difference {
    /// All differences, in the order of the new report, and then what only the old one has.
    #[must_use]
    pub fn between(before: &Report, after: &Report) -> Vec<Self> {
        let mut differences = Vec::new();
        for result in &after.results {
            let old = before.result(&result.client, &result.case).map(|old| old.verdict.kind);
            if old != Some(result.verdict.kind) {
                differences.push(Self {
                    client: result.client.clone(),
                    case: result.case.clone(),
                    before: old,
                    after: Some(result.verdict.kind),
                    sentence: result.verdict.sentence.clone(),
                });
            }
        }
        for result in before.results.iter().filter(|old| after.result(&old.client, &old.case).is_none()) {
            differences.push(Self {
                client: result.client.clone(),
                case: result.case.clone(),
                before: Some(result.verdict.kind),
                after: None,
                sentence: "not in the new report".to_owned(),
            });
        }
        differences
    }

    /// A client does worse than it did; what is no longer looked at might.
    #[must_use]
    pub fn is_regression(&self) -> bool {
        let bad = |kind| matches!(kind, VerdictKind::Fail | VerdictKind::Crash | VerdictKind::NoContact);
        self.after.is_none_or(bad) && !self.before.is_some_and(bad)
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |kind: Option<VerdictKind>| kind.map_or("none", VerdictKind::as_str);
        write!(
            formatter,
            "{} {}: {} -> {}: {}",
            self.client,
            self.case,
            word(self.before),
            word(self.after),
            self.sentence
        )
    }
}
