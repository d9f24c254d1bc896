//! A case: one script, what it promises, and what is expected of the client.

mod check;
mod script;

pub use check::{CaseError, CasesError};
pub(crate) use script::latin1;
pub use script::{
    Base, Body, Connection, DateForm, DateTemplate, HeaderValue, Interim, Precision, Promise, Step, Then,
    Trickle,
};

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::expectation::Expectation;
use crate::verdict::VerdictKind;

/// One case: immutable under its `id` and `rev`.
///
/// [`Case::from_json`] and [`Edition::from_json`] check what the types cannot say; [`crate::Server::start`]
/// checks it again, so no contradictory case is ever played.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Lower-case words joined by hyphens; also the path that the client is sent to.
    pub id: String,
    /// Raised when script or expectations change.
    pub rev: u32,
    /// One line for people.
    pub title: String,
    /// How much a failure weighs.
    pub level: Level,
    /// Document and section that the level rests on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<String>,
    /// Why the case exists, where no document says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Part of the quick profile.
    #[serde(default, skip_serializing_if = "is_default")]
    pub quick: bool,
    /// What the client under test must be able to do; otherwise the case is unsupported.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Need>,
    /// Cases that show that this one can show something.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// The case holds for one of several kinds of client only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alternatives: Option<Alternative>,
    /// What the client is asked to send.
    #[serde(default, skip_serializing_if = "is_default")]
    pub request: Request,
    /// Environment of the client, `TZ` above all.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// More than one operation in one process of the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations: Option<Operations>,
    /// The answers, in order, for each operation anew.
    pub script: Vec<Step>,
    /// What follows the script.
    #[serde(default, skip_serializing_if = "is_default")]
    pub then: Then,
    /// For how long the client is watched.
    pub observe: Observe,
    /// Play the same script without the hint as well, to learn the client's own backoff.
    #[serde(default, skip_serializing_if = "is_default")]
    pub control: bool,
    /// What is expected; all of it.
    pub expect: Vec<Expectation>,
    /// The verdicts of the five built-in clients.
    pub self_test: SelfTest,
}

impl Case {
    /// Reads one case and checks it.
    ///
    /// # Errors
    ///
    /// Text that is no case, or a case that contradicts itself; the error names the id and the field.
    pub fn from_json(text: &str) -> Result<Self, CasesError> {
        Self::from_value(serde_json::from_str(text).map_err(CasesError::Json)?)
    }

    fn from_value(value: Value) -> Result<Self, CasesError> {
        let id = value.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let case: Self =
            serde_json::from_value(value).map_err(|problem| CasesError::Member { id, problem })?;
        case.check()?;
        Ok(case)
    }

    /// The number of operations that the client is to run.
    #[must_use]
    pub fn operation_count(&self) -> u32 {
        self.operations.map_or(1, |operations| operations.count)
    }

    /// The same script without its hints and promises: what the client does of its own accord.
    #[must_use]
    pub fn without_hint(&self) -> Self {
        let mut control = self.clone();
        for step in &mut control.script {
            step.remove_hint();
        }
        // What was expected may be about the promises that are gone.
        control.expect = vec![Expectation::Attempts { min: Some(1), max: None }];
        control.control = false;
        control
    }
}

/// Cases under the name of an edition: the content of one file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Edition {
    /// For example `2026.1`.
    pub edition: String,
    /// The cases, in the order in which they are reported.
    pub cases: Vec<Case>,
}

impl Edition {
    /// Reads a file of cases and checks each of them; ids are unique within it.
    ///
    /// # Errors
    ///
    /// As [`Case::from_json`], and for an id that occurs twice.
    pub fn from_json(text: &str) -> Result<Self, CasesError> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Document {
            edition: String,
            cases: Vec<Value>,
        }
        let Document { edition, cases } = serde_json::from_str(text).map_err(CasesError::Json)?;
        let cases = cases.into_iter().map(Case::from_value).collect::<Result<Vec<_>, _>>()?;
        let mut seen = BTreeSet::new();
        match cases.iter().find(|case| !seen.insert(case.id.as_str())) {
            Some(twice) => Err(CasesError::Twice(twice.id.clone())),
            None => Ok(Self { edition, cases }),
        }
    }
}

/// How much a failure weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// A MUST of an RFC that binds a client which acts on the field.
    Must,
    /// The server asked. RFC 9110 section 10.2.3 obliges nobody, so this is a level of its own.
    Promise,
    /// A SHOULD, or what a careful client does.
    Should,
    /// Better and worse; never a failure.
    Quality,
    /// Reported, never graded.
    Info,
}

/// What a client must be able to do for a case to mean something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// Sends methods other than GET.
    Post,
    /// Sends a request body.
    Body,
    /// Runs a second operation after the first, in the same process.
    TwoOperations,
    /// Runs operations at the same time, in the same process.
    Concurrent,
    /// Follows redirects.
    Redirects,
    /// Takes a deadline for the whole call.
    Deadline,
    /// Takes the longest wait that it will accept.
    Cap,
    /// Reads the same wall clock as the runner.
    SharedClock,
}

/// One of several readings of a status, between which the client's own claim decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alternative {
    /// The choice, for example `507`.
    pub choice: String,
    /// The side of it that this case is for, for example `interactive`.
    pub when: String,
}

/// The request that the client is asked to send.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Request {
    /// The method, `GET` unless the case needs `post`.
    pub method: String,
    /// The length of the body in bytes; the runner makes it up.
    pub body_bytes: Option<u64>,
    /// The deadline for the whole call, in seconds.
    pub deadline_s: Option<u64>,
    /// The longest single wait that the client may accept, in seconds.
    pub cap_s: Option<u64>,
}

impl Default for Request {
    fn default() -> Self {
        Self { method: "GET".to_owned(), body_bytes: None, deadline_s: None, cap_s: None }
    }
}

/// Several operations in one process of the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operations {
    /// How many, at least two.
    pub count: u32,
    /// When they start.
    pub start: Start,
}

/// When the operations of a case start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// All at once.
    Together,
    /// Each when the one before it has ended.
    InTurn,
}

/// For how long the client is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observe {
    /// What ends the observation before the window does.
    pub until: Until,
    /// The longest observation, counted from first contact.
    pub window_ms: u64,
}

/// What ends an observation early. A client that exits always does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Until {
    /// Every operation has had an answer from behind the script.
    ScriptEnd,
    /// The client's exit.
    ClientExit,
    /// Nothing but the window and the client's exit.
    Window,
}

/// The verdict of each built-in client. A case that tells no two of them apart is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelfTest {
    /// Does what the specification of this project says.
    pub perfect: VerdictKind,
    /// Comes back after 300 ms whatever it is told, on every status from 400, a few times.
    pub eager: VerdictKind,
    /// Sends one request and exits.
    pub never_retries: VerdictKind,
    /// Sends again at once, for ever, until it is answered with less than 400.
    pub tight_loop: VerdictKind,
    /// Sends one request, reads the head of the answer, and does nothing more.
    pub hangs: VerdictKind,
}

impl SelfTest {
    /// Name and verdict of each built-in client.
    #[must_use]
    pub fn each(&self) -> [(&'static str, VerdictKind); 5] {
        [
            ("perfect", self.perfect),
            ("eager", self.eager),
            ("never_retries", self.never_retries),
            ("tight_loop", self.tight_loop),
            ("hangs", self.hangs),
        ]
    }
}

/// For `skip_serializing_if`: what is as it would be anyway is not written.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
