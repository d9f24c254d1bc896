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
    let prebuild = JobKind::Prebuild;
    let client = "cargo run -q -p fetch-client --";
    for command in [
        format!("url={url}"),
        format!("{client} clone $url /tmp/again"),
        format!("curl -s {admin}/hold -d '{{\"kind\":\"{prebuild}\"}}'"),
        "date > /tmp/again/now.txt".to_owned(),
        format!("{client} -C /tmp/again commit -m now"),
        format!("{client} -C /tmp/again push --token {TOKEN}"),
        format!("{client} clone $url /tmp/later"),
        format!("curl -s {admin}/release -d '{{}}'"),
    ] {
        page.command(&command);
    }
    page.say(
        "The second clone waits until the last command, sent from yet another terminal. Ctrl-C during the wait \
         removes what it has made.",
    );
    hub.process().wait_for(FOR_EVER).map(drop)
}
