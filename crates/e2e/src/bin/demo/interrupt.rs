//! Ctrl-C: everything ends, and nothing is left.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use e2e::Ender;
use tokio::signal::unix::{SignalKind, signal};

/// What a process that Ctrl-C has ended exits with.
const INTERRUPTED: i32 = 130;

/// Knows whether the reader wants no more of it.
#[derive(Debug)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// At Ctrl-C or SIGTERM, kills what was started, removes what was made, and exits.
    pub(crate) fn watch(ender: Ender) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let (mut interrupt, mut terminate) = {
            let _entered = runtime.enter();
            let watch = |kind| signal(kind).context("could not watch for signals");
            (watch(SignalKind::interrupt())?, watch(SignalKind::terminate())?)
        };
        let happened = Arc::new(AtomicBool::new(false));
        let happening = Arc::clone(&happened);
        std::thread::spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
            });
            happening.store(true, Ordering::SeqCst);
            ender.end();
            std::process::exit(INTERRUPTED);
        });
        Ok(Self(happened))
    }

    /// Does not return where an interruption is under way: what fails by then fails because of it.
    pub(crate) fn let_it_end(&self) {
        while self.0.load(Ordering::SeqCst) {
            std::thread::park();
        }
    }
}
