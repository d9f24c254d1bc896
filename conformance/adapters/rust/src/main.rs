//! The published Rust crates that retry, as clients: for the conformance suite one at a time, and side by
//! side where a fact is not to be seen from one server.
//!
//! ```text
//! peers reqwest-retry                     the operations that RAC_URLS and its companions ask for
//! peers version reqwest-retry             the version of the crate
//! peers facts                             what each does, side by side
//! peers memory reqwest-retry              what it keeps of many refused URLs
//! ```

mod clients;
mod clock;
mod facts;
mod memory;
mod responder;
mod suite;
mod versions;

use std::process::ExitCode;

use clients::Peer;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["facts"] => return facts::print().await,
        ["version", name] => {
            if let Some(peer) = Peer::named(name) {
                println!("{}", versions::of(peer));
                return ExitCode::SUCCESS;
            }
        }
        ["memory", name] => {
            if let Some(peer) = Peer::named(name) {
                println!("{}", memory::growth(peer).await);
                return ExitCode::SUCCESS;
            }
        }
        [name] => {
            if let Some(peer) = Peer::named(name) {
                return suite::run(peer).await;
            }
        }
        _ => {}
    }
    let names: Vec<&str> = Peer::ALL.iter().map(|peer| peer.name()).collect();
    eprintln!("expected `facts`, or a peer, alone or after `version` or `memory`: {}", names.join(", "));
    ExitCode::from(2)
}
