//! What the fuzzer does with its bytes. The committed corpus is replayed through the same functions by a
//! test of `retry-core`, on a stable toolchain.
#![allow(dead_code, reason = "each target uses one of these")]

use retry_core::testing::laws::{self, WindowOperation};
use retry_core::{
    Decision, Hint, HttpDate, Join, LogicalRequest, Monotonic, NoRandom, Outcome, Policy, Reading, Replay,
    RetryAfter, Step, UnixTime, Verdict, WindowPolicy, profiles,
};

/// The first nine bytes are flags and the wall clock; the rest are field lines, `Date` and `Age` first.
pub(crate) fn parse_lines(data: &[u8]) {
    let mut bytes = Bytes(data);
    let (flags, now) = (bytes.next(), UnixTime::from_seconds(bytes.wide() as i64));
    let mut lines = bytes.0.split(|byte| *byte == b'\n');
    let date = if flags & 1 == 0 { lines.next() } else { None };
    let age = if flags & 2 == 0 { lines.next() } else { None };
    let dates = if flags & 4 == 0 { retry_core::Dates::Honour } else { retry_core::Dates::TreatAsAbsent };
    let reading = Reading { now, date, age, dates, lenient_fractions: flags & 8 == 0 };
    let lines: Vec<&[u8]> = lines.collect();
    laws::parsing_is_total(&lines, &reading).unwrap();
    let hint = Hint::from(RetryAfter::parse(lines.iter().copied(), &reading));
    assert!(hint.raw().to_string().len() <= 128);
}

/// A second, written and read; and a text, read, written and read again.
pub(crate) fn date_round_trip(data: &[u8]) {
    let at = UnixTime::from_seconds(Bytes(data).wide() as i64);
    laws::parse_of_format_is_the_identity(at).unwrap();
    if let Some(date) = HttpDate::parse(data, UnixTime::from_seconds(1_795_996_800)) {
        laws::parse_of_format_is_the_identity(date.at).unwrap();
    }
}

/// A profile, and outcomes at instants that only go forward.
pub(crate) fn request_operations(data: &[u8]) {
    let mut bytes = Bytes(data);
    let (_, policy) = profiles::NAMES[usize::from(bytes.next()) % profiles::NAMES.len()];
    let replay = [Replay::Always, Replay::OnlyIfUnsent, Replay::Never][usize::from(bytes.next()) % 3];
    let budget = core::time::Duration::from_millis(bytes.short() * 8);
    let policy = policy.to_builder().enabled(true).budget(budget).build().unwrap();
    let mut now = Monotonic::ORIGIN;
    let mut request = LogicalRequest::new(&policy, replay, now);
    let mut sends = 0;
    while !bytes.0.is_empty() {
        now = now.after_millis(bytes.short() * 4);
        match request.poll(now, None) {
            Step::Stop(_) => break,
            Step::Wait(until) => {
                assert!(until > now && until <= request.hard_stop());
                now = until;
                continue;
            }
            Step::Attempt => {}
        }
        let attempt = request.begin(now);
        sends += 1;
        assert_eq!(attempt.number, sends);
        assert!(attempt.abandon_at >= now);
        let outcome = outcome(&mut bytes);
        let received = now;
        now = now.after_millis(u64::from(bytes.next()));
        match request.end(&outcome, received, now, &mut NoRandom) {
            Decision::Wait(wait) => {
                assert!(replay != Replay::Never && wait.until >= now && wait.until <= request.hard_stop());
            }
            Decision::Done => return,
            Decision::Stop(stop) => {
                assert_eq!(request.poll(now, None), Step::Stop(stop));
                assert!(!stop.to_string().is_empty());
                if bytes.next() & 1 == 0 {
                    break;
                }
                request.resume();
            }
        }
    }
}

/// A small store, held to the plain model.
pub(crate) fn window_operations(data: &[u8]) {
    let mut bytes = Bytes(data);
    let capacity = core::num::NonZeroU32::new(u32::from(bytes.next() % 6) + 1).unwrap();
    let join = if bytes.next() & 1 == 0 { Join::Latest } else { Join::Earliest };
    let policy = WindowPolicy { capacity, join, ceiling_millis: bytes.short() };
    let mut now = Monotonic::ORIGIN;
    let mut operations = Vec::new();
    while !bytes.0.is_empty() && operations.len() < 64 {
        now = now.after_millis(u64::from(bytes.next() % 16));
        let (kind, key, span) = (bytes.next(), bytes.next() % 8, u64::from(bytes.next()));
        let operation = match kind % 4 {
            0 => WindowOperation::Ask { key },
            1 => {
                let started = Monotonic::from_millis(now.as_millis().saturating_sub(span % 32));
                WindowOperation::Success { key, started }
            }
            _ => WindowOperation::Record { key, not_before: now.after_millis(span) },
        };
        operations.push((now, operation));
    }
    laws::windows_match_the_plain_model(policy, &operations).unwrap();
}

/// What reads as a policy survives being written.
pub(crate) fn policy_document(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    if let Ok(policy) = toml::from_str::<Policy>(text) {
        let written = toml::to_string(&policy).unwrap();
        assert_eq!(toml::from_str::<Policy>(&written).unwrap(), policy);
    }
}

fn outcome(bytes: &mut Bytes<'_>) -> Outcome {
    let status = [503, 429, 507, 413, 200, 404, 500][usize::from(bytes.next()) % 7];
    let kind = bytes.next();
    let verdict = if kind & 1 == 0 { Verdict::Transient } else { Verdict::Unmarked };
    match kind >> 6 {
        0 => Outcome::NotSent,
        1 => Outcome::Lost,
        2 => Outcome::Answered { status, hint: Hint::NONE, verdict },
        _ => {
            Outcome::Answered { status, hint: Hint::after_millis(bytes.wide() >> (kind & 63), b""), verdict }
        }
    }
}

/// Takes bytes off the front; zeros when there are none left.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn next(&mut self) -> u8 {
        let (byte, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *byte
    }

    fn short(&mut self) -> u64 {
        u64::from(u16::from_le_bytes([self.next(), self.next()]))
    }

    fn wide(&mut self) -> u64 {
        u64::from_le_bytes(core::array::from_fn(|_| self.next()))
    }
}
