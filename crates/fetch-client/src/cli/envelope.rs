//! The one JSON object of `--json`.

use std::time::Duration;

use serde::Serialize;

use super::message::sentence;
use super::{Verb, exit};
use crate::commands::FetchReport;
use crate::errors::{Error, Failed};

#[derive(Debug, Serialize)]
struct Success<'a> {
    ok: bool,
    command: &'static str,
    url: &'a str,
    target: String,
    branch: &'a str,
    head: Option<String>,
    commits: u64,
    snapshots: u64,
    objects: u64,
    bytes: u64,
    attempts: u32,
    waited_s: f64,
}

#[derive(Debug, Serialize)]
struct Failure<'a> {
    ok: bool,
    command: &'static str,
    error: String,
    status: Option<u16>,
    exit_code: u8,
    attempts: u32,
    waited_s: f64,
    request_id: Option<&'a str>,
    #[serde(flatten)]
    still_preparing: Option<StillPreparing>,
}

/// The members of the terminal 503 only.
#[derive(Debug, Serialize)]
struct StillPreparing {
    retryable: bool,
    timed_out: bool,
    retry_after_s: Option<u64>,
}

/// What has been done.
pub(super) fn success(verb: Verb, report: &FetchReport) -> String {
    text(&Success {
        ok: true,
        command: verb.name(),
        url: &report.url,
        target: report.target.display().to_string(),
        branch: report.branch.as_str(),
        head: report.head.map(|head| head.to_string()),
        commits: report.commits,
        snapshots: report.snapshots,
        objects: report.objects,
        bytes: report.bytes,
        attempts: report.spent.attempts,
        waited_s: seconds(report.spent.waited),
    })
}

/// What went wrong.
pub(super) fn failure(verb: Verb, failed: &Failed) -> String {
    let Failed { error, spent } = failed;
    let refusal = error.refusal();
    text(&Failure {
        ok: false,
        command: verb.name(),
        error: match error {
            Error::StillPreparing(terminal) => {
                format!("{} The server said: {}", sentence(verb, terminal), terminal.refusal.text)
            }
            error => error.to_string(),
        },
        status: refusal.map(|refusal| refusal.status.as_u16()),
        exit_code: exit::code(error),
        attempts: spent.attempts,
        waited_s: seconds(spent.waited),
        request_id: refusal.and_then(|refusal| refusal.request_id.as_deref()),
        still_preparing: match error {
            Error::StillPreparing(terminal) => {
                Some(StillPreparing { retryable: true, timed_out: true, retry_after_s: terminal.retry_after })
            }
            _ => None,
        },
    })
}

/// An argument that clap takes and the command does not.
pub(super) fn usage(verb: Verb, error: &str) -> String {
    text(&Failure {
        ok: false,
        command: verb.name(),
        error: error.to_owned(),
        status: None,
        exit_code: exit::USER_ERROR,
        attempts: 0,
        waited_s: 0.0,
        request_id: None,
        still_preparing: None,
    })
}

/// To the millisecond: what lies below is noise.
fn seconds(length: Duration) -> f64 {
    Duration::from_millis(u64::try_from(length.as_millis()).unwrap_or(u64::MAX)).as_secs_f64()
}

fn text(envelope: &impl Serialize) -> String {
    serde_json::to_string(envelope).expect("an envelope is text and numbers, which JSON can hold")
}

#[cfg(test)]
mod tests {
    use super::super::samples::{cloned, interrupted, not_found, still_preparing};
    use super::*;

    #[test]
    fn success_has_these_members_in_this_order() {
        insta::assert_snapshot!(success(Verb::Clone, &cloned()), @r#"{"ok":true,"command":"clone","url":"http://hub/me/work","target":"/home/me/work","branch":"main","head":"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","commits":3,"snapshots":2,"objects":5,"bytes":1234,"attempts":2,"waited_s":30.25}"#);
    }

    #[test]
    fn a_failure_has_these_members_in_this_order() {
        insta::assert_snapshot!(failure(Verb::Fetch, &not_found()), @r#"{"ok":false,"command":"fetch","error":"GET http://hub/me/work/refs answered 404: no such repository (request r-2)","status":404,"exit_code":3,"attempts":1,"waited_s":0.0,"request_id":"r-2"}"#);
        insta::assert_snapshot!(failure(Verb::Pull, &interrupted()), @r#"{"ok":false,"command":"pull","error":"interrupted","status":null,"exit_code":130,"attempts":1,"waited_s":2.5,"request_id":null}"#);
    }

    #[test]
    fn the_terminal_503_is_marked() {
        insta::assert_snapshot!(failure(Verb::Clone, &still_preparing(120, 3, 90_000)), @r#"{"ok":false,"command":"clone","error":"Remote still preparing clone data after 120s — try again shortly. The server said: mpack not ready — prebuild in progress. Retry shortly.","status":503,"exit_code":3,"attempts":3,"waited_s":90.0,"request_id":"r-1","retryable":true,"timed_out":true,"retry_after_s":30}"#);
    }
}
