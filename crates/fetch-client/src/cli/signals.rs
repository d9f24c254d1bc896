//! Ctrl-C and SIGTERM.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::exit;

/// Cancels `cancel` at the first Ctrl-C or SIGTERM; the second ends the process, whatever it is doing.
pub(super) fn watch(cancel: &CancellationToken) -> std::io::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let cancel = cancel.clone();
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            if cancel.is_cancelled() {
                exit::at_once(exit::INTERRUPTED);
            }
            cancel.cancel();
        }
    });
    Ok(())
}
