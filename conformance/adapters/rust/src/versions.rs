//! The versions that were built, from the lock file.

use crate::clients::Peer;

const LOCK: &str = include_str!("../Cargo.lock");

/// The crate and its version, and what it needs around it.
pub fn of(peer: Peer) -> String {
    match peer {
        Peer::ReqwestRetryAfter => {
            let after = locked("reqwest-retry-after", "");
            format!("{after} (below {}, with {})", locked("reqwest-retry", "0.7"), locked("reqwest", "0.12"))
        }
        Peer::ReqwestRetry => locked("reqwest-retry", "0.9"),
        Peer::Reqwest => locked("reqwest", "0.13"),
        Peer::Middleware => format!("{} (reqwest)", locked("retry-middleware", "")),
        Peer::Layer => format!("{} (tower)", locked("retry-middleware", "")),
        Peer::Backon | Peer::Reessaie | Peer::Alkhttp => locked(peer.name(), ""),
    }
}

fn locked(name: &str, beginning: &str) -> String {
    let package = format!("name = \"{name}\"\nversion = \"");
    let mut versions = LOCK.split(&package).skip(1).filter_map(|rest| rest.split('"').next());
    let version = versions.find(|version| version.starts_with(beginning));
    format!("{name} {}", version.expect("the lock file names every dependency of this program"))
}
