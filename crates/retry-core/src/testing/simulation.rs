//! Virtual time: a clock that jumps to whatever happens next.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;

use super::trace::{Record, Trace};
use crate::decision::{Decision, Step};
use crate::hint::Hint;
use crate::outcome::Outcome;
use crate::policy::WindowPolicy;
use crate::request::{Attempt, LogicalRequest, Random};
use crate::time::Monotonic;
use crate::windows::{Windows, clears_window, records_window};

/// A client under test. [`LogicalRequest`] is one; a client of your own is held to the same laws.
pub trait Client {
    /// What to do now. `window` is what others were told; asked before every attempt and after waking.
    fn poll(&self, now: Monotonic, window: Option<Monotonic>) -> Step;

    /// An attempt begins.
    fn begin(&mut self, now: Monotonic) -> Attempt;

    /// An attempt ended: what now?
    fn end(
        &mut self,
        outcome: &Outcome,
        received: Monotonic,
        now: Monotonic,
        random: &mut Seeded,
    ) -> Decision;
}

impl Client for LogicalRequest {
    fn poll(&self, now: Monotonic, window: Option<Monotonic>) -> Step {
        Self::poll(self, now, window)
    }

    fn begin(&mut self, now: Monotonic) -> Attempt {
        Self::begin(self, now)
    }

    fn end(
        &mut self,
        outcome: &Outcome,
        received: Monotonic,
        now: Monotonic,
        random: &mut Seeded,
    ) -> Decision {
        Self::end(self, outcome, received, now, random)
    }
}

/// One attempt as the server sees it.
#[derive(Debug, Clone, Copy)]
pub struct Arrival {
    /// The number of the client, from 0.
    pub client: usize,
    /// The number of all arrivals before this one, whoever sent them.
    pub earlier: usize,
    /// When it arrived.
    pub at: Monotonic,
}

/// What the server makes of an arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply {
    /// What the client sees.
    pub outcome: Outcome,
    /// From the arrival to the head.
    pub took: Duration,
    /// From the head to the end of what the client reads of the body before it decides.
    pub body_took: Duration,
}

impl Reply {
    /// An answer that takes no time.
    #[must_use]
    pub const fn answer(status: u16, hint: Hint) -> Self {
        Self { outcome: Outcome::answered(status, hint), took: Duration::ZERO, body_took: Duration::ZERO }
    }

    /// The same reply, `took` after the arrival.
    #[must_use]
    pub const fn after(self, took: Duration) -> Self {
        Self { took, ..self }
    }
}

/// Any number of clients against one scripted server in virtual time.
///
/// The clock jumps to the earliest thing that can happen; ties go to the client with the smaller number.
/// Two runs with the same seed, clients and server are the same to the last record.
pub struct Simulation {
    random: Seeded,
    windows: Option<Windows<u8>>,
    clients: Vec<Running>,
    most_records: usize,
}

struct Running {
    client: Box<dyn Client>,
    from: Monotonic,
    state: State,
    /// What this client's own refusals recorded, which does not hold it.
    told: Option<Monotonic>,
}

enum State {
    Idle,
    Waiting(Monotonic),
    UnderWay { started: Monotonic, received: Monotonic, told: Monotonic, outcome: Outcome },
    Ended,
}

impl Simulation {
    /// An empty simulation. Everything random in it comes from `seed`.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self { random: Seeded::new(seed), windows: None, clients: Vec::new(), most_records: 100_000 }
    }

    /// All clients share windows, on one key.
    #[must_use]
    pub fn windows(mut self, policy: WindowPolicy) -> Self {
        self.windows = Some(Windows::new(policy));
        self
    }

    /// One more client, at the clock's origin.
    #[must_use]
    pub fn client(self, client: impl Client + 'static) -> Self {
        self.client_from(Monotonic::ORIGIN, client)
    }

    /// One more client, which wants its first attempt at `from`.
    #[must_use]
    pub fn client_from(mut self, from: Monotonic, client: impl Client + 'static) -> Self {
        self.clients.push(Running { client: Box::new(client), from, state: State::Idle, told: None });
        self
    }

    /// Runs until every client has ended, and tells what happened.
    ///
    /// A client that never ends is cut off after 100,000 records, so a livelock shows as a trace that
    /// breaks the laws rather than as a test that hangs.
    pub fn run(mut self, mut server: impl FnMut(Arrival) -> Reply) -> Trace {
        let mut trace = Trace::default();
        let mut arrivals = 0_usize;
        for (number, running) in self.clients.iter().enumerate() {
            trace.push(number, Record::Wanted { at: running.from });
        }
        while trace.len() < self.most_records {
            let due = self.clients.iter().map(Running::due).enumerate();
            let Some((number, now)) =
                due.filter_map(|(number, due)| Some((number, due?))).min_by_key(|(_, due)| *due)
            else {
                break;
            };
            let Some(running) = self.clients.get_mut(number) else { break };
            if let State::UnderWay { started, received, outcome, .. } = running.state {
                running.told = note(&mut self.windows, &outcome, started, received).or(running.told);
                let decision = running.client.end(&outcome, received, now, &mut self.random);
                trace.push(number, Record::Ended { received, at: now, outcome, decision });
                running.state = match decision {
                    Decision::Wait(_) => State::Waiting(now),
                    Decision::Done | Decision::Stop(_) => State::Ended,
                };
                continue;
            }
            let closed = self.windows.as_ref().and_then(|windows| windows.ask(&KEY, now));
            let window = closed.map(|closed| closed.not_before).filter(|until| Some(*until) != running.told);
            let step = running.client.poll(now, window);
            trace.push(number, Record::Polled { at: now, window, step });
            running.state = match step {
                Step::Stop(_) => State::Ended,
                Step::Wait(until) => State::Waiting(until),
                Step::Attempt => {
                    let attempt = running.client.begin(now);
                    trace.push(number, Record::Began { at: now, abandon_at: attempt.abandon_at });
                    let reply = server(Arrival { client: number, earlier: arrivals, at: now });
                    arrivals = arrivals.saturating_add(1);
                    State::under_way(now, attempt.abandon_at, reply)
                }
            };
        }
        trace
    }
}

const KEY: u8 = 0;

/// Records a refusal's window or a success, as a client does when a head arrives; returns what was told.
fn note(
    windows: &mut Option<Windows<u8>>,
    outcome: &Outcome,
    started: Monotonic,
    received: Monotonic,
) -> Option<Monotonic> {
    let windows = windows.as_mut()?;
    match outcome {
        Outcome::Answered { status, .. } if clears_window(*status) => {
            windows.success(&KEY, started);
            None
        }
        Outcome::Answered { status, hint, .. } if records_window(*status) => {
            let not_before = received.after_millis(hint.asked().millis()?);
            windows.record(KEY, not_before, *status, received)
        }
        _ => None,
    }
}

impl State {
    /// Nothing of an attempt outlasts its timeout (T6): without a head it is lost then; with one, the head
    /// counts and the rest of the body is given up.
    fn under_way(started: Monotonic, abandon_at: Monotonic, reply: Reply) -> Self {
        let received = started.after(reply.took);
        if received > abandon_at {
            return Self::UnderWay {
                started,
                received: abandon_at,
                told: abandon_at,
                outcome: Outcome::Lost,
            };
        }
        let told = received.after(reply.body_took).min(abandon_at);
        Self::UnderWay { started, received, told, outcome: reply.outcome }
    }
}

impl Running {
    fn due(&self) -> Option<Monotonic> {
        match &self.state {
            State::Idle => Some(self.from),
            State::Waiting(until) => Some(*until),
            State::UnderWay { told, .. } => Some(*told),
            State::Ended => None,
        }
    }
}

/// A small generator of random numbers, the same on every machine: for tests, not for secrets.
#[derive(Debug, Clone)]
pub struct Seeded {
    state: u64,
}

impl Seeded {
    /// A generator that always gives the same numbers for the same seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 random bits.
    pub fn next_bits(&mut self) -> u64 {
        // SplitMix64: an odd step through all states, then a mix of each.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.state;
        bits = (bits ^ bits.wrapping_shr(30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits.wrapping_shr(27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ bits.wrapping_shr(31)
    }
}

impl Random for Seeded {
    fn up_to(&mut self, most: u64) -> u64 {
        match most.checked_add(1) {
            Some(numbers) => self.next_bits().checked_rem(numbers).unwrap_or(0),
            None => self.next_bits(),
        }
    }
}
