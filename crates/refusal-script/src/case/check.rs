//! What the types of a case cannot say.

use super::{Body, Case, Connection, HeaderValue, Need, Precision, Step, Then, Until};
use crate::expectation::{Expectation, Soft};
use crate::verdict::VerdictKind;

/// A script that takes longer than this is no use to anybody.
const LONGEST_WINDOW_MS: u64 = 120_000;
/// In bytes: a body is held in memory, once for each answer that is being written.
const LARGEST_BODY: u64 = 16 * 1024 * 1024;
/// In bytes: no client reads a longer one.
const LARGEST_HEAD: usize = 64 * 1024;
const MOST_STEPS: usize = 64;
/// Enough to be told apart from a few, and few enough for one connection each.
const MOST_OPERATIONS: u32 = 64;
/// More than are recorded of a tight loop.
const MOST_REPEATS: u32 = 10_000;

/// A case that contradicts itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("case {id:?}: {field}: {problem}")]
pub struct CaseError {
    /// The id as written.
    pub id: String,
    /// Where in the case, for example `script[0].status`.
    pub field: String,
    /// What was expected and what came.
    pub problem: String,
}

/// A document that holds no usable cases.
#[derive(Debug, thiserror::Error)]
pub enum CasesError {
    /// Not JSON, or not a list of cases.
    #[error("expected cases in JSON: {0}")]
    Json(serde_json::Error),
    /// A member of a case that is unknown, missing, or of another type.
    #[error("case {id:?}: {problem}")]
    Member {
        /// The id as written, if there is one.
        id: String,
        /// Which member, and what was expected.
        problem: serde_json::Error,
    },
    /// A case that contradicts itself.
    #[error(transparent)]
    Case(#[from] CaseError),
    /// One id for two cases.
    #[error("case {0:?}: id: expected once, got twice")]
    Twice(String),
}

impl Case {
    /// Checks what the types cannot say.
    ///
    /// # Errors
    ///
    /// The first contradiction, with the field that has it.
    pub fn check(&self) -> Result<(), CaseError> {
        self.check_identity()?;
        self.check_request()?;
        self.check_script()?;
        self.check_expectations()?;
        let verdicts = self.self_test.each().map(|(_, verdict)| verdict);
        if self.level != super::Level::Info && verdicts.iter().all(|verdict| *verdict == verdicts[0]) {
            return Err(self.error("self_test", "expected to tell two of the five clients apart"));
        }
        if self.level == super::Level::Info && verdicts.contains(&VerdictKind::Fail) {
            return Err(self.error("self_test", "expected no failure at level info"));
        }
        Ok(())
    }

    fn error(&self, field: impl Into<String>, problem: impl Into<String>) -> CaseError {
        CaseError { id: self.id.clone(), field: field.into(), problem: problem.into() }
    }

    fn check_identity(&self) -> Result<(), CaseError> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if self.id.is_empty() || self.id.len() > 64 || !self.id.bytes().all(plain) {
            return Err(self.error("id", "expected up to 64 lower-case letters, digits and hyphens"));
        }
        if self.rev == 0 {
            return Err(self.error("rev", "expected at least 1, got 0"));
        }
        if self.title.trim().is_empty() {
            return Err(self.error("title", "expected a line of text, got nothing"));
        }
        if self.spec.is_none() && self.why.is_none() {
            return Err(self.error("spec", "expected `spec` or `why`, got neither"));
        }
        if self.depends_on.contains(&self.id) {
            return Err(self.error("depends_on", "expected other cases, got this one"));
        }
        for name in self.environment.keys() {
            if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_') {
                return Err(self.error("environment", format!("expected an upper-case name, got {name:?}")));
            }
        }
        Ok(())
    }

    fn check_request(&self) -> Result<(), CaseError> {
        let needs = |need| self.needs.contains(&need);
        let method = &self.request.method;
        if method.is_empty() || !method.bytes().all(|byte| byte.is_ascii_uppercase()) {
            return Err(self.error("request.method", format!("expected upper-case letters, got {method:?}")));
        }
        if method != "GET" && !needs(Need::Post) {
            return Err(self.error("needs", format!("expected `post` beside the method {method}")));
        }
        if self.request.body_bytes.is_some() && !needs(Need::Body) {
            return Err(self.error("needs", "expected `body` beside request.body_bytes"));
        }
        if self.request.body_bytes.is_some_and(|bytes| bytes > LARGEST_BODY) {
            return Err(self.error("request.body_bytes", format!("expected at most {LARGEST_BODY}")));
        }
        if self.request.deadline_s.is_some() != needs(Need::Deadline) {
            return Err(self.error("needs", "expected `deadline` exactly where request.deadline_s is given"));
        }
        if self.request.cap_s.is_some() != needs(Need::Cap) {
            return Err(self.error("needs", "expected `cap` exactly where request.cap_s is given"));
        }
        if let Some(operations) = self.operations
            && !(2..=MOST_OPERATIONS).contains(&operations.count)
        {
            return Err(self.error(
                "operations.count",
                format!("expected 2 to {MOST_OPERATIONS}, got {}", operations.count),
            ));
        }
        if self.operations.is_some() != (needs(Need::TwoOperations) || needs(Need::Concurrent)) {
            return Err(self.error(
                "needs",
                "expected `two_operations` or `concurrent` exactly where operations are given",
            ));
        }
        if self.observe.window_ms == 0 || self.observe.window_ms > LONGEST_WINDOW_MS {
            return Err(self.error(
                "observe.window_ms",
                format!("expected 1 to {LONGEST_WINDOW_MS}, got {}", self.observe.window_ms),
            ));
        }
        Ok(())
    }

    fn check_script(&self) -> Result<(), CaseError> {
        if self.script.is_empty() || self.script.len() > MOST_STEPS {
            return Err(
                self.error("script", format!("expected 1 to {MOST_STEPS} steps, got {}", self.script.len()))
            );
        }
        for (index, step) in self.script.iter().enumerate() {
            step.check()
                .map_err(|(field, problem)| self.error(format!("script[{index}].{field}"), problem))?;
            let date = step.promise.is_some_and(|promise| promise.precision == Precision::Date);
            if date && !self.needs.contains(&Need::SharedClock) {
                return Err(self.error("needs", "expected `shared_clock` beside a promise that is a date"));
            }
        }
        if self.then == Then::RepeatLast && self.observe.until == Until::ScriptEnd {
            return Err(
                self.error("observe.until", "expected `window` or `client_exit` for a script without end")
            );
        }
        Ok(())
    }

    fn check_expectations(&self) -> Result<(), CaseError> {
        if self.expect.is_empty() {
            return Err(self.error("expect", "expected at least one expectation, got none"));
        }
        let promises = self.script.iter().any(|step| step.promise.is_some());
        for (index, expectation) in self.expect.iter().enumerate() {
            let problem = match expectation {
                Expectation::Attempts { min: None, max: None } => Some("expected `min`, `max` or both"),
                Expectation::Attempts { min: Some(min), max: Some(max) } if min > max => {
                    Some("expected `min` no greater than `max`")
                }
                Expectation::Attempts { max: Some(0), .. } => Some("expected `max` of at least 1"),
                Expectation::NotBefore {} | Expectation::Soft { better: Soft::Prompt { .. } }
                    if !promises =>
                {
                    Some("expected a promise in the script")
                }
                Expectation::NotFasterThanControl {}
                | Expectation::ReturnsLikeControl {}
                | Expectation::Soft { better: Soft::ReturnsLikeControl }
                    if !self.control =>
                {
                    Some("expected `control` to be true")
                }
                Expectation::Silence { ms } if *ms == 0 || *ms > self.observe.window_ms => {
                    Some("expected a window within the observation")
                }
                Expectation::SecondOperations {} | Expectation::Spread { .. }
                    if self.operations.is_none() =>
                {
                    Some("expected `operations`")
                }
                _ => None,
            };
            if let Some(problem) = problem {
                return Err(self.error(format!("expect[{index}]"), problem));
            }
        }
        Ok(())
    }
}

type Problem = (String, String);

impl Step {
    fn check(&self) -> Result<(), Problem> {
        let problem = |field: &str, problem: String| Err((field.to_owned(), problem));
        match (self.status, &self.raw_head) {
            (None, None) => return problem("status", "expected `status` or `raw_head`, got neither".into()),
            (Some(_), Some(_)) => {
                return problem("raw_head", "expected `status` or `raw_head`, got both".into());
            }
            (Some(status), None) if !(200..=599).contains(&status) => {
                return problem("status", format!("expected 200 to 599, got {status}"));
            }
            (None, Some(_)) if !self.headers.is_empty() => {
                return problem("headers", "expected none beside `raw_head`".into());
            }
            (None, Some(head)) if head.is_empty() && self.connection == Connection::Keep => {
                return problem("connection", "expected an end to a connection without an answer".into());
            }
            (None, Some(head)) if head.len() > LARGEST_HEAD => {
                return problem("raw_head", format!("expected at most {LARGEST_HEAD} bytes"));
            }
            (None, Some(head)) => bytes("raw_head", head)?,
            _ => {}
        }
        fields("headers", &self.headers)?;
        if let Body::Text(text) = &self.body {
            bytes("body", text)?;
        }
        if self.body.len() > LARGEST_BODY {
            return problem("body", format!("expected at most {LARGEST_BODY} bytes"));
        }
        if self.connection == Connection::ResetInBody && self.body.len() < 2 {
            return problem("body", "expected at least 2 bytes for a reset in the body".into());
        }
        if self.trickle.is_some_and(|trickle| trickle.chunk_bytes == 0) {
            return problem("trickle.chunk_bytes", "expected at least 1, got 0".into());
        }
        if !(1..=MOST_REPEATS).contains(&self.repeat) {
            return problem("repeat", format!("expected 1 to {MOST_REPEATS}, got {}", self.repeat));
        }
        for (index, interim) in self.interim.iter().enumerate() {
            let status = interim.status;
            if !(100..=199).contains(&status) || status == 101 {
                return problem(
                    &format!("interim[{index}].status"),
                    format!("expected 100 to 199 and not 101, got {status}"),
                );
            }
            fields(&format!("interim[{index}].headers"), &interim.headers)?;
        }
        Ok(())
    }
}

fn fields(field: &str, headers: &[(String, HeaderValue)]) -> Result<(), Problem> {
    for (index, (name, value)) in headers.iter().enumerate() {
        let field = format!("{field}[{index}]");
        let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if name.is_empty() || !name.bytes().all(token) {
            return Err((field, format!("expected a field name, got {name:?}; use `raw_head` for oddities")));
        }
        if let HeaderValue::Literal(text) = value {
            bytes(&field, text)?;
            if text.contains(['\r', '\n', '\0']) {
                return Err((field, "expected one line; use `raw_head` for oddities".to_owned()));
            }
        }
    }
    Ok(())
}

fn bytes(field: &str, text: &str) -> Result<(), Problem> {
    match text.chars().find(|character| u32::from(*character) > 255) {
        Some(character) => {
            Err((field.to_owned(), format!("expected code points 0 to 255, got {character:?}")))
        }
        None => Ok(()),
    }
}
