//! Standard error: lines, and bars where there is a terminal.

use std::io::{IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use super::message;
use crate::progress::{Direction, Observer, Transfer, Waiting};

/// Shows progress on standard error: bars on a terminal, and lines in a file or a pipe.
pub(super) struct Console {
    on_terminal: bool,
    bar: Mutex<Option<ProgressBar>>,
}

impl Console {
    pub(super) fn new() -> Self {
        Self { on_terminal: std::io::stderr().is_terminal(), bar: Mutex::new(None) }
    }

    pub(super) const fn is_on_terminal(&self) -> bool {
        self.on_terminal
    }

    /// Prints a line at once. Nobody is left to tell when standard error is gone.
    pub(super) fn line(&self, text: &str) {
        self.clear();
        let mut out = std::io::stderr().lock();
        let _ = writeln!(out, "{text}").and_then(|()| out.flush());
    }

    /// Removes a bar that is showing.
    pub(super) fn clear(&self) {
        if let Some(bar) = self.bar().take() {
            bar.finish_and_clear();
        }
    }

    fn bar(&self) -> MutexGuard<'_, Option<ProgressBar>> {
        self.bar.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Console {
    fn waiting(&self, waiting: &Waiting) {
        self.line(&message::waiting(waiting));
        if self.on_terminal {
            *self.bar() = Some(wait_bar(waiting.wait));
        }
    }

    fn resumed(&self) {
        self.clear();
    }

    fn transferred(&self, transfer: &Transfer) {
        let Transfer { direction, done, total } = *transfer;
        if self.on_terminal {
            self.bar().get_or_insert_with(|| transfer_bar(direction, total)).set_position(done);
        }
        if done == total {
            let verb = match direction {
                Direction::Upload => "sent",
                Direction::Download => "received",
            };
            self.line(&format!("{verb} {}", indicatif::BinaryBytes(total)));
        }
    }
}

fn wait_bar(wait: Duration) -> ProgressBar {
    const WIDTH: u128 = 40;
    let filled = move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        let done = (state.elapsed().as_millis() * WIDTH / wait.as_millis().max(1)).min(WIDTH);
        for column in 0..WIDTH {
            let _ = out.write_char(if column < done { '━' } else { '┄' });
        }
    };
    let left = move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        let _ = write!(out, "{}s", wait.saturating_sub(state.elapsed()).as_secs_f64().ceil());
    };
    let style = ProgressStyle::with_template("   {filled} next attempt in {left}")
        .expect("the template is well formed")
        .with_key("filled", filled)
        .with_key("left", left);
    let bar = ProgressBar::new_spinner().with_style(style);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

fn transfer_bar(direction: Direction, total: u64) -> ProgressBar {
    let arrow = match direction {
        Direction::Upload => "↑",
        Direction::Download => "↓",
    };
    let template = format!(
        "   {arrow} {{bar:40}} {{binary_bytes}}/{{binary_total_bytes}} {{binary_bytes_per_sec}} {{eta}} left"
    );
    let style =
        ProgressStyle::with_template(&template).expect("the template is well formed").progress_chars("━━┄");
    ProgressBar::new(total).with_style(style)
}
