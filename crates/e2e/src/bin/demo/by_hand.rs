//! What `--keep` tells, and the wait for the reader's Ctrl-C.

use std::time::Duration;

use e2e::{Hub, JobKind, TOKEN};

use crate::page::Page;

/// Longer than anybody keeps a demonstration up.
const FOR_EVER: Duration = Duration::from_secs(30 * 24 * 3_600);

/// Tells how to go on, and stays until the reader ends it.
pub(crate) fn stay(page: &Page, hub: &Hub, repository: &str) -> anyhow::Result<()> {
    let (url, admin) = (hub.url(repository), hub.url("_admin/jobs"));
    page.heading("Go on by hand");
    page.say("The hub stays up until Ctrl-C. In another terminal, in the folder of this project:");
    let kind = |kind: JobKind| format!("-H 'Content-Type: application/json' -d '{{\"kind\":\"{kind}\"}}'");
    for command in [
        format!("cargo run -q -p fetch-client -- clone {url} /tmp/again"),
        format!("curl -s {admin}"),
        format!("curl -s {admin}/hold {}", kind(JobKind::Prebuild)),
        format!("curl -s {admin}/release {}", kind(JobKind::Prebuild)),
    ] {
        println!("    {command}");
    }
    page.say(&format!(
        "Commit something in /tmp/again and push it with --token {TOKEN}: while prebuilds are held, a new clone \
         waits; Ctrl-C removes what it has made."
    ));
    hub.process().wait_for(FOR_EVER).map(drop)
}
