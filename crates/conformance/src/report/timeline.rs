//! The timeline of one run: where each bar and tick stands.

use refusal_script::{Case, Event};

/// The width of the picture, in its own units: that of a small screen, so that its text stays legible there.
pub(super) const WIDTH: f64 = 380.0;
const LEFT: f64 = 10.0;
const RIGHT: f64 = 370.0;
/// A letter of a label, about.
const LETTER: f64 = 4.6;
/// What is drawn of a flood: the rest would be one block of colour.
const MOST_TICKS: usize = 200;

/// A run as a picture.
pub(super) struct Timeline {
    pub(super) height: f64,
    pub(super) lanes: Vec<Lane>,
    pub(super) grid: Vec<Mark>,
    pub(super) description: String,
}

/// One operation.
pub(super) struct Lane {
    pub(super) y: f64,
    pub(super) promises: Vec<Bar>,
    pub(super) refusals: Vec<Bar>,
    pub(super) arrivals: Vec<Mark>,
}

pub(super) struct Bar {
    pub(super) x: f64,
    pub(super) width: f64,
    pub(super) label: String,
    /// Wide enough for its label.
    pub(super) has_room: bool,
}

impl Bar {
    fn new(x: f64, width: f64, label: String) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "the length of a label")]
        let has_room = width >= label.len() as f64 * LETTER;
        Self { x, width, label, has_room }
    }
}

pub(super) struct Mark {
    pub(super) x: f64,
    pub(super) label: String,
}

#[expect(clippy::cast_precision_loss, reason = "pixels")]
fn seconds(us: u64) -> f64 {
    us as f64 / 1_000_000.0
}

impl Timeline {
    /// `None` where nothing arrived.
    pub(super) fn of(case: &Case, trace: &[Event]) -> Option<Self> {
        let arrivals: Vec<(u64, u64, u32)> = trace
            .iter()
            .filter_map(|event| match event {
                Event::Arrival { at_us, exchange, operation, .. } => Some((*exchange, *at_us, *operation)),
                _ => None,
            })
            .take(MOST_TICKS)
            .collect();
        let start = arrivals.iter().map(|(_, at_us, _)| *at_us).min()?;
        let end = trace
            .iter()
            .filter_map(|event| match event {
                Event::End { at_us, .. } | Event::Exit { at_us, .. } | Event::Arrival { at_us, .. } => {
                    Some(*at_us)
                }
                _ => None,
            })
            .max()?;
        let length = seconds(end.saturating_sub(start)).max(0.5);
        let x =
            |at_us: u64| (LEFT + seconds(at_us.saturating_sub(start)) / length * (RIGHT - LEFT)).min(RIGHT);
        let mut operations: Vec<u32> = arrivals.iter().map(|(_, _, operation)| *operation).collect();
        operations.sort_unstable();
        operations.dedup();
        let mut lanes = Vec::new();
        let mut y = 6.0;
        for operation in operations {
            let mut lane = Lane { y, promises: Vec::new(), refusals: Vec::new(), arrivals: Vec::new() };
            let own = arrivals.iter().filter(|(_, _, of)| *of == operation);
            for (number, (exchange, at_us, _)) in own.enumerate() {
                let at = seconds(at_us.saturating_sub(start));
                lane.arrivals
                    .push(Mark { x: x(*at_us), label: format!("attempt {} at {at:.2} s", number + 1) });
                lane.answer(case, trace, *exchange, &x);
            }
            lanes.push(lane);
            y += 46.0;
        }
        let step = match length {
            ..1.5 => 0.25,
            1.5..8.0 => 1.0,
            _ => 2.0,
        };
        let grid = (0..64_u32)
            .map(|number| f64::from(number) * step)
            .take_while(|at| *at <= length)
            .map(|at| Mark { x: LEFT + at / length * (RIGHT - LEFT), label: format!("{at} s") })
            .collect();
        let count = arrivals.len();
        let description = format!("{count} requests within {length:.2} s of first contact");
        Some(Self { height: y + 18.0, lanes, grid, description })
    }
}

impl Lane {
    fn answer(&mut self, case: &Case, trace: &[Event], exchange: u64, x: &impl Fn(u64) -> f64) {
        let mut from = None;
        let first_answer = trace.iter().filter_map(|event| match event {
            Event::Answer { at_us, unix_ms, .. } => Some((*at_us, *unix_ms)),
            _ => None,
        });
        let first_answer_unix_ms = first_answer.min().map_or(0, |(_, unix_ms)| unix_ms);
        for event in trace {
            match event {
                Event::Answer { at_us, exchange: of, step, unix_ms, .. } if *of == exchange => {
                    from = Some(*at_us);
                    let promise = step.and_then(|step| case.script.get(step)?.promise);
                    if let Some(promise) = promise {
                        let asked_us = promise.asked_us(*unix_ms, first_answer_unix_ms);
                        let left = x(*at_us);
                        let right = x(at_us.saturating_add(asked_us));
                        let label = format!("asked to wait {} s", seconds(asked_us));
                        self.promises.push(Bar::new(left, (right - left).max(0.0), label));
                    }
                }
                Event::Answered { at_us, exchange: of, .. } if *of == exchange => {
                    if let Some(from) = from {
                        let left = x(from);
                        let label = "the answer, from its first byte to its last".to_owned();
                        self.refusals.push(Bar::new(left, (x(*at_us) - left).max(3.0), label));
                    }
                }
                _ => {}
            }
        }
    }
}
