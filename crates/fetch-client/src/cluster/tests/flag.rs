//! The retry is off unless somebody opts in, and no suite does.

use std::fs;
use std::path::{Path, PathBuf};

/// Every Rust file of the workspace's own.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.ends_with("target") {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// A suite that turned it on would wait out the refusals that it proves, and hide waits that it records. Who
/// may: the command line, where a person asks for it, the demonstration that shows it, and the tests of the flag
/// itself.
#[test]
fn nobody_turns_the_retry_on_but_the_command_line_and_its_own_tests() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the folder of crates");
    let allowed = [
        "e2e/src/bin/demo/no_capacity.rs",
        "e2e/tests/pair/cluster.rs",
        "fetch-client/src/cli/instance.rs",
        "fetch-client/src/cluster/settings.rs",
        "fetch-client/src/cluster/tests/mod.rs",
        "fetch-client/src/cluster/tests/sockets.rs",
        "fetch-client/src/cluster/tests/flag.rs",
        "fetch-client/tests/it/instance.rs",
    ];
    // Put together here, so that this file is no hit itself.
    let ways = [
        ["retry_transient_capacity", ": "],
        ["retry_transient_capacity", " = "],
        ["--retry-transient", "-capacity"],
    ];
    let ways = ways.map(|way| way.concat());
    let mut files = Vec::new();
    sources(crates, &mut files);
    assert!(files.len() > 100, "the sources were found");
    for file in files {
        let name = file.strip_prefix(crates).expect("it lies below").to_string_lossy().replace('\\', "/");
        let text = fs::read_to_string(&file).expect("a source");
        let sets = ways.iter().any(|way| {
            text.lines().any(|line| {
                line.contains(way.as_str()) && !line.contains("pub(super)") && !line.contains("pub ")
            })
        });
        assert!(!sets || allowed.contains(&name.as_str()), "{name} turns the retry on, or could");
    }
}
