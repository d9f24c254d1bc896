//! The retry over real sockets: cases MWP5_10, 12, 18 and 19, and what they are for: whole clones.

use std::fs;
use std::path::Path;
use std::time::Duration;

use e2e::{JobKind, Scene, Tree, write_random_file};
use serde_json::Value;

use crate::fake_hub::{Answers, busy, fake_hub, url};
use crate::forge::forged;
use crate::{scene, wait_for_waiting_line};

const WAITING: &str = "⏳ remote preparing fetch data";

fn waiting_lines(stderr: &str) -> Vec<&str> {
    stderr.lines().filter(|line| line.starts_with(WAITING)).collect()
}

/// A folder with a few files.
fn small_folder(scene: &Scene) -> std::path::PathBuf {
    let folder = scene.new_folder("small").unwrap();
    fs::create_dir(folder.join("inner")).unwrap();
    fs::write(folder.join("a.txt"), "a\n").unwrap();
    fs::write(folder.join("inner/b.txt"), "b\n").unwrap();
    folder
}

#[track_caller]
fn assert_whole(source: &Path, clone: &Path) {
    let differences = Tree::differences(source, clone).unwrap();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// MWP5_18.
#[test]
fn mwp5_18_a_clone_comes_back_after_the_second_that_a_raw_server_asked_for() {
    let scene = scene();
    let hub = fake_hub(&scene, &forged(&[("a.txt", "content")]), Answers::fetches([busy("1")]));
    let client = scene.client(scene.new_folder("work").unwrap());
    let ended = client.succeed(&["clone", &url(&hub), "target"]).unwrap();
    assert_eq!(fs::read_to_string(client.directory().join("target/a.txt")).unwrap(), "content");
    assert_eq!(waiting_lines(&ended.stderr).len(), 1, "{}", ended.stderr);
    let fetches = hub.trace().fetches();
    assert_eq!(fetches.iter().map(|fetch| fetch.status()).collect::<Vec<_>>(), [Some(503), Some(200)]);
    let wait = fetches[1].arrived - fetches[0].answered.unwrap();
    assert!(wait >= Duration::from_secs(1), "came back after {wait:?}");
}

/// MWP5_19.
#[test]
fn mwp5_19_a_clone_right_after_a_push_meets_both_refusals_and_is_whole() {
    let scene = scene();
    let hub = scene
        .hub(&[
            "--retry-after-index=1",
            "--retry-after-prebuild=1",
            "--hold-jobs=mpack.index,fetch.mpack.prebuild",
        ])
        .unwrap();
    let release = hub.releaser();
    let tap = scene
        .tap(hub.address(), move |exchange| {
            if exchange.status() == Some(503) {
                let indexing = exchange.text().contains("indexed");
                release(if indexing { JobKind::Index } else { JobKind::Prebuild }).unwrap();
            }
        })
        .unwrap();
    let folder = small_folder(&scene);
    scene.client(&folder).publish(&hub.url("owner/slug")).unwrap();
    let target = scene.new_path("target");
    let from = format!("http://{}/owner/slug", tap.address());
    let ended =
        scene.client(&folder).succeed(&["clone".as_ref(), from.as_ref(), target.as_os_str()]).unwrap();

    assert_whole(&folder, &target);
    let fetches = tap.trace().fetches();
    let told: Vec<_> = fetches.iter().map(|fetch| (fetch.status().unwrap(), fetch.text())).collect();
    assert_eq!(told.len(), 3, "{}", tap.trace().log());
    assert_eq!(told[0], (503, "Objects not yet indexed: 2 missing. Retry shortly.".to_owned()));
    assert_eq!(told[1], (503, "mpack not ready \u{2014} prebuild in progress. Retry shortly.".to_owned()));
    assert_eq!(told[2].0, 200);
    for pair in fetches.windows(2) {
        let fields: Vec<_> = pair[0].answer.as_ref().unwrap().fields("retry-after").collect();
        assert_eq!(fields, ["1"]);
        let wait = pair[1].arrived - pair[0].answered.unwrap();
        assert!(wait >= Duration::from_secs(1), "came back after {wait:?}");
    }
    assert_eq!(waiting_lines(&ended.stderr).len(), 2, "{}", ended.stderr);
}

/// MWP5_10, on real sockets: two attempts fit into two seconds of which requests take a part (B2).
#[test]
fn mwp5_10_a_server_that_is_never_ready_ends_the_clone_with_its_own_words() {
    let scene = scene();
    let hub = scene.hub(&["--retry-after-index=1", "--hold-jobs=mpack.index"]).unwrap();
    let folder = small_folder(&scene);
    let client = scene.client(&folder);
    client.publish(&hub.url("owner/slug")).unwrap();
    let target = scene.new_path("target");
    let tap = scene.tap(hub.address(), |_| {}).unwrap();
    let from = format!("http://{}/owner/slug", tap.address());
    let arguments = ["clone", &from, target.to_str().unwrap(), "--retry-timeout", "2", "--json"];
    let ended = client.run(&arguments).unwrap();

    assert_eq!(ended.code(), Some(3), "{}", ended.stderr);
    assert!(ended.stderr.contains("❌ Remote still preparing clone data after 2s"), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("503 Objects not yet indexed: 2 missing. Retry shortly."),
        "{}",
        ended.stderr
    );
    let envelope: Value = serde_json::from_str(&ended.stdout).unwrap();
    let waited = envelope["waited_s"].as_f64().unwrap();
    assert!(waited > 0.0 && waited <= 2.0, "{envelope}");
    let fetches = tap.trace().fetches();
    assert_eq!(envelope["attempts"], fetches.len());
    assert_eq!(fetches.len(), 2, "{}", tap.trace().log());
    let wait = fetches[1].arrived - fetches[0].answered.unwrap();
    assert!(wait >= Duration::from_secs(1), "came back after {wait:?}");
    assert_eq!(envelope["request_id"], fetches[1].answer.as_ref().unwrap().field("x-request-id").unwrap());
    assert!(!target.exists());
}

/// MWP5_12, on real sockets.
#[test]
fn mwp5_12_without_a_budget_there_is_one_attempt_and_no_wait() {
    let scene = scene();
    let hub = fake_hub(&scene, &forged(&[("a.txt", "a")]), Answers::fetches([busy("30")]));
    let client = scene.client(scene.new_folder("work").unwrap());
    let ended = client.run(&["clone", &url(&hub), "target", "--retry-timeout", "0"]).unwrap();
    assert_eq!(ended.code(), Some(3));
    assert_eq!(waiting_lines(&ended.stderr), [""; 0]);
    assert_eq!(hub.trace().fetches().len(), 1);
    assert!(ended.after < Duration::from_secs(30), "it waited: {:?}", ended.after);
    assert!(!client.directory().join("target").exists());
}

/// The budget of the environment holds where no option does, and `--no-retry` wins over both.
#[test]
fn the_budget_comes_from_the_option_then_from_the_environment() {
    let scene = scene();
    for (environment, options, attempts) in [
        ("0", &[][..], 1),
        ("0", &["--retry-timeout=60"], 2),
        ("60", &["--retry-timeout=0"], 1),
        ("60", &["--no-retry", "--retry-timeout=60"], 1),
        ("-3", &[], 1),
    ] {
        let hub = fake_hub(&scene, &forged(&[("a.txt", "a")]), Answers::fetches([busy("1")]));
        let client =
            scene.client(scene.new_folder("work").unwrap()).env("MUSE_FETCH_RETRY_BUDGET_S", environment);
        let from = url(&hub);
        let ended = client.run(&[&["clone", &from], options].concat()).unwrap();
        let expected = if attempts == 2 { 0 } else { 3 };
        assert_eq!(ended.code(), Some(expected), "{environment} {options:?}: {}", ended.stderr);
        assert_eq!(hub.trace().fetches().len(), attempts, "{environment} {options:?}");
    }
}

/// A pull waits for the index of a later push, and then needs no prebuild: it is answered by walking.
#[test]
fn a_pull_waits_until_the_new_objects_are_indexed() {
    let scene = scene();
    let hub = scene.hub(&["--retry-after-index=1", "--retry-after-prebuild=1"]).unwrap();
    let folder = small_folder(&scene);
    scene.client(&folder).publish(&hub.url("owner/slug")).unwrap();
    hub.wait_for_jobs(JobKind::Prebuild, 1, "done").unwrap();
    let target = scene.new_path("target");
    let from = hub.url("owner/slug");
    scene.client(&folder).succeed(&["clone", &from, target.to_str().unwrap()]).unwrap();

    hub.hold(JobKind::Index).unwrap();
    hub.hold(JobKind::Prebuild).unwrap();
    fs::write(folder.join("c.txt"), "c\n").unwrap();
    scene.client(&folder).publish(&from).unwrap();
    let pulling = scene.client(&target).start(&["pull"]).unwrap();
    wait_for_waiting_line(&pulling);
    hub.release(JobKind::Index).unwrap();
    let ended = pulling.wait().unwrap();
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
    assert_whole(&folder, &target);
}

/// Folders in folders, an empty file, an executable, names in many scripts, and a file as large as all the
/// memory that either program may take.
#[test]
fn every_kind_of_file_arrives_as_it_was_and_memory_stays_small() {
    const LARGE: u64 = 64 << 20;
    let scene = scene();
    let folder = scene.new_folder("folder").unwrap();
    let mut random = scene.random();
    for (path, length, mode) in [
        ("large.bin", LARGE, 0o644),
        ("empty", 0, 0o644),
        ("bin/run.sh", 100, 0o755),
        ("a/b/c/d/e/f/deep.txt", 1_000, 0o644),
        ("naïve/été.txt", 10, 0o644),
        ("日本語/ファイル", 10, 0o644),
        ("with space/'quotes' and \"more\"", 10, 0o600),
        ("emoji 🎉", 10, 0o644),
        (".hidden", 10, 0o644),
    ] {
        write_random_file(&folder.join(path), length, mode, &mut random).unwrap();
    }
    let hub = scene.hub(&["--retry-after-index=1", "--retry-after-prebuild=1"]).unwrap();
    let from = hub.url("owner/slug");
    let client = scene.client(&folder);
    let committed = client.commit_all().unwrap();
    assert_eq!(committed.stderr, "", "nothing is left out");
    let pushed = client.succeed(&["push", &from, "--public", "--token", e2e::TOKEN]).unwrap();
    let target = scene.new_path("target");
    let cloned = client.succeed(&["clone", &from, target.to_str().unwrap()]).unwrap();
    assert_whole(&folder, &target);
    for (who, peak) in
        [("push", pushed.peak_memory), ("clone", cloned.peak_memory), ("hub", hub.process().peak_memory())]
    {
        assert!(peak.is_none_or(|bytes| bytes < LARGE), "{who} took {peak:?} bytes");
    }
}

/// A private repository looks to others as if it were not there.
#[test]
fn a_private_repository_is_cloned_with_its_token_only() {
    let scene = scene();
    let hub = scene.hub(&["--retry-after-index=1", "--retry-after-prebuild=1"]).unwrap();
    let folder = small_folder(&scene);
    let client = scene.client(&folder);
    client.commit_all().unwrap();
    let from = hub.url("owner/slug");
    client.succeed(&["push", &from, "--token", e2e::TOKEN]).unwrap();
    let target = scene.new_path("target");
    let refused = client.run(&["clone", &from, target.to_str().unwrap()]).unwrap();
    assert_eq!(refused.code(), Some(3));
    assert!(refused.stderr.contains("404: there is no repository owner/slug, or none that you may see"));
    assert!(!target.exists());
    client.succeed(&["clone", &from, target.to_str().unwrap(), "--token", e2e::TOKEN]).unwrap();
    assert_whole(&folder, &target);
}
