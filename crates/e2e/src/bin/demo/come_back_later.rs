//! The main job: a push, a clone that comes too early, both refusals, and a clone that is whole.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use e2e::{Hub, JobKind, Scene, Stream, TOKEN, Tap, Trace};

use crate::page::Page;
use crate::source::Source;
use crate::verify::verify;
use crate::waits::{HonouredWait, honoured, told};

/// What the hub asks for here, in seconds, so that nobody has to wait for its real 60 and 30.
const INDEX_WAIT: u64 = 2;
const PREBUILD_WAIT: u64 = 1;

/// Runs this part. The hub that it returns is up and holds the repository of this name.
pub(crate) fn run(page: &Arc<Page>, scene: &Scene, folder: &Path) -> anyhow::Result<(Hub, String)> {
    page.heading("A clone that comes too early");
    page.say(
        "After a push this hub has work to do before it can serve a clone: it indexes the objects, then builds a \
         pack. Until then it answers 503 and says when to come back. The client obeys, shows what it waits for, \
         and goes on by itself.",
    );
    let source = Source::copy(folder, scene.new_folder("folder")?)?;
    let hub = scene.hub(&[
        "--retry-after-index",
        &INDEX_WAIT.to_string(),
        "--retry-after-prebuild",
        &PREBUILD_WAIT.to_string(),
        "--hold-jobs",
        &format!("{},{}", JobKind::Index, JobKind::Prebuild),
    ])?;
    let repository = format!("demo/{}", slug(&source.folder));
    page.heading("Commit and push");
    page.row("folder", &source.folder.display().to_string());
    page.row("hub", &hub.url(&repository));
    page.row(
        "its waits",
        &format!(
            "{INDEX_WAIT} s while indexing, {PREBUILD_WAIT} s while packing (60 s and 30 s unless overridden)"
        ),
    );
    let warnings = push(page, scene, &source, &hub.url(&repository))?;

    page.heading("Clone at once");
    let target = scene.new_path("clone");
    let was_there = Arc::new(AtomicBool::new(true));
    let tap = watched(page, scene, &hub, &target, &was_there)?;
    let url = format!("http://{}/{repository}", tap.address());
    page.row("by way of", &format!("{url}, a relay that shows what the hub answers"));
    clone(page, scene, &url, &target)?;
    let waits = check(tap.trace())?;
    ensure!(was_there.load(Ordering::SeqCst), "the folder of the clone was missing during a wait");

    page.heading("Is the clone whole?");
    verify(page, &source, &target, &warnings)?;

    page.heading("What to notice");
    page.point(
        "Two different refusals, both 503: one counts what is missing, the other says that only the pack is. Each \
         carries exactly one Retry-After, and no-store, so that no cache prolongs the outage.",
    );
    page.point(&format!(
        "The client never came back early: {}. It asked again only for the pack; the list of branches and the \
         download were asked for once.",
        told(&waits)
    ));
    page.point(
        "Nothing was lost in between: the folder of the clone was there from the first refusal on, and is removed \
         only when a clone fails for good.",
    );
    Ok((hub, repository))
}

/// Commits the copy of the folder, pushes it, and returns what the client warned of.
fn push(page: &Page, scene: &Scene, source: &Source, url: &str) -> anyhow::Result<String> {
    let client = scene.client(&source.copy);
    client.succeed(&["init"])?;
    let message = "As it was when the demonstration began";
    let committed = client.run(&["commit", "--message", message])?;
    if committed.code() == Some(1) && committed.stderr.contains("nothing to commit") {
        for line in client.run(&["status"])?.stderr.lines() {
            page.quote(line);
        }
        for (path, why) in &source.left_out {
            page.quote(&format!("{}: {why}", path.display()));
        }
        bail!("{} holds no file that a commit could hold", source.folder.display());
    }
    ensure!(committed.code() == Some(0), "the commit failed: {}", committed.stderr.trim_end());
    page.event("fetch-client commit");
    page.quote(committed.stdout.trim_end());
    let pushed = client.succeed(&["push", url, "--public", "--token", TOKEN])?;
    page.event("fetch-client push");
    page.quote(pushed.stdout.trim_end());
    Ok(committed.stderr)
}

/// A relay before the hub that shows each refusal as it was sent, and only then lets the hub do the work that it
/// was waiting for: so both refusals are met, however fast the machine is.
fn watched(
    page: &Arc<Page>,
    scene: &Scene,
    hub: &Hub,
    target: &Path,
    was_there: &Arc<AtomicBool>,
) -> anyhow::Result<Tap> {
    let (page, release) = (Arc::clone(page), hub.releaser());
    let (target, was_there) = (target.to_owned(), Arc::clone(was_there));
    let shown = Mutex::new(None);
    scene.tap(hub.address(), move |exchange| {
        if exchange.status() != Some(503) {
            return;
        }
        was_there.fetch_and(target.is_dir(), Ordering::SeqCst);
        let stage = if exchange.text().contains("indexed") { JobKind::Index } else { JobKind::Prebuild };
        if shown.lock().unwrap_or_else(PoisonError::into_inner).replace(stage) == Some(stage) {
            page.event("the hub answered the same again");
            return;
        }
        page.event("the hub answered, word for word:");
        let head = exchange.answer.as_ref().map_or("", |head| head.text());
        page.quote(&format!("{head}\n\n{}", exchange.text()));
        if let Err(error) = release(stage) {
            // The clone then waits in vain, and ends with the hub's refusal.
            page.event(&format!("the hub's work could not be released: {error:#}"));
        }
    })
}

fn clone(page: &Arc<Page>, scene: &Scene, url: &str, target: &Path) -> anyhow::Result<()> {
    let directory = target.parent().context("the target lies in the scene's folder")?;
    let name = target.file_name().context("the target has a name")?;
    page.event("fetch-client clone");
    let live = Arc::clone(page);
    let cloning =
        scene.client(directory).start_watched(&["clone".as_ref(), url.as_ref(), name], move |line| {
            if line.stream == Stream::Err {
                live.event(&line.text);
            }
        })?;
    // As long as the client's own budget of 120 s, and what a large download takes beyond it.
    let ended = cloning.wait_for(Duration::from_secs(600))?;
    ensure!(ended.code() == Some(0), "the clone failed with {}", ended.status);
    page.event("done");
    page.quote(ended.stdout.trim_end());
    Ok(())
}

/// Checks what the reader is told to notice, and returns the waits.
fn check(trace: &Trace) -> anyhow::Result<Vec<HonouredWait>> {
    let fetches = trace.fetches();
    let (last, refused) = fetches.split_last().context("expected a question for the pack")?;
    ensure!(last.status() == Some(200), "expected the last question to be answered:\n{}", trace.log());
    for text in ["Objects not yet indexed: ", "mpack not ready"] {
        let came = refused.iter().any(|fetch| fetch.text().starts_with(text));
        ensure!(came, "expected a refusal that starts with {text:?}:\n{}", trace.log());
    }
    for asked in ["/refs", "/mpacks/"] {
        let times =
            trace.exchanges().iter().filter(|exchange| exchange.request.asked().contains(asked)).count();
        ensure!(times == 1, "expected one request for {asked}, and {times} came:\n{}", trace.log());
    }
    honoured(&fetches)
}

/// The folder's name as the last part of an address.
fn slug(folder: &Path) -> String {
    let name = folder.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let slug: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    if slug.is_empty() || slug.starts_with('-') { "folder".to_owned() } else { slug }
}
