//! Verdicts: what was shown, why, and a sentence about it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The outcome of one case for one client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// What was shown.
    pub kind: VerdictKind,
    /// Why, for programs.
    pub reason: Reason,
    /// Why, for people, in seconds.
    pub sentence: String,
    /// What else is worth knowing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Verdict {
    /// A verdict without notes.
    #[must_use]
    pub fn new(kind: VerdictKind, reason: Reason, sentence: impl Into<String>) -> Self {
        Self { kind, reason, sentence: sentence.into(), notes: Vec::new() }
    }

    /// The verdict in the light of the cases that this one depends on.
    ///
    /// What was proven stands. Where a dependency never retried, keeping still shows nothing; where it
    /// could not be played at all, neither can this.
    #[must_use]
    pub fn given<'a>(self, dependencies: impl IntoIterator<Item = (&'a str, &'a Self)>) -> Self {
        use VerdictKind as Kind;
        let shown = matches!(self.kind, Kind::Pass | Kind::PassBounded | Kind::Coincident | Kind::Suboptimal);
        if !shown || self.reason.needs_no_dependency() {
            return self;
        }
        for (id, dependency) in dependencies {
            match dependency.kind {
                Kind::Vacuous => {
                    let sentence =
                        format!("{}; but this client was not seen to retry in `{id}`", self.sentence);
                    return Self { kind: Kind::Vacuous, reason: Reason::DependencyVacuous, sentence, ..self };
                }
                Kind::Blocked | Kind::Crash | Kind::NoContact | Kind::HarnessError | Kind::Unsupported => {
                    let sentence = format!("`{id}`, which this case rests on, ended as {}", dependency.kind);
                    return Self { kind: Kind::Blocked, reason: Reason::DependencyMissing, sentence, ..self };
                }
                _ => {}
            }
        }
        self
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.kind, self.sentence)
    }
}

/// What was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerdictKind {
    /// Everything expected was seen.
    Pass,
    /// Right for as long as it was watched; no more is claimed.
    PassBounded,
    /// Proven wrong.
    Fail,
    /// Not wrong, and not as good as it could be.
    Suboptimal,
    /// Reported only.
    Info,
    /// The client never retried, so nothing was shown.
    Vacuous,
    /// Right, and its own backoff would have been as well: nothing shows that it listened.
    Coincident,
    /// The client cannot do what the case needs.
    Unsupported,
    /// A case that this one rests on did not come about.
    Blocked,
    /// The client ended by a signal, or with an exit code that no client ends with on purpose.
    Crash,
    /// The client never sent the request.
    NoContact,
    /// Too close to the runner's own lag to say.
    Inconclusive,
    /// The runner's fault.
    HarnessError,
}

impl VerdictKind {
    /// The word used in JSON and in reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::PassBounded => "pass_bounded",
            Self::Fail => "fail",
            Self::Suboptimal => "suboptimal",
            Self::Info => "info",
            Self::Vacuous => "vacuous",
            Self::Coincident => "coincident",
            Self::Unsupported => "unsupported",
            Self::Blocked => "blocked",
            Self::Crash => "crash",
            Self::NoContact => "no_contact",
            Self::Inconclusive => "inconclusive",
            Self::HarnessError => "harness_error",
        }
    }

    /// Something about the client was seen, good or bad.
    #[must_use]
    pub fn is_witnessed(self) -> bool {
        matches!(self, Self::Pass | Self::PassBounded | Self::Fail | Self::Suboptimal)
    }
}

impl fmt::Display for VerdictKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// Why a verdict is what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Everything expected was seen.
    AsExpected,
    /// A date was obeyed within a second, not exactly.
    Imprecise,
    /// No attempt was seen for as long as the client was watched.
    Silent,
    /// Only part of the script was played.
    PartOfScript,
    /// An attempt came before the promised instant.
    Early,
    /// More attempts than expected.
    TooManyAttempts,
    /// An attempt came faster than without the hint.
    FasterThanControl,
    /// An attempt came within a window of silence.
    BrokeSilence,
    /// A later attempt was another request.
    RequestChanged,
    /// A later operation came inside a known window.
    InsideKnownWindow,
    /// Several operations came back at once.
    Herd,
    /// Fewer attempts than are better.
    FewAttempts,
    /// The client did not end in time.
    DidNotEnd,
    /// The client came back long after it could have.
    Late,
    /// The client comes back without the hint and not with it.
    LostByHint,
    /// The client exited without another attempt.
    NeverRetried,
    /// The client made no further attempt in the window.
    DidNotReturn,
    /// The client's own backoff is as slow as the promise.
    OwnBackoff,
    /// The client said so, or the adapter does.
    Unsupported,
    /// A dependency never retried.
    DependencyVacuous,
    /// A dependency did not come about.
    DependencyMissing,
    /// A signal or an unknown exit code.
    Crashed,
    /// No request arrived.
    NoRequest,
    /// The runner lagged when it mattered.
    Lag,
    /// The client was not watched for as long as the case says.
    WatchedTooShort,
    /// The engine or the runner failed.
    Harness,
}

impl Reason {
    /// An attempt after the first was seen in the case itself, so no other case need show it.
    fn needs_no_dependency(self) -> bool {
        matches!(
            self,
            Self::Imprecise
                | Self::OwnBackoff
                | Self::FasterThanControl
                | Self::BrokeSilence
                | Self::Early
                | Self::TooManyAttempts
                | Self::RequestChanged
                | Self::InsideKnownWindow
                | Self::Herd
        )
    }

    /// The word used in JSON and in reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AsExpected => "as_expected",
            Self::Imprecise => "imprecise",
            Self::Silent => "silent",
            Self::PartOfScript => "part_of_script",
            Self::Early => "early",
            Self::TooManyAttempts => "too_many_attempts",
            Self::FasterThanControl => "faster_than_control",
            Self::BrokeSilence => "broke_silence",
            Self::RequestChanged => "request_changed",
            Self::InsideKnownWindow => "inside_known_window",
            Self::Herd => "herd",
            Self::FewAttempts => "few_attempts",
            Self::DidNotEnd => "did_not_end",
            Self::Late => "late",
            Self::LostByHint => "lost_by_hint",
            Self::NeverRetried => "never_retried",
            Self::DidNotReturn => "did_not_return",
            Self::OwnBackoff => "own_backoff",
            Self::Unsupported => "unsupported",
            Self::DependencyVacuous => "dependency_vacuous",
            Self::DependencyMissing => "dependency_missing",
            Self::Crashed => "crashed",
            Self::NoRequest => "no_request",
            Self::Lag => "lag",
            Self::WatchedTooShort => "watched_too_short",
            Self::Harness => "harness",
        }
    }
}
