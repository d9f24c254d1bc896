//! The demonstration, with folders of all kinds.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::scene;

fn demo(dir: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_demo")).arg("--dir").arg(dir).output().unwrap()
}

/// What it says on standard error where it fails, and that it has said nothing before.
#[track_caller]
fn refused_at_once(dir: &Path) -> String {
    let output = demo(dir);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), &b""[..]), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn it_shows_every_refusal_and_says_what_was_left_out_and_why() {
    let scene = scene();
    let folder = scene.new_folder("folder").unwrap();
    fs::create_dir_all(folder.join("cache/deep")).unwrap();
    fs::write(folder.join("cache/CACHEDIR.TAG"), "Signature: 8a477f597d28d172789f06886806bc55").unwrap();
    fs::write(folder.join("a.txt"), "content").unwrap();
    fs::write(folder.join(".env"), "SECRET=1").unwrap();
    fs::write(folder.join("skipped.log"), "noise").unwrap();
    fs::write(folder.join(".museignore"), "*.log\n").unwrap();
    fs::write(folder.join("CON"), "a name that Windows reserves").unwrap();
    std::os::unix::fs::symlink("a.txt", folder.join("link")).unwrap();
    // More than a terminal would be told of one by one.
    fs::create_dir(folder.join("many")).unwrap();
    for number in 0..30 {
        std::os::unix::fs::symlink("../a.txt", folder.join(format!("many/link-{number}"))).unwrap();
    }

    let output = demo(&folder);
    let shown = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{shown}\n{}", String::from_utf8_lossy(&output.stderr));
    for expected in [
        "| Objects not yet indexed: 2 missing. Retry shortly.",
        "| mpack not ready \u{2014} prebuild in progress. Retry shortly.",
        "| retry-after: 2",
        "| retry-after: 1",
        "Left out, as it is a symlink: link, many/link-0,",
        "Left out, as secrets and build folders are: .env.",
        "Left out, as a .museignore asks for it: skipped.log.",
        "Left out, as it is a cache, as its CACHEDIR.TAG says: cache.",
        "Left out, as its name is one that not every system can hold: CON.",
        "\"stage\": \"sufficient_idle_cpu\"",
        "\"transient\": true",
        "The lack that passes was waited for: told 2 s, it was back after 2.",
        "\"stage\": \"cpu_max_per_instance\"",
        "\"transient\": false",
        "Client one: ",
        "Client two: ",
        "Neither came early",
        "Peak memory:",
    ] {
        assert!(shown.contains(expected), "expected {expected:?} in\n{shown}");
    }
    let last: Vec<_> = shown.lines().rev().take(3).collect();
    assert!(last.iter().all(|line| line.ends_with("MiB")), "expected memory at the end:\n{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "a line is too long:\n{shown}");
    assert!(!folder.join(".muse").exists(), "the reader's folder is only read");
}

#[test]
fn a_folder_without_a_file_is_named() {
    let scene = scene();
    let folder = scene.new_folder("empty").unwrap();
    std::os::unix::fs::symlink("nowhere", folder.join("link")).unwrap();
    let output = demo(&folder);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains(&format!("{} holds no file that a commit could hold", folder.display())), "{told}");
}

#[test]
fn a_folder_that_is_not_there_or_is_none_is_named_before_anything_starts() {
    let told = refused_at_once(Path::new("/nowhere/at/all"));
    assert!(told.contains("could not find the folder /nowhere/at/all"), "{told}");
    let scene = scene();
    let file = scene.new_path("file");
    fs::write(&file, "no folder").unwrap();
    let told = refused_at_once(&file);
    assert!(told.contains(&format!("could not read the folder {}", file.display())), "{told}");
}

#[test]
fn it_tells_its_version() {
    let output = Command::new(env!("CARGO_BIN_EXE_demo")).arg("--version").output().unwrap();
    assert_eq!(output.stdout, format!("demo {}\n", env!("CARGO_PKG_VERSION")).into_bytes());
}

#[test]
fn ctrl_c_ends_it_and_removes_what_it_made() {
    let scene = scene();
    let folder = scene.new_folder("folder").unwrap();
    fs::write(folder.join("a.txt"), "content").unwrap();
    let temporary = scene.new_folder("temporary").unwrap();
    let mut demo = Command::new(env!("CARGO_BIN_EXE_demo"))
        .arg("--dir")
        .arg(&folder)
        .env("TMPDIR", &temporary)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut shown = BufReader::new(demo.stdout.take().unwrap()).lines();
    assert!(shown.any(|line| line.unwrap().contains('⏳')), "the clone waits");
    rustix::process::kill_process(rustix::process::Pid::from_child(&demo), rustix::process::Signal::INT)
        .unwrap();
    let rest: Vec<_> = shown.map_while(Result::ok).collect();
    assert_eq!(demo.wait().unwrap().code(), Some(130), "{rest:?}");
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
}
