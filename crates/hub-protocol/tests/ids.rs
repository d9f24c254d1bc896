//! Ids, pinned against values that were computed by another implementation (Python's hashlib).

use std::collections::BTreeMap;

use hub_protocol::{Commit, CommitError, FileEntry, Id, RepositoryPath, Snapshot, objects_in};

const HELLO: &[u8] = b"hello\n";
const SCRIPT: &[u8] = b"#!/bin/sh\necho later\n";

fn id(text: &str) -> Id {
    text.parse().unwrap()
}

fn files(entries: &[(&str, &[u8], bool)]) -> BTreeMap<RepositoryPath, FileEntry> {
    let entry = |(path, content, executable): &(&str, &[u8], bool)| {
        (path.parse().unwrap(), FileEntry { object: Id::of(content), executable: *executable })
    };
    entries.iter().map(entry).collect()
}

fn first() -> Snapshot {
    Snapshot::new(files(&[("README.md", HELLO, false)])).unwrap()
}

fn second() -> Snapshot {
    let entries: [(&str, &[u8], bool); 4] = [
        ("über/日本.txt", HELLO, false),
        ("README.md", HELLO, false),
        ("bin/run", SCRIPT, true),
        ("empty", b"", false),
    ];
    Snapshot::new(files(&entries)).unwrap()
}

#[test]
fn an_object_is_called_by_its_bytes() {
    assert_eq!(Id::of(HELLO), id("sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"));
    assert_eq!(Id::of(SCRIPT), id("sha256:888c968858ae9a033f633a1aac7fa54d9b82151ac28ba5a211f0d58f2419af59"));
}

#[test]
fn a_snapshot_is_called_by_its_paths_and_objects() {
    assert_eq!(first().id(), id("sha256:d08e93a56ec0530ef8f0984a779cb281597d271de467ab63785dd083a02a84a8"));
    assert_eq!(second().id(), id("sha256:53fed85c079ccd6513744feffe56978d2edec41d353fb938c9046ecc01347123"));
    assert_eq!(Snapshot::default().id(), Id::of(""));
}

#[test]
fn the_executable_bit_is_part_of_the_snapshots_id() {
    let script = |executable| Snapshot::new(files(&[("run", SCRIPT, executable)])).unwrap().id();
    assert_ne!(script(true), script(false));
}

/// The mark of an executable file could be taken for a file called `x`, were an object not to follow that.
#[test]
fn an_executable_file_is_not_a_file_called_x() {
    let marked = files(&[("a", HELLO, true), ("y", HELLO, false)]);
    let called = files(&[("a", HELLO, false), ("x", HELLO, false), ("y", HELLO, false)]);
    assert_ne!(Snapshot::new(marked).unwrap().id(), Snapshot::new(called).unwrap().id());
}

#[test]
fn a_commit_is_called_by_its_parts() {
    let root = Commit::new(vec![], first().id(), "first", "2026-11-30T15:59:07Z").unwrap();
    assert_eq!(root.id(), id("sha256:6f98c944a4156961ef5b4e143cd8783d133ce45ce0a4f66ac980ceab9e25fc08"));
    let child =
        Commit::new(vec![root.id()], second().id(), "second: später\n\nbody", "2026-11-30T16:00:00+00:00")
            .unwrap();
    assert_eq!(child.id(), id("sha256:b3cc6274edf97d72a890bbbea5395e4b7c3dce6078baca787f7ae206c08dcb75"));
    let merge =
        Commit::new(vec![child.id(), root.id()], second().id(), "", "2026-11-30T16:00:01.5Z").unwrap();
    assert_eq!(merge.id(), id("sha256:80d71b3d2b434eab5d7e37d22648155b678c23ced04169d6545605407177643c"));
}

#[test]
fn the_order_in_which_parents_are_given_does_not_matter() {
    let (one, two) = (Id::of("one"), Id::of("two"));
    let commit = |parents| Commit::new(parents, first().id(), "merge", "2026-11-30T15:59:07Z").unwrap();
    assert_eq!(commit(vec![one, two]), commit(vec![two, one]));
    assert!(commit(vec![one, two]).parents().is_sorted());
}

#[test]
fn canonical_json_is_pinned() {
    let snapshot =
        serde_json::to_string(&Snapshot::new(files(&[("a", HELLO, false), ("b/é", SCRIPT, true)])).unwrap());
    insta::assert_snapshot!(snapshot.unwrap(), @r#"{"files":{"a":{"object":"sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"},"b/é":{"object":"sha256:888c968858ae9a033f633a1aac7fa54d9b82151ac28ba5a211f0d58f2419af59","executable":true}}}"#);
    let commit =
        Commit::new(vec![Id::of("p")], Id::of("s"), "line\nnext \u{1} ü \"", "2026-11-30T15:59:07Z").unwrap();
    insta::assert_snapshot!(serde_json::to_string(&commit).unwrap(), @r#"{"parents":["sha256:148de9c5a7a44d19e56cd9ae1a554bf67847afb0c58f6e12fa29ac7ddfca9940"],"snapshot":"sha256:043a718774c572bd8a25adbeb1bfcd5c0256ae11cecf9f9c3f925d0e52beaf89","message":"line\nnext \u0001 ü \"","committed_at":"2026-11-30T15:59:07Z"}"#);
}

#[test]
fn json_comes_back_as_it_went() {
    let json = serde_json::to_string(&second()).unwrap();
    assert_eq!(serde_json::from_str::<Snapshot>(&json).unwrap(), second());
    let commit = Commit::new(vec![Id::of("p")], Id::of("s"), "ü\n", "2026-11-30T15:59:07Z").unwrap();
    let json = serde_json::to_string(&commit).unwrap();
    assert_eq!(serde_json::from_str::<Commit>(&json).unwrap(), commit);
}

#[test]
fn a_file_below_a_file_is_refused() {
    for (file, below) in [("a", "a/b"), ("a/b", "a/b/c/d"), ("a", "a/b/c")] {
        let entries =
            [(file, HELLO, false), ("a!", HELLO, false), ("a.b", HELLO, false), (below, HELLO, false)];
        let error = Snapshot::new(files(&entries)).unwrap_err().to_string();
        assert_eq!(error, format!("the path \"{file}\" is a file, and \"{below}\" lies below it"));
    }
}

#[test]
fn neighbours_that_only_look_like_folders_are_accepted() {
    let entries = ["a!", "a.b", "a0", "ab", "b/a", "b/ab/c", "b/abc", "c/d/e", "c/d.e", "c/de/f"];
    let entries: Vec<_> = entries.iter().map(|path| (*path, HELLO, false)).collect();
    assert!(Snapshot::new(files(&entries)).is_ok());
}

#[test]
fn a_path_that_comes_twice_is_refused() {
    let entry = format!(r#""a":{{"object":"{}"}}"#, Id::of(HELLO));
    let error = serde_json::from_str::<Snapshot>(&format!(r#"{{"files":{{{entry},{entry}}}}}"#)).unwrap_err();
    insta::assert_snapshot!(error, @r#"the path "a" comes twice at line 1 column 188"#);
}

#[test]
fn members_that_no_id_covers_are_refused() {
    let snapshot = r#"{"files":{},"author":"someone"}"#;
    insta::assert_snapshot!(serde_json::from_str::<Snapshot>(snapshot).unwrap_err(), @"unknown field `author`, expected `files` at line 1 column 20");
    let file = format!(r#"{{"object":"{}","symlink":true}}"#, Id::of(HELLO));
    insta::assert_snapshot!(serde_json::from_str::<FileEntry>(&file).unwrap_err(), @"unknown field `symlink`, expected `object` or `executable` at line 1 column 93");
    let commit = Commit::new(vec![], Id::of(""), "", "2026-11-30T15:59:07Z").unwrap();
    let commit = serde_json::to_string(&commit).unwrap().replacen('{', r#"{"author":"someone","#, 1);
    insta::assert_snapshot!(serde_json::from_str::<Commit>(&commit).unwrap_err(), @"unknown field `author`, expected one of `parents`, `snapshot`, `message`, `committed_at` at line 1 column 9");
}

#[test]
fn parts_that_make_no_commit_are_refused_by_name() {
    let refusal = |parents: Vec<Id>, message: &str, at: &str| {
        Commit::new(parents, Id::of(""), message, at).unwrap_err().to_string()
    };
    let at = "2026-11-30T15:59:07Z";
    insta::assert_snapshot!(refusal((0..17).map(|number| Id::of([number])).collect(), "", at), @"the commit has 17 parents, and at most 16 are allowed");
    insta::assert_snapshot!(refusal(vec![Id::of("a"), Id::of("b"), Id::of("a")], "", at), @"the commit names the parent sha256:ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb twice");
    insta::assert_snapshot!(refusal(vec![], "cut\0short", at), @"the commit's message holds a NUL at byte 3");
    insta::assert_snapshot!(refusal(vec![], &"m".repeat(65_537), at), @"the commit's message is 65537 bytes long, and at most 65536 are allowed");
    insta::assert_snapshot!(refusal(vec![], "", "yesterday\n"), @r#"expected the commit's time as in 2026-11-30T15:59:07Z, and got "yesterday\n""#);
    insta::assert_snapshot!(refusal(vec![], "", "2026-11-30T15:59:07+01:00"), @r#"expected the commit's time as in 2026-11-30T15:59:07Z, and got "2026-11-30T15:59:07+01:00""#);
}

/// What is refused when it is made is refused when it arrives.
#[test]
fn a_commit_with_a_nul_in_its_message_is_refused_as_json_too() {
    let commit = Commit::new(vec![], Id::of(""), "cut short", "2026-11-30T15:59:07Z").unwrap();
    let json = serde_json::to_string(&commit).unwrap().replace("cut short", r"cut\u0000short");
    let error = serde_json::from_str::<Commit>(&json).unwrap_err();
    assert_eq!(error.to_string(), CommitError::MessageHoldsNul { at: 3 }.to_string());
}

#[test]
fn the_objects_of_a_snapshot_are_read_without_holding_it() {
    let json = serde_json::to_vec(&second()).unwrap();
    let mut objects = Vec::new();
    objects_in(&json[..], |object| objects.push(object)).unwrap();
    assert_eq!(objects, second().objects().collect::<Vec<_>>());
    assert!(objects_in(&json[..json.len() - 1], |_| {}).is_err());
    assert!(objects_in(&[&json[..], b"x"].concat()[..], |_| {}).is_err());
}
