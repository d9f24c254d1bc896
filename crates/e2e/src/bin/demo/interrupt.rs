use anyhow::Context;
use e2e::Ender;
use tokio::signal::unix::{SignalKind, signal};

/// What a process that Ctrl-C has ended exits with.
const INTERRUPTED: i32 = 130;

/// At Ctrl-C or SIGTERM, kills what was started, removes what was made, and exits.
pub(crate) fn end_at_interrupt(ender: Ender) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let (mut interrupt, mut terminate) = {
        let _entered = runtime.enter();
        let watch = |kind| signal(kind).context("could not watch for signals");
        (watch(SignalKind::interrupt())?, watch(SignalKind::terminate())?)
    };
    std::thread::spawn(move || {
        runtime.block_on(async {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        });
        ender.end();
        std::process::exit(INTERRUPTED);
    });
    Ok(())
}
