//! What the tests of this crate share: small cases, and traces made by hand.

#![allow(dead_code, reason = "each test binary uses its part")]

use refusal_script::{Case, Event, ExitMeaning, Trace};

/// A case with the given script, expectations and further members, as JSON.
pub(crate) fn case(script: &str, expect: &str, more: &str) -> Case {
    let text = format!(
        r#"{{"id": "t", "rev": 1, "title": "a test", "level": "promise", "why": "tests",
            "script": {script}, "observe": {{"until": "window", "window_ms": 5000}}, "expect": {expect},
            "self_test": {{"perfect": "pass", "eager": "fail", "never_retries": "vacuous",
                           "tight_loop": "fail", "hangs": "vacuous"}} {more}}}"#
    );
    Case::from_json(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A trace under construction; all times in milliseconds.
#[derive(Default)]
pub(crate) struct Story {
    events: Vec<Event>,
    exchanges: u64,
}

impl Story {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// A request and its answer, a millisecond later.
    pub(crate) fn refused(self, at_ms: u64, step: usize) -> Self {
        self.exchange(1, at_ms, Some(step), 0)
    }

    pub(crate) fn fine(self, at_ms: u64) -> Self {
        self.exchange(1, at_ms, None, 0)
    }

    /// `fraction_ms`: how far into a second the wall clock was at the answer.
    pub(crate) fn exchange(
        mut self,
        operation: u32,
        at_ms: u64,
        step: Option<usize>,
        fraction_ms: i64,
    ) -> Self {
        self.exchanges += 1;
        let exchange = self.exchanges;
        self.events.push(Event::Arrival {
            at_us: at_ms * 1_000,
            exchange,
            connection: 1,
            operation,
            method: "GET".into(),
            target: "/t".into(),
            headers: vec![],
        });
        self.events.push(Event::Answer {
            at_us: at_ms * 1_000,
            exchange,
            step,
            unix_ms: 1_795_996_800_000 + fraction_ms,
            head: String::new(),
        });
        self
    }

    /// The last request once more, with its method and body as given.
    pub(crate) fn sent(mut self, method_now: &str, sha256: &str) -> Self {
        let exchange = self.exchanges;
        for event in &mut self.events {
            if let Event::Arrival { exchange: of, method, .. } = event
                && *of == exchange
            {
                *method = method_now.to_owned();
            }
        }
        self.push(Event::Received {
            at_us: 0,
            exchange,
            body_bytes: 3,
            body_sha256: sha256.into(),
            complete: true,
        })
    }

    pub(crate) fn push(mut self, event: Event) -> Self {
        self.events.push(event);
        self
    }

    pub(crate) fn exit(self, at_ms: u64, code: i32) -> Self {
        let meaning = match code {
            0 | 1 => ExitMeaning::Fine,
            77 => ExitMeaning::Unsupported,
            _ => ExitMeaning::Crash,
        };
        self.push(Event::Exit { at_us: at_ms * 1_000, code: Some(code), signal: None, meaning })
    }

    pub(crate) fn ended(self, at_ms: u64) -> Trace {
        let end = Event::End { at_us: at_ms * 1_000, harness_error: None };
        Trace { events: self.push(end).events }
    }
}
