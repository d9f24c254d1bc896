//! `windows`: not-befores that requests share.

use std::hash::{BuildHasher as _, RandomState};

use retry_core::{LARGEST, Windows};

use super::answer::{KeyAnswer, WindowsAnswer};
use super::question::{WindowAction, WindowsQuestion};

/// Questions do not say which status set a window, and answers do not either.
const STATUS: u16 = 503;

pub(super) fn answer(question: &WindowsQuestion<'_>) -> WindowsAnswer {
    // A question may come from anywhere, and its keys with it.
    let mut windows = Windows::<&str>::seeded(question.policy, RandomState::new().hash_one(()));
    let mut answers = Vec::new();
    for event in &question.events {
        let key = &*event.key;
        match event.action {
            WindowAction::Record { not_before } => {
                windows.record(key, not_before, STATUS, event.at);
            }
            WindowAction::Success { started } => windows.success(key, started),
            WindowAction::Ask => answers.push(KeyAnswer {
                at_ms: event.at.as_millis(),
                not_before_ms: windows
                    .ask(key, event.at)
                    .map(|closed| closed.not_before.as_millis().min(LARGEST)),
            }),
        }
    }
    let size = question.events.last().map_or(0, |last| windows.live(last.at));
    WindowsAnswer { answers, size }
}
