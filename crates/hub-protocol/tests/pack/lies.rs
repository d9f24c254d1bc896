//! Packs that say one thing and hold another.

use hub_protocol::{Commit, Id, Limits, PackError, PackSink, Snapshot, read_pack};

use crate::collect::{Collected, refusal};
use crate::forge::Records;
use crate::sample::{Content, HELLO, SCRIPT, commit, snapshot};

#[test]
fn an_object_that_lies_about_its_id_is_never_done() {
    let pack = Records::totals(0, 0, 1, 6).entry(b'O', Id::of(SCRIPT), HELLO).end().pack();
    let mut collected = Collected::default();
    let error = read_pack(&pack[..], &Limits::default(), &mut collected).unwrap_err();
    insta::assert_snapshot!(error, @"object sha256:888c968858ae9a033f633a1aac7fa54d9b82151ac28ba5a211f0d58f2419af59 is really sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03");
    assert!(collected.objects.is_empty());
    assert_eq!(collected.unfinished, Some((Id::of(SCRIPT), 6, HELLO.to_vec())));
}

#[test]
fn a_commit_that_lies_about_its_id_does_not_reach_the_sink() {
    let Content { commits, .. } = Content::small();
    let json = serde_json::to_vec(&commits[0]).unwrap();
    let pack = Records::totals(1, 0, 0, 0).entry(b'C', commits[1].id(), &json).end().pack();
    let mut collected = Collected::default();
    let error = read_pack(&pack[..], &Limits::default(), &mut collected).unwrap_err();
    assert!(matches!(error, PackError::LyingId { actual, .. } if actual == commits[0].id()), "{error}");
    assert_eq!(collected, Collected::default());
}

#[test]
fn a_snapshot_that_lies_about_its_id_does_not_reach_the_sink() {
    let Content { snapshots, .. } = Content::small();
    let json = serde_json::to_vec(&snapshots[0]).unwrap();
    let pack = Records::totals(0, 1, 0, 0).entry(b'S', snapshots[1].id(), &json).end().pack();
    let mut collected = Collected::default();
    let error = read_pack(&pack[..], &Limits::default(), &mut collected).unwrap_err();
    assert!(matches!(error, PackError::LyingId { actual, .. } if actual == snapshots[0].id()), "{error}");
    assert_eq!(collected, Collected::default());
}

#[test]
fn fewer_entries_than_declared_are_refused() {
    let files = snapshot(&[]);
    let missing = |records: Records| refusal(&records.end().pack()).to_string();
    insta::assert_snapshot!(missing(Records::totals(1, 0, 0, 0)), @"the pack declares 1 of the kind commit, and holds 0");
    insta::assert_snapshot!(missing(Records::totals(0, 2, 0, 0).snapshot(&files)), @"the pack declares 2 of the kind snapshot, and holds 1");
    insta::assert_snapshot!(missing(Records::totals(0, 0, 2, 6).object(HELLO)), @"the pack declares 2 of the kind object, and holds 1");
    insta::assert_snapshot!(missing(Records::totals(0, 0, 1, 7).object(HELLO)), @"the pack declares 7 bytes of objects, and holds 6");
}

#[test]
fn more_entries_than_declared_are_refused() {
    let surplus = |records: Records| refusal(&records.end().pack()).to_string();
    insta::assert_snapshot!(surplus(Records::totals(0, 1, 0, 0).commit(&commit(&[], &snapshot(&[]), ""))), @"commit sha256:6c13731e5dff0951e0076006dce4cd13785df4b7bb68171a9c15e081390129d5 is one too many: the pack declares 0 of its kind");
    insta::assert_snapshot!(surplus(Records::totals(0, 0, 1, 100).object(HELLO).object(SCRIPT)), @"object sha256:888c968858ae9a033f633a1aac7fa54d9b82151ac28ba5a211f0d58f2419af59 is one too many: the pack declares 1 of its kind");
    insta::assert_snapshot!(surplus(Records::totals(0, 0, 2, 10).object(HELLO).object(SCRIPT)), @"object sha256:888c968858ae9a033f633a1aac7fa54d9b82151ac28ba5a211f0d58f2419af59 is 21 bytes long, and only 4 are left of those that the pack declares");
}

/// A length is judged before the sink hears of the object: it may reserve what it is told.
#[test]
fn an_object_that_claims_too_much_does_not_begin() {
    let pack = Records::totals(0, 0, 1, 6).head(b'O', Id::of(HELLO), u64::MAX).bytes(HELLO).end().pack();
    let mut collected = Collected::default();
    let error = read_pack(&pack[..], &Limits::default(), &mut collected).unwrap_err();
    assert!(matches!(error, PackError::SurplusBytes { len: u64::MAX, left: 6, .. }), "{error}");
    assert_eq!(collected, Collected::default());
}

#[test]
fn an_entry_that_comes_twice_is_refused() {
    let Content { commits, snapshots, .. } = Content::small();
    let twice = |records: Records| refusal(&records.end().pack());
    let object = twice(Records::totals(0, 0, 2, 12).object(HELLO).object(HELLO));
    insta::assert_snapshot!(object, @"object sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03 comes twice");
    let commit = twice(Records::totals(2, 0, 0, 0).commit(&commits[0]).commit(&commits[0]));
    assert!(matches!(commit, PackError::Duplicate { .. }), "{commit}");
    let snapshot = twice(Records::totals(0, 2, 0, 0).snapshot(&snapshots[0]).snapshot(&snapshots[0]));
    assert!(matches!(snapshot, PackError::Duplicate { .. }), "{snapshot}");
}

/// A file may hold the very bytes that a snapshot's id is made of: one id, two kinds, no duplicate.
#[test]
fn entries_of_different_kinds_may_share_an_id() {
    let files = snapshot(&[]);
    assert_eq!(files.id(), Id::of(""));
    let pack = Records::totals(0, 1, 1, 0).snapshot(&files).object(b"").end().pack();
    assert!(crate::collect::read(&pack).is_ok());
}

#[test]
fn kinds_out_of_order_are_refused() {
    let Content { commits, snapshots, .. } = Content::small();
    let records = Records::totals(1, 1, 1, 6);
    let out_of_order = |records: Records| refusal(&records.end().pack()).to_string();
    insta::assert_snapshot!(out_of_order(records.clone().snapshot(&snapshots[0]).commit(&commits[0])), @"commit sha256:6f98c944a4156961ef5b4e143cd8783d133ce45ce0a4f66ac980ceab9e25fc08 comes after the first snapshot");
    insta::assert_snapshot!(out_of_order(records.object(HELLO).snapshot(&snapshots[0])), @"snapshot sha256:d08e93a56ec0530ef8f0984a779cb281597d271de467ab63785dd083a02a84a8 comes after the first object");
}

#[test]
fn an_unknown_record_is_refused_by_number_and_type() {
    let unknown = Records::totals(0, 0, 1, 6).object(HELLO).head(b'X', Id::of(""), 0).end();
    insta::assert_snapshot!(refusal(&unknown.pack()), @r#"record 3 is of the unknown type "X""#);
    insta::assert_snapshot!(refusal(&Records::default().end().pack()), @r#"record 1 is of the unknown type "E""#);
    insta::assert_snapshot!(refusal(&Records::totals(0, 0, 0, 0).bytes(b"\0").pack()), @r#"record 2 is of the unknown type "\x00""#);
    let twice = Records::totals(0, 0, 0, 0).bytes(&Records::totals(0, 0, 0, 0).0).end();
    insta::assert_snapshot!(refusal(&twice.pack()), @r#"record 2 is of the unknown type "T""#);
}

/// F48: a path that would leave the target never becomes a snapshot.
#[test]
fn a_snapshot_with_a_path_that_leaves_the_target_is_refused_by_name() {
    let hostile = |path: &str| {
        let json = format!(r#"{{"files":{{{path:?}:{{"object":"{}"}}}}}}"#, Id::of(HELLO));
        let pack = Records::totals(0, 1, 0, 0).entry(b'S', Id::of("whatever"), json.as_bytes()).end().pack();
        refusal(&pack).to_string()
    };
    insta::assert_snapshot!(hostile("../../x"), @r#"snapshot sha256:85738f8f9a7f1b04b5329c590ebcb9e425925c6d0984089c43a022de4f19c281 is malformed: the path "../../x" has the component "..", which is no file name at line 1 column 20"#);
    for path in ["/etc/passwd", ".muse/config.toml", ".MUSE/HEAD", "a/../b", "C:/x", "a\\b", "nul", "a/"] {
        assert!(hostile(path).contains(&format!("the path {path:?} ")), "{}", hostile(path));
    }
}

#[test]
fn a_snapshot_with_a_file_below_a_file_is_refused() {
    let id = Id::of(HELLO);
    let json = format!(
        r#"{{"files":{{"a":{{"object":"{id}"}},"a.b":{{"object":"{id}"}},"a/b":{{"object":"{id}"}}}}}}"#
    );
    let pack = Records::totals(0, 1, 0, 0).entry(b'S', Id::of("whatever"), json.as_bytes()).end().pack();
    insta::assert_snapshot!(refusal(&pack), @r#"snapshot sha256:85738f8f9a7f1b04b5329c590ebcb9e425925c6d0984089c43a022de4f19c281 is malformed: the path "a" is a file, and "a/b" lies below it"#);
}

#[test]
fn a_commit_that_is_no_json_is_refused() {
    let pack = Records::totals(1, 0, 0, 0).entry(b'C', Id::of(""), b"").end().pack();
    insta::assert_snapshot!(refusal(&pack), @"commit sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 is malformed: EOF while parsing a value at line 1 column 0");
}

#[test]
fn a_sink_that_fails_ends_the_reading_and_is_named_with_the_entry() {
    struct Full;
    impl PackSink for Full {
        fn commit(&mut self, _: Id, _: Commit) -> std::io::Result<()> {
            Ok(())
        }
        fn snapshot(&mut self, _: Id, _: Snapshot) -> std::io::Result<()> {
            Ok(())
        }
        fn object_begin(&mut self, _: Id, _: u64) -> std::io::Result<()> {
            Ok(())
        }
        fn object_chunk(&mut self, _: &[u8]) -> std::io::Result<()> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn object_done(&mut self, _: Id) -> std::io::Result<()> {
            panic!("the object was never stored")
        }
    }
    let (pack, _) = Content::small().pack();
    let error = read_pack(&pack[..], &Limits::default(), &mut Full).unwrap_err();
    insta::assert_snapshot!(error, @"could not store object sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03");
    assert!(
        matches!(error, PackError::Store { source, .. } if source.kind() == std::io::ErrorKind::StorageFull)
    );
}
