//! Random questions, most of them near an edge of some rule.

mod draw;
mod field;
mod json;
mod parse;
mod session;
mod windows;

use draw::Draw;

/// An endless sequence of questions, one JSON object each, that depends on nothing but its seed.
///
/// Two answerers that agree on many of them are likely to agree. Evenly spread input would say little:
/// here dates are nearly valid, numbers lie around the bounds, and windows end in the same instant. A few
/// questions in a hundred are not valid.
///
/// ```
/// let questions: Vec<String> = conformance::Questions::from_seed(1).take(3).collect();
/// assert_eq!(questions, conformance::Questions::from_seed(1).take(3).collect::<Vec<_>>());
/// assert!(questions.iter().all(|question| !question.contains('\n')));
/// ```
#[derive(Debug, Clone)]
pub struct Questions {
    draw: Draw,
}

impl Questions {
    /// The questions of `seed`.
    #[must_use]
    pub const fn from_seed(seed: u64) -> Self {
        Self { draw: Draw::from_seed(seed) }
    }
}

impl Iterator for Questions {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let draw = &mut self.draw;
        let question = match draw.below(10) {
            0..4 => parse::question(draw),
            4..8 => session::question(draw),
            _ => windows::question(draw),
        };
        Some(if draw.one_in(80) { json::misspelt(draw, &question) } else { question })
    }
}
