//! How much memory a process has taken.

use std::fs;

/// The most memory that process `pid`, which still runs, has held at once, in bytes.
///
/// The kernel keeps count since the program was started, so no peak is missed between two looks. `None` where the
/// system does not tell: this is read from `/proc`, which Linux has.
#[must_use]
pub fn peak_memory_of(pid: u32) -> Option<u64> {
    peak(&format!("/proc/{pid}/status"))
}

/// The same for this process.
#[must_use]
pub fn own_peak_memory() -> Option<u64> {
    peak("/proc/self/status")
}

fn peak(status: &str) -> Option<u64> {
    let text = fs::read_to_string(status).ok()?;
    let field = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = field.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1_024)
}
