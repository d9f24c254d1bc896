//! Servers and packs that lie.

use std::time::Duration;

use bytes::Bytes;
use fetch_client::{CloneRequest, DownloadFault, Error, FetchReport, clone};
use hub_protocol::{Commit, FileEntry, Id, RepositoryPath, Snapshot};

use crate::hub::{Download, TestHub, pack};
use crate::scratch::{Work, address, files, names, pushed, session};

/// Clones, and looks that a failure leaves nothing.
async fn clone_from(hub: &TestHub) -> Result<FetchReport, Error> {
    let place = tempfile::tempdir().expect("a directory").keep();
    let request = CloneRequest { address: address(hub), target: Some(place.join("copy")), branch: None };
    let done = clone(&session(), &request).await.map_err(|failed| failed.error);
    if done.is_err() {
        assert_eq!(names(&place), [""; 0], "nothing is left: {done:?}");
        std::fs::remove_dir(place).expect("an empty directory");
    }
    done
}

fn fault(result: Result<FetchReport, Error>) -> DownloadFault {
    match result {
        Err(Error::Download { fault, url }) => {
            assert!(!url.contains("secret"), "the signature is not shown: {url}");
            fault
        }
        other => panic!("expected a faulty download, got {other:?}"),
    }
}

/// A repository whose pack does not fit into one piece.
async fn pushed_much(hub: &TestHub) -> Work {
    let work = Work::new();
    let mut state = 1_u64;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    })
    .take(3 << 20)
    .collect();
    work.write("noise", noise).write("small", "1").commit("much");
    work.push(hub).await;
    work
}

#[tokio::test]
async fn a_download_that_is_cut_off_is_carried_on_where_it_ended() {
    let hub = TestHub::start().await;
    let work = pushed_much(&hub).await;
    for ranges in [true, false] {
        hub.cheat(Download::CutAt { at: 1 << 20, ranges, times: if ranges { 2 } else { 1 } });
        let report = clone_from(&hub).await.expect("a clone");
        assert_eq!(files(&report.target), work.files());
        std::fs::remove_dir_all(report.target.parent().expect("a parent")).expect("ours");
    }
    assert_eq!(hub.count("GET pack bytes=1048576-"), 2);
    assert_eq!(hub.count("GET pack bytes=2097152-"), 1);
}

#[tokio::test]
async fn a_download_that_is_cut_off_again_and_again_says_how_much_came() {
    let hub = TestHub::start().await;
    pushed_much(&hub).await;
    hub.cheat(Download::CutAt { at: 1000, ranges: true, times: usize::MAX });
    let DownloadFault::Cut { received, promised, .. } = fault(clone_from(&hub).await) else {
        panic!("expected a cut")
    };
    assert_eq!(received, 4_000, "the first request and three more");
    assert!(promised > 3 << 20);
    assert_eq!(hub.count("GET pack"), 4);
}

#[tokio::test]
async fn a_part_that_does_not_say_where_it_starts_is_refused() {
    let hub = TestHub::start().await;
    pushed_much(&hub).await;
    hub.cheat(Download::Splices { at: 1 << 20 });
    assert!(matches!(fault(clone_from(&hub).await), DownloadFault::Length { announced: 0, .. }));
}

#[tokio::test]
async fn a_download_that_never_begins_is_not_asked_for_again() {
    let hub = TestHub::start().await;
    pushed_much(&hub).await;
    hub.cheat(Download::CutAt { at: 0, ranges: true, times: usize::MAX });
    assert!(matches!(fault(clone_from(&hub).await), DownloadFault::Cut { received: 0, .. }));
    assert_eq!(hub.count("GET pack"), 1);
}

#[tokio::test]
async fn a_length_other_than_promised_is_refused_before_the_first_byte() {
    let hub = TestHub::start().await;
    pushed(&hub).await;
    hub.cheat(Download::Other(Bytes::from_static(b"short")));
    assert!(matches!(fault(clone_from(&hub).await), DownloadFault::Length { announced: 5, .. }));
}

#[tokio::test]
async fn more_bytes_than_promised_are_refused() {
    let hub = TestHub::start().await;
    pushed(&hub).await;
    hub.cheat(Download::Longer);
    let refused = clone_from(&hub).await;
    assert!(
        matches!(refused, Err(Error::Download { fault: DownloadFault::TooLong { .. }, .. } | Error::Pack(_))),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_flipped_bit_is_found_wherever_it_is() {
    let hub = TestHub::start().await;
    pushed_much(&hub).await;
    for at in [0, 7, 8, 100, 1_000_000, 3_000_000] {
        hub.cheat(Download::Flipped { at });
        let refused = clone_from(&hub).await;
        assert!(matches!(refused, Err(Error::Pack(_) | Error::Download { .. })), "byte {at}: {refused:?}");
    }
}

/// The pack is whole and true to itself, and not the one that was promised.
#[tokio::test]
async fn a_whole_pack_under_another_ones_id_is_refused() {
    let hub = TestHub::start().await;
    pushed(&hub).await;
    hub.promise(Id::of("another pack"));
    let DownloadFault::Altered { promised, .. } = fault(clone_from(&hub).await) else {
        panic!("expected another id")
    };
    assert_eq!(promised, Id::of("another pack"));
}

fn commit_of(files: &[(&str, &str)]) -> (Commit, Snapshot) {
    let files = files.iter().map(|(path, content)| {
        let entry = FileEntry { object: Id::of(content), executable: false };
        (RepositoryPath::new(*path).expect("a path"), entry)
    });
    let snapshot = Snapshot::new(files.collect()).expect("a snapshot");
    (Commit::new(vec![], snapshot.id(), "forged", "2026-11-30T12:00:00Z").expect("a commit"), snapshot)
}

#[tokio::test]
async fn a_pack_that_lacks_what_it_leads_to_is_refused_and_the_hole_is_named() {
    let hub = TestHub::start().await;
    let (commit, snapshot) = commit_of(&[("a", "1"), ("b", "2")]);
    hub.set_head("main", commit.id());
    let missing = |result: Result<FetchReport, Error>| match result {
        Err(Error::Incomplete { kind, id, .. }) => (kind, id),
        other => panic!("expected a hole, got {other:?}"),
    };

    hub.forge(pack([&commit], [&snapshot], [&b"1"[..]]));
    assert_eq!(missing(clone_from(&hub).await), ("object", Id::of("2")));
    hub.forge(pack([&commit], [], [&b"1"[..], b"2"]));
    assert_eq!(missing(clone_from(&hub).await), ("snapshot", snapshot.id()));
    hub.forge(pack([], [&snapshot], [&b"1"[..], b"2"]));
    assert_eq!(missing(clone_from(&hub).await), ("commit", commit.id()));

    let parent = Id::of("a commit that is nowhere");
    let child = Commit::new(vec![parent], snapshot.id(), "child", "2026-11-30T12:00:00Z").expect("a commit");
    hub.set_head("main", child.id());
    hub.forge(pack([&child], [&snapshot], [&b"1"[..], b"2"]));
    assert_eq!(missing(clone_from(&hub).await), ("commit", parent));
}

/// A pack written by hand, record by record: what no honest writer would write.
fn raw_pack(totals: [u64; 4], records: &[(u8, Id, &[u8])]) -> Vec<u8> {
    let mut plain = vec![b'T'];
    plain.extend(totals.iter().flat_map(|total| total.to_le_bytes()));
    for (kind, id, content) in records {
        plain.push(*kind);
        plain.extend_from_slice(id.as_bytes());
        plain.extend_from_slice(&(content.len() as u64).to_le_bytes());
        plain.extend_from_slice(content);
    }
    plain.push(b'E');
    let mut pack = b"\x89mpack\n\x01".to_vec();
    pack.extend(zstd::encode_all(&plain[..], 3).expect("it compresses"));
    let digest = Id::of(&pack);
    pack.extend_from_slice(digest.as_bytes());
    pack
}

async fn refused_pack(hub: &TestHub, pack: Vec<u8>) -> String {
    hub.forge(pack);
    match clone_from(hub).await {
        Err(error @ Error::Pack(_)) => error.to_string(),
        other => panic!("expected a refused pack, got {other:?}"),
    }
}

/// F48
#[tokio::test]
async fn a_path_that_leaves_the_target_or_enters_muse_is_refused_and_named() {
    let hub = TestHub::start().await;
    hub.set_head("main", Id::of("whatever"));
    let object = Id::of("1");
    let id = Id::of("a snapshot");
    for path in
        ["../../x", "/etc/passwd", ".muse/config.toml", ".MUSE/HEAD", "a/../b", "a\\u0000b", "nul", "a/./b"]
    {
        let json = format!("{{\"files\":{{\"{path}\":{{\"object\":\"{object}\"}}}}}}");
        let words = refused_pack(&hub, raw_pack([0, 1, 1, 1], &[(b'S', id, json.as_bytes())])).await;
        assert!(words.contains(&id.to_string()), "the entry is named: {words}");
        let shown = path.replace("\\u0000", "\\0");
        assert!(words.contains(&shown), "the path {shown} is named: {words}");
    }
}

#[tokio::test]
async fn an_object_under_a_false_name_is_refused_and_named() {
    let hub = TestHub::start().await;
    hub.set_head("main", Id::of("whatever"));
    let claimed = Id::of("innocent");
    let words = refused_pack(&hub, raw_pack([0, 0, 1, 4], &[(b'O', claimed, b"evil")])).await;
    assert!(words.contains(&claimed.to_string()) && words.contains(&Id::of("evil").to_string()), "{words}");
}

/// F48: a few bytes that declare more than any disk holds.
#[tokio::test]
async fn a_pack_that_declares_more_than_the_disk_has_room_for_is_refused() {
    let hub = TestHub::start().await;
    hub.set_head("main", Id::of("whatever"));
    let words = refused_pack(&hub, raw_pack([0, 0, 1, 1 << 62], &[])).await;
    assert!(words.contains("at most"), "{words}");
}

#[tokio::test]
async fn a_server_that_falls_silent_is_left_when_the_user_says_so() {
    let hub = TestHub::start().await;
    pushed_much(&hub).await;
    hub.cheat(Download::Stalls { after: 1 << 20 });
    let place = tempfile::tempdir().expect("a directory");
    let cancel = tokio_util::sync::CancellationToken::new();
    let session = session().with_cancel(cancel.clone());
    let request =
        CloneRequest { address: address(&hub), target: Some(place.path().join("copy")), branch: None };
    let cancelling = async {
        while hub.count("GET pack") == 0 {
            tokio::task::yield_now().await;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
        cancel.cancel();
    };
    let both = async { tokio::join!(clone(&session, &request), cancelling).0 };
    let done = tokio::time::timeout(Duration::from_secs(20), both).await.expect("at once");
    assert!(matches!(done.expect_err("interrupted").error, Error::Interrupted));
    assert_eq!(names(place.path()), [""; 0]);
}
