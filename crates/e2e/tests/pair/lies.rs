//! Packs that lie (F48), served to a real client: each is refused by name, and nothing is written anywhere.

use std::fs;

use crate::fake_hub::{Answers, fake_hub, url};
use crate::forge::{Forged, Lie, forged, forged_with};
use crate::redacted::redacted;
use crate::scene;

/// What a clone says of this pack. Nothing may be left of it, in the target or beside it.
#[track_caller]
fn refusal(forged: &Forged) -> String {
    let scene = scene();
    let hub = fake_hub(&scene, forged, Answers::default());
    let work = scene.new_folder("work").unwrap();
    fs::create_dir_all(work.join("a/b")).unwrap();
    let ended = scene.client(work.join("a/b")).run(&["clone", &url(&hub), "target"]).unwrap();
    for (folder, left) in [("", vec!["a"]), ("a", vec!["b"]), ("a/b", vec![])] {
        let found: Vec<_> =
            fs::read_dir(work.join(folder)).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(found, left, "below {folder:?}: {}", ended.stderr);
    }
    assert_eq!(ended.stdout, "");
    redacted(&format!("{}: {}", ended.code().unwrap_or(-1), ended.stderr.trim_end()), &[])
}

#[test]
fn paths_that_leave_the_target_are_refused() {
    let paths =
        ["../../outside", "/etc/outside", "a/../../outside", ".muse/config.toml", "a/.MUSE/x", "a//b", "CON"];
    let all = paths.map(|path| refusal(&forged(&[(path, "evil")])));
    insta::assert_snapshot!(all.join("\n"), @r#"
    3: received 436 B
    ❌ Fetch failed: the pack was refused: snapshot sha256:ID is malformed: the path "../../outside" has the component "..", which is no file name at line 1 column 26
    3: received 432 B
    ❌ Fetch failed: the pack was refused: snapshot sha256:ID is malformed: the path "/etc/outside" is absolute at line 1 column 25
    3: received 435 B
    ❌ Fetch failed: the pack was refused: snapshot sha256:ID is malformed: the path "a/../../outside" has the component "..", which is no file name at line 1 column 28
    3: received 439 B
    ❌ Fetch failed: the pack was refused: snapshot sha256:ID is malformed: the path ".muse/config.toml" has the component ".muse", which is the repository's own folder at line 1 column 30
    3: received 432 B
    ❌ Fetch failed: the pack was refused: snapshot sha256:ID is malformed: the path "a/.MUSE/x" has the component ".MUSE", which is the repository's own folder at line 1 column 22
    3: received 428 B
    ❌ Fetch failed: the pack was refused: snapshot sha256:ID is malformed: the path "a//b" has an empty component at line 1 column 17
    3: received 428 B
    ❌ Fetch failed: the pack was refused: snapshot sha256:ID is malformed: the path "CON" has the component "CON", which Windows reserves for a device at line 1 column 16
    "#);
}

#[test]
fn a_path_below_a_file_is_refused() {
    insta::assert_snapshot!(refusal(&forged(&[("a", "a file"), ("a/b", "below it")])), @r#"
    3: received 528 B
    ❌ Fetch failed: the pack was refused: snapshot sha256:ID is malformed: the path "a" is a file, and "a/b" lies below it
    "#);
}

#[test]
fn an_object_under_the_id_of_other_bytes_is_refused() {
    let lie = Lie { object_id: true, ..Lie::default() };
    insta::assert_snapshot!(refusal(&forged_with(&[("a", "content")], lie)), @r#"
    3: received 428 B
    ❌ Fetch failed: the pack was refused: object sha256:ID is really sha256:ID
    "#);
}

#[test]
fn a_snapshot_under_the_id_of_another_is_refused() {
    let lie = Lie { snapshot_id: true, ..Lie::default() };
    insta::assert_snapshot!(refusal(&forged_with(&[("a", "content")], lie)), @r#"
    3: received 420 B
    ❌ Fetch failed: the pack was refused: snapshot sha256:ID is really sha256:ID
    "#);
}

#[test]
fn more_than_any_disk_holds_is_refused_before_the_first_object() {
    let lie = Lie { bytes: true, ..Lie::default() };
    let told = refusal(&forged_with(&[("a", "content")], lie));
    assert!(told.contains("❌ Fetch failed: the pack was refused: "), "{told}");
    assert!(told.contains(&(1_u64 << 60).to_string()), "{told}");
}

#[test]
fn a_pack_without_all_that_its_head_leads_to_is_refused() {
    let lie = Lie { last_object: true, ..Lie::default() };
    insta::assert_snapshot!(refusal(&forged_with(&[("a", "content"), ("b", "more")], lie)), @r#"
    3: received 470 B
    ❌ Fetch failed: the snapshot sha256:ID leads to the object sha256:ID, which is missing
    "#);
}

#[test]
fn a_pack_that_ends_early_under_its_own_right_name_is_refused() {
    let whole = forged(&[("a", "content")]);
    let cut = Forged { pack: whole.pack[..whole.pack.len() / 2].to_vec(), ..whole };
    insta::assert_snapshot!(refusal(&cut), @r#"
    3: received 211 B
    ❌ Fetch failed: the pack was refused: the pack is cut off in the totals
    "#);
}

#[test]
fn what_is_no_pack_at_all_is_refused() {
    let whole = forged(&[("a", "content")]);
    let page = Forged { pack: b"<html>moved</html>".to_vec(), ..whole };
    insta::assert_snapshot!(refusal(&page), @r#"
    3: received 18 B
    ❌ Fetch failed: the pack was refused: expected a pack, which begins with "\x89mpack\n", and got "<html>m"
    "#);
}
