//! From a line to a typed question.

use std::borrow::Cow;
use std::num::NonZeroU32;

use retry_core::{
    Dates, Join, MOST_LINES, Monotonic, Policy, Reading, Replay, RetryAfter, UnixTime, Verdict, WindowPolicy,
    profiles,
};

use super::json::{Invalid, Object, Written};
use super::{names, overrides};

pub(super) enum Question<'a> {
    Parse(ParseQuestion<'a>),
    Session(Box<SessionQuestion<'a>>),
    Windows(WindowsQuestion<'a>),
}

/// What do these field lines say?
pub(super) struct ParseQuestion<'a> {
    pub(super) lines: Vec<Cow<'a, [u8]>>,
    pub(super) now: UnixTime,
    pub(super) date: Option<Cow<'a, [u8]>>,
    pub(super) age: Option<Cow<'a, [u8]>>,
    pub(super) dates: Dates,
    pub(super) lenient_fractions: bool,
}

/// What becomes of one logical request whose attempts end like this?
pub(super) struct SessionQuestion<'a> {
    pub(super) policy: Policy,
    pub(super) replay: Replay,
    /// The wall clock at the session's start.
    pub(super) now: i64,
    /// Thousandths of the jitter, one for each wait.
    pub(super) draws: Vec<u64>,
    pub(super) events: Vec<AttemptEvent<'a>>,
}

/// The end of one attempt.
pub(super) struct AttemptEvent<'a> {
    pub(super) took_millis: u64,
    pub(super) fields: Fields<'a>,
    pub(super) fate: Fate,
}

pub(super) enum Fate {
    Answered { status: u16, verdict: Verdict },
    NotSent,
    Lost,
}

/// The header fields that a decision looks at.
#[derive(Default)]
pub(super) struct Fields<'a> {
    pub(super) retry_after: Vec<Cow<'a, [u8]>>,
    pub(super) date: Option<Cow<'a, [u8]>>,
    pub(super) age: Option<Cow<'a, [u8]>>,
}

/// Which keys are held when?
pub(super) struct WindowsQuestion<'a> {
    pub(super) policy: WindowPolicy,
    pub(super) events: Vec<WindowEvent<'a>>,
}

pub(super) struct WindowEvent<'a> {
    pub(super) at: Monotonic,
    pub(super) key: Cow<'a, str>,
    pub(super) action: WindowAction,
}

pub(super) enum WindowAction {
    Record { not_before: Monotonic },
    Ask,
    Success { started: Monotonic },
}

impl<'a> Question<'a> {
    pub(super) fn read(line: &'a str) -> Result<Self, Invalid> {
        type Read = for<'b> fn(&Object<'b>) -> Result<Question<'b>, Invalid>;
        const OPERATIONS: [(&str, Read); 3] = [
            ("parse", |question| ParseQuestion::read(question).map(Question::Parse)),
            ("session", |question| {
                SessionQuestion::read(question).map(|session| Question::Session(Box::new(session)))
            }),
            ("windows", |question| WindowsQuestion::read(question).map(Question::Windows)),
        ];
        let question = Object::of_line(line)?;
        let read = question.required("op", |op| op.one_of(&OPERATIONS))?;
        read(&question)
    }
}

impl<'a> ParseQuestion<'a> {
    fn read(question: &Object<'a>) -> Result<Self, Invalid> {
        let nullable_bytes = |value: Written<'a>| value.nullable(Written::bytes);
        Ok(Self {
            lines: question.required("lines", |lines| lines.list(Written::bytes))?,
            now: UnixTime::from_seconds(question.required("now", Written::integer)?),
            date: question.optional("date", nullable_bytes)?.flatten(),
            age: question.optional("age", nullable_bytes)?.flatten(),
            dates: question.optional("dates", |dates| dates.one_of(&names::DATES))?.unwrap_or_default(),
            lenient_fractions: question.optional("lenient_fractions", Written::boolean)?.unwrap_or(false),
        })
    }
}

impl<'a> SessionQuestion<'a> {
    fn read(question: &Object<'a>) -> Result<Self, Invalid> {
        let profile = question.required("profile", |profile| profile.one_of(&profiles::NAMES))?;
        let policy = question.optional("policy", |changes| overrides::apply(profile, &changes.object()?))?;
        let replay = question.optional("request", |request| replay_of(&request.object()?))?;
        let draw = |draw: Written<'a>| draw.natural_within(0..=1_000);
        let draws = question.optional("random", |draws| draws.list(draw))?;
        let now = question.optional("now", Written::integer)?;
        let events = question
            .required("events", |events| events.list(|event| AttemptEvent::read(&event.object()?)))?;
        if events.is_empty() {
            return Err(Invalid::because("expected at least one event, got none").within("events"));
        }
        if now.is_none() && events.iter().any(AttemptEvent::names_a_date) {
            return Err(Invalid::missing("now", "an integer, since a date occurs"));
        }
        Ok(Self {
            policy: policy.unwrap_or(profile),
            replay: replay.unwrap_or(Replay::Always),
            now: now.unwrap_or(0),
            draws: draws.unwrap_or_default(),
            events,
        })
    }
}

fn replay_of(request: &Object<'_>) -> Result<Replay, Invalid> {
    let method = request.optional("method", Written::text)?.unwrap_or(Cow::Borrowed("GET"));
    let vouched = request.optional("vouched", Written::boolean)?.unwrap_or(false);
    let body = request.optional("body", |body| body.one_of(&names::BODIES))?.unwrap_or_default();
    Ok(Replay::of(&method, body, vouched))
}

impl<'a> AttemptEvent<'a> {
    fn read(event: &Object<'a>) -> Result<Self, Invalid> {
        let took_millis = event.required("took_ms", Written::natural)?;
        let status = event.optional("status", |status| status.natural_within(100..=599))?;
        let unanswered =
            event.optional("outcome", |outcome| outcome.one_of(&[("not_sent", true), ("lost", false)]))?;
        let fields = event.optional("headers", Fields::read)?.unwrap_or_default();
        let body = event.get("body").map_or("null", Written::as_str);
        let fate = match (status.map(u16::try_from), unanswered) {
            (Some(Ok(status)), None) => {
                Fate::Answered { status, verdict: retry_middleware::verdict(body.as_bytes()) }
            }
            (None, Some(true)) => Fate::NotSent,
            (None, Some(false)) => Fate::Lost,
            (None, None) => return Err(Invalid::missing("status", "this or `outcome`")),
            (Some(_), _) => return Err(Invalid::because("expected `status` or `outcome`, got both")),
        };
        Ok(Self { took_millis, fields, fate })
    }

    /// Whether a wall clock is needed to say what this event means.
    fn names_a_date(&self) -> bool {
        // Whether a date is one does not depend on the clock, only a two-digit year's century does.
        let reading = Reading::at(UnixTime::from_seconds(0));
        let is_date = |line: &[u8]| matches!(RetryAfter::parse([line], &reading), RetryAfter::Date { .. });
        self.fields.retry_after.iter().take(MOST_LINES).any(|line| is_date(line))
    }
}

impl<'a> Fields<'a> {
    fn read(headers: Written<'a>) -> Result<Self, Invalid> {
        let mut fields = Self::default();
        let lines = headers.list(|line| {
            let mut parts = line.list(Ok)?.into_iter();
            let (Some(name), Some(value), None) = (parts.next(), parts.next(), parts.next()) else {
                return Err(Invalid::because("expected a name and a value"));
            };
            let name = name.text().map_err(|invalid| invalid.within("[0]"))?;
            let value = value.bytes().map_err(|invalid| invalid.within("[1]"))?;
            Ok((name, value))
        })?;
        for (name, value) in lines {
            if name.eq_ignore_ascii_case("retry-after") {
                fields.retry_after.push(value);
            } else if name.eq_ignore_ascii_case("date") {
                fields.date.get_or_insert(value);
            } else if name.eq_ignore_ascii_case("age") {
                fields.age.get_or_insert(value);
            }
        }
        Ok(fields)
    }
}

impl<'a> WindowsQuestion<'a> {
    const CAPACITY: NonZeroU32 = NonZeroU32::new(1_024).expect("1,024 is not 0");
    const CEILING_MILLIS: u64 = 300_000;

    fn read(question: &Object<'a>) -> Result<Self, Invalid> {
        let capacity = question.optional("capacity", capacity)?;
        let ceiling = question.optional("ceiling_ms", Written::natural)?;
        let mut before = 0;
        let events = question.required("events", |events| {
            events.list(|event| {
                let event = event.object()?;
                let at_millis = event.required("at_ms", Written::natural)?;
                if at_millis < before {
                    let problem = format_args!("expected at least {before}, got {at_millis}");
                    return Err(Invalid::because(problem).within("at_ms"));
                }
                before = at_millis;
                WindowEvent::read(&event, Monotonic::from_millis(at_millis))
            })
        })?;
        let policy = WindowPolicy {
            capacity: capacity.unwrap_or(Self::CAPACITY),
            join: question.optional("join", |join| join.one_of(&names::JOINS))?.unwrap_or(Join::Latest),
            ceiling_millis: ceiling.unwrap_or(Self::CEILING_MILLIS),
        };
        Ok(Self { policy, events })
    }
}

impl<'a> WindowEvent<'a> {
    fn read(event: &Object<'a>, at: Monotonic) -> Result<Self, Invalid> {
        let instant = |name| event.required(name, Written::natural).map(Monotonic::from_millis);
        let record = event.optional("record", Written::text)?;
        let ask = event.optional("ask", Written::text)?;
        let success = event.optional("success", Written::text)?;
        let (key, action) = match (record, ask, success) {
            (Some(key), None, None) => (key, WindowAction::Record { not_before: instant("not_before_ms")? }),
            (None, Some(key), None) => (key, WindowAction::Ask),
            (None, None, Some(key)) => (key, WindowAction::Success { started: instant("started_ms")? }),
            _ => return Err(Invalid::because("expected exactly one of `record`, `ask` and `success`")),
        };
        Ok(Self { at, key, action })
    }
}

/// More keys than can be counted are no bound that could be met.
fn capacity(written: Written<'_>) -> Result<NonZeroU32, Invalid> {
    let capacity = u32::try_from(written.natural()?).unwrap_or(u32::MAX);
    NonZeroU32::new(capacity).ok_or_else(|| Invalid::because("expected an integer of at least 1, got 0"))
}
