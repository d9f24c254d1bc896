//! The conformance suite's side: what the environment asks for, done once.

use std::process::ExitCode;
use std::time::Duration;

use crate::clients::{Answer, Limits, Payload, Peer, Sending};

/// Runs each operation and exits with 0 where all were answered with a success.
pub async fn run(peer: Peer) -> ExitCode {
    let Ok(urls) = std::env::var("RAC_URLS") else {
        eprintln!("expected the suite's environment, RAC_URLS and its companions; got none");
        return ExitCode::from(2);
    };
    let body = match std::env::var_os("RAC_BODY_FILE") {
        None => Payload::None,
        Some(path) => match std::fs::read(&path) {
            Ok(bytes) => Payload::Bytes(bytes.into()),
            Err(error) => {
                eprintln!("cannot read the body {}: {error}", path.display());
                return ExitCode::from(2);
            }
        },
    };
    let method = std::env::var("RAC_METHOD").unwrap_or_else(|_| "GET".to_owned());
    let limits = Limits { deadline: seconds("RAC_DEADLINE_S"), cap: seconds("RAC_CAP_S") };
    let client = peer.client(limits);
    // Each in a task of its own: reessaie tells requests apart by their tasks.
    let operation = |url: &str| {
        let sending = Sending { method: method.clone(), url: url.to_owned(), body: body.clone() };
        tokio::spawn(client(sending))
    };
    let together = std::env::var("RAC_START").is_ok_and(|start| start == "together");
    let mut running = Vec::new();
    let mut fine = true;
    for url in urls.split(' ') {
        running.push(operation(url));
        if !together {
            fine &= wait(&mut running).await;
        }
    }
    fine &= wait(&mut running).await;
    if fine { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn wait(running: &mut Vec<tokio::task::JoinHandle<Result<Answer, String>>>) -> bool {
    let mut fine = true;
    for task in running.drain(..) {
        match task.await {
            Ok(Ok(answer)) if answer.status < 400 => {}
            Ok(Ok(answer)) => {
                eprintln!("status {}", answer.status);
                fine = false;
            }
            Ok(Err(error)) => {
                eprintln!("{error}");
                fine = false;
            }
            Err(panic) => std::panic::resume_unwind(panic.into_panic()),
        }
    }
    fine
}

fn seconds(name: &str) -> Option<Duration> {
    let text = std::env::var(name).ok()?;
    Duration::try_from_secs_f64(text.parse().ok()?).ok()
}
