//! What a client keeps of URLs that were refused once and are never asked again.

use std::time::Duration;

use crate::clients::{Limits, Payload, Peer, Sending};
use crate::responder::Responder;

const URLS: usize = 4_000;
const PATH: usize = 8_000;
/// So many come first, uncounted, so that everything is warm and a store with a bound has reached it.
const BEFORE: usize = 1_500;
const AT_ONCE: usize = 50;

/// The growth of this process's memory, in MiB, by 4,000 refused URLs of 8,000 bytes: 30 MiB in all. Their
/// callers lose patience: none waits its hour out.
pub async fn growth(peer: Peer) -> u64 {
    let server = Responder::start(|_, _| (429, "Retry-After: 3600\r\n".to_owned())).await;
    let client = peer.client(Limits::default());
    let refuse = async |from: usize, to: usize| {
        for first in (from..to).step_by(AT_ONCE) {
            let calls: Vec<_> = (first..first + AT_ONCE)
                .map(|number| {
                    let url = format!("{}/{number}/{}", server.url, "x".repeat(PATH));
                    let call = client(Sending { method: "GET".to_owned(), url, body: Payload::None });
                    tokio::spawn(tokio::time::timeout(Duration::from_millis(250), call))
                })
                .collect();
            for call in calls {
                // Impatience is no error.
                let _ = call.await;
            }
        }
    };
    refuse(0, BEFORE).await;
    let before = resident();
    refuse(BEFORE, BEFORE + URLS).await;
    resident().saturating_sub(before) / (1_024 * 1_024)
}

/// Resident memory in bytes, from `/proc`.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    let kibibytes: u64 = line.trim().trim_end_matches(" kB").parse().unwrap_or(0);
    kibibytes * 1_024
}
