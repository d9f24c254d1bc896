//! The timeline of one run: where each bar and tick stands.

use std::collections::BTreeMap;

use refusal_script::{Case, Event};

use super::counted;

/// The width of the picture, in its own units: that of a small screen, so that its text stays legible there.
pub(super) const WIDTH: f64 = 380.0;
const LEFT: f64 = 10.0;
const RIGHT: f64 = 370.0;
/// Above the first lane, of each lane, and below the last, where the seconds stand.
const TOP: f64 = 6.0;
const LANE: f64 = 46.0;
const BOTTOM: f64 = 18.0;
/// Seconds: so that a run that was over at once still has a scale.
const SHORTEST: f64 = 0.5;
/// An answer that was written at once is still to be seen.
const THINNEST: f64 = 3.0;
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
#[derive(Default)]
pub(super) struct Lane {
    pub(super) y: f64,
    pub(super) promises: Vec<Bar>,
    pub(super) answers: Vec<Bar>,
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

impl Timeline {
    /// `None` where nothing arrived.
    pub(super) fn of(case: &Case, trace: &[Event]) -> Option<Self> {
        let arrivals: Vec<u64> = trace.iter().filter_map(arrival_us).collect();
        let start_us = *arrivals.iter().min()?;
        let end_us = trace.iter().filter_map(end_us).max()?;
        let length = seconds(end_us.saturating_sub(start_us)).max(SHORTEST);
        let x = |at_us: u64| {
            (LEFT + seconds(at_us.saturating_sub(start_us)) / length * (RIGHT - LEFT)).min(RIGHT)
        };
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
        let lanes = lanes(case, trace, start_us, x);
        #[expect(clippy::cast_precision_loss, reason = "pixels")]
        let height = TOP + lanes.len() as f64 * LANE + BOTTOM;
        let requests = counted(arrivals.len(), "request");
        let description = format!("{requests} within {length:.2} s of first contact");
        Some(Self { height, lanes, grid, description })
    }
}

/// The lanes of all operations, in their order.
fn lanes(case: &Case, trace: &[Event], start_us: u64, x: impl Fn(u64) -> f64) -> Vec<Lane> {
    let first_answer = trace.iter().filter_map(|event| match event {
        Event::Answer { at_us, unix_ms, .. } => Some((*at_us, *unix_ms)),
        _ => None,
    });
    let first_answer_unix_ms = first_answer.min().map_or(0, |(_, unix_ms)| unix_ms);
    let mut lanes: BTreeMap<u32, Lane> = BTreeMap::new();
    // The operation of each request that is drawn, and when its answer began.
    let mut drawn: BTreeMap<u64, (u32, Option<u64>)> = BTreeMap::new();
    for event in trace {
        match event {
            Event::Arrival { at_us, exchange, operation, .. } if drawn.len() < MOST_TICKS => {
                drawn.insert(*exchange, (*operation, None));
                let lane = lanes.entry(*operation).or_default();
                let at = seconds(at_us.saturating_sub(start_us));
                let label = format!("attempt {} at {at:.2} s", lane.arrivals.len() + 1);
                lane.arrivals.push(Mark { x: x(*at_us), label });
            }
            Event::Answer { at_us, exchange, step, unix_ms, .. } => {
                let Some((operation, answer_us)) = drawn.get_mut(exchange) else { continue };
                *answer_us = Some(*at_us);
                let promise = step.and_then(|step| case.script.get(step)?.promise);
                if let Some(promise) = promise {
                    let asked_us = promise.asked_us(*unix_ms, first_answer_unix_ms);
                    let (left, right) = (x(*at_us), x(at_us.saturating_add(asked_us)));
                    let label = format!("asked to wait {} s", seconds(asked_us));
                    let bar = Bar::new(left, (right - left).max(0.0), label);
                    lanes.entry(*operation).or_default().promises.push(bar);
                }
            }
            Event::Answered { at_us, exchange, .. } => {
                let Some((operation, Some(answer_us))) = drawn.get(exchange) else { continue };
                let (left, right) = (x(*answer_us), x(*at_us));
                let label = "the answer, from its first byte to its last".to_owned();
                let bar = Bar::new(left, (right - left).max(THINNEST), label);
                lanes.entry(*operation).or_default().answers.push(bar);
            }
            _ => {}
        }
    }
    let mut y = TOP;
    for lane in lanes.values_mut() {
        lane.y = y;
        y += LANE;
    }
    lanes.into_values().collect()
}

fn arrival_us(event: &Event) -> Option<u64> {
    match event {
        Event::Arrival { at_us, .. } => Some(*at_us),
        _ => None,
    }
}

fn end_us(event: &Event) -> Option<u64> {
    match event {
        Event::End { at_us, .. } | Event::Exit { at_us, .. } | Event::Arrival { at_us, .. } => Some(*at_us),
        _ => None,
    }
}

#[expect(clippy::cast_precision_loss, reason = "pixels")]
fn seconds(us: u64) -> f64 {
    us as f64 / 1_000_000.0
}
