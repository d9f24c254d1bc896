//! What a case may expect: a closed vocabulary.

use serde::{Deserialize, Serialize};

/// One expectation. Every word of it can be seen from the server's side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "that", rename_all = "snake_case", deny_unknown_fields)]
pub enum Expectation {
    /// The number of attempts of each operation.
    Attempts {
        /// Fewer show nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min: Option<u32>,
        /// More fail.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<u32>,
    },
    /// No attempt before what the answer before it promised.
    NotBefore {},
    /// No attempt in less than half the time that the client takes without the hint.
    NotFasterThanControl {},
    /// Where the client comes back without the hint, it comes back with it as well.
    ReturnsLikeControl {},
    /// No further attempt for a while after the first answer.
    Silence {
        /// The length of the window.
        ms: u64,
    },
    /// Every attempt has the method, target and body of the first, and these fields of it.
    SameRequest {
        /// Names of header fields, in any case.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        headers: Vec<String>,
    },
    /// No later operation inside a window that an earlier one was told of.
    SecondOperations {},
    /// The second attempts of several operations do not arrive all at once.
    Spread {
        /// The least time between the first and the last of them.
        ms: u64,
    },
    /// Something that grades and never fails.
    Soft {
        /// What is better.
        better: Soft,
    },
}

/// What is better without being required.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case", deny_unknown_fields)]
pub enum Soft {
    /// At least so many attempts.
    Attempts {
        /// The number of attempts.
        min: u32,
    },
    /// An exit no later than this after first contact.
    EndsWithin {
        /// The time in milliseconds.
        ms: u64,
    },
    /// The attempt after a promise comes no later than this after its instant.
    Prompt {
        /// The time in milliseconds.
        ms: u64,
    },
    /// As the expectation of this name, without failing.
    ReturnsLikeControl,
}
