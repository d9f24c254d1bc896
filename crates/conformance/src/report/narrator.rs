//! What arrives, told as it happens.

use std::fmt::Write as _;

use refusal_script::{Case, Event};

/// Tells the events of one run, one line each, in seconds since first contact.
#[derive(Debug)]
pub struct Narrator<'a> {
    case: &'a Case,
    first_us: Option<u64>,
    attempts: Vec<Told>,
}

/// An attempt that was told of.
#[derive(Debug)]
struct Told {
    exchange: u64,
    operation: u32,
    answered_us: Option<u64>,
}

impl<'a> Narrator<'a> {
    /// For the trace of a case.
    #[must_use]
    pub fn of(case: &'a Case) -> Self {
        Self { case, first_us: None, attempts: Vec::new() }
    }

    /// A line about an event, if it is one for people.
    pub fn tell(&mut self, event: &Event) -> Option<String> {
        match event {
            Event::Arrival { at_us, exchange, operation, method, target, .. } => {
                let first_us = *self.first_us.get_or_insert(*at_us);
                let before: Vec<&Told> =
                    self.attempts.iter().filter(|told| told.operation == *operation).collect();
                let mut line = format!("{} ", clock(*at_us, first_us));
                if self.case.operation_count() > 1 {
                    let _ = write!(line, "operation {operation}, ");
                }
                let _ = write!(line, "attempt {}: {}", before.len() + 1, request(method, target));
                if let Some(answered_us) = before.iter().rev().find_map(|told| told.answered_us) {
                    let _ = write!(line, ", {} after the answer", clock(*at_us, answered_us).trim_start());
                }
                self.attempts.push(Told { exchange: *exchange, operation: *operation, answered_us: None });
                Some(line)
            }
            Event::Answer { at_us, exchange, step, head, .. } => {
                let told = self.attempts.iter_mut().find(|told| told.exchange == *exchange)?;
                told.answered_us = Some(*at_us);
                let mut line = format!("{} answered: ", clock(*at_us, self.first_us?));
                let hints = head.lines().filter(|line| line.to_ascii_lowercase().starts_with("retry-after"));
                let lines: Vec<&str> = head.lines().take(1).chain(hints).collect();
                line.push_str(if lines.is_empty() { "nothing" } else { "" });
                line.push_str(&lines.join("; "));
                if step.is_none() {
                    line.push_str(" (the script is over)");
                }
                Some(line)
            }
            Event::Other { at_us, method, target, .. } => {
                let first_us = self.first_us.unwrap_or(*at_us);
                Some(format!("{} not the case's: {}", clock(*at_us, first_us), request(method, target)))
            }
            Event::Rejected { at_us, problem, .. } => {
                let first_us = self.first_us.unwrap_or(*at_us);
                Some(format!("{} no request: {problem}", clock(*at_us, first_us)))
            }
            Event::Flood { attempts, .. } => Some(format!("more than {attempts} attempts; no more are told")),
            _ => None,
        }
    }
}

/// What a client sent, escaped, so that it cannot move the cursor of a terminal.
fn request(method: &str, target: &str) -> String {
    format!("{} {}", method.escape_debug(), target.escape_debug())
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn clock(us: u64, since_us: u64) -> String {
    format!("{:>8.3} s", us.saturating_sub(since_us) as f64 / 1_000_000.0)
}
