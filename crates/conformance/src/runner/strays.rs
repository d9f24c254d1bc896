//! Processes that left the group of the client that started them.
//!
//! A process group is ended with one call, and a child leaves it with one: `setsid`. Two nets are spread
//! for those. Every client carries a [`MARK`] in its environment, which its children inherit; what bears it
//! is ended with the client. And this process adopts what loses its parent ([`adopt`]), so that whoever
//! cleared the environment as well is a child of this process at the end of the run ([`end_adopted`]).

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::process::{Pid, WaitOptions, getpid, waitpid};

use crate::clock::unix_ms;

/// The variable that marks a client and its children.
pub(super) const MARK: &str = "RAC_RUN";

/// A value for [`MARK`] that no other client has.
pub(super) fn new_mark() -> String {
    static CLIENTS: AtomicU64 = AtomicU64::new(0);
    let number = CLIENTS.fetch_add(1, Ordering::Relaxed);
    format!("{}-{}-{number}", getpid().as_raw_nonzero(), unix_ms())
}

/// Who starts another while one is ended is met in the next round.
const MOST_ROUNDS: usize = 50;
/// The kernel takes a moment to end a process.
const BETWEEN_ROUNDS: Duration = Duration::from_millis(5);

/// Makes this process the parent of whatever its clients leave behind; without effect where the system
/// knows no such thing.
pub fn adopt() {
    #[cfg(target_os = "linux")]
    // A kernel that cannot leaves the mark to find strays by.
    let _ = rustix::process::set_child_subreaper(Some(getpid()));
}

/// Ends what was adopted, when all clients have ended.
pub async fn end_adopted() {
    let own = getpid();
    let collect = |stray| {
        // Who is not dead yet is met again.
        let _ = waitpid(Some(stray), WaitOptions::NOHANG);
    };
    end_all(move |process| parent(process) == Some(own), collect).await;
}

/// Ends what bears a mark.
pub(super) async fn end_marked(mark: &str) {
    let entry = format!("{MARK}={mark}").into_bytes();
    let bears = move |process: &Path| {
        // Of another user, or gone: nobody that a client started.
        let environment = std::fs::read(process.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == entry)
    };
    end_all(bears, |_| {}).await;
}

/// Kills whom `is_stray` says so of, until there is nobody.
async fn end_all(is_stray: impl Fn(&Path) -> bool + Send + 'static, after: impl Fn(Pid) + Send + 'static) {
    // The process table is read from a file system, which may block.
    let rounds = tokio::task::spawn_blocking(move || {
        for _ in 0..MOST_ROUNDS {
            let strays = kill(&is_stray);
            if strays.is_empty() {
                return;
            }
            std::thread::sleep(BETWEEN_ROUNDS);
            strays.into_iter().for_each(&after);
        }
    });
    // Only a runtime that ends does not run it.
    let _ = rounds.await;
}

#[cfg(target_os = "linux")]
fn kill(is_stray: &impl Fn(&Path) -> bool) -> Vec<Pid> {
    use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    // Where there is no `/proc`, nobody is found.
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let mut killed = Vec::new();
    for process in processes.flatten() {
        let id = process.file_name().to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw);
        let Some(id) = id else { continue };
        // First the handle, then the look: an id that is given to somebody else in between is not hit.
        let Ok(handle) = pidfd_open(id, PidfdFlags::empty()) else { continue };
        if is_stray(&process.path()) && pidfd_send_signal(handle, Signal::KILL).is_ok() {
            killed.push(id);
        }
    }
    killed
}

/// Elsewhere there is no `/proc` to find them in.
#[cfg(not(target_os = "linux"))]
fn kill(_: &impl Fn(&Path) -> bool) -> Vec<Pid> {
    Vec::new()
}

/// The parent, by the file `stat`: the second field after the name, which stands in brackets and may hold
/// anything.
fn parent(process: &Path) -> Option<Pid> {
    let stat = std::fs::read_to_string(process.join("stat")).ok()?;
    let (_, after_name) = stat.rsplit_once(')')?;
    Pid::from_raw(after_name.split_whitespace().nth(1)?.parse().ok()?)
}
