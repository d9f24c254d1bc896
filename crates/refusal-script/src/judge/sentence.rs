//! Times and numbers in words.

/// A measured time: two decimals, three below a tenth of a second.
pub(super) fn seconds(us: u64) -> String {
    let decimals = if us < 100_000 { 3 } else { 2 };
    format!("{:.decimals$} s", f64_seconds(us))
}

/// A stated time: as many decimals as it has, at most three.
pub(super) fn exactly(us: u64) -> String {
    if us == u64::MAX {
        return format!("more than {} s", u64::MAX / 1_000_000);
    }
    let text = format!("{:.3}", f64_seconds(us));
    format!("{} s", text.trim_end_matches('0').trim_end_matches('.'))
}

/// `1 attempt`, `2 attempts`.
pub(super) fn counted(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

#[expect(clippy::cast_precision_loss, reason = "for people; a microsecond more or less in 200 years")]
fn f64_seconds(us: u64) -> f64 {
    us as f64 / 1_000_000.0
}
