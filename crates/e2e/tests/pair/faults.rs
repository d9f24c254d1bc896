//! Everything that can go wrong on the way: each a clear error that names its input, the right exit code, and
//! nothing left behind.

use std::fs;
use std::net::TcpListener;
use std::time::Duration;

use e2e::{Answer, Ended, RawServer, Scene};

use crate::fake_hub::{Answers, busy, fake_hub, url};
use crate::forge::forged;
use crate::redacted::redacted;
use crate::scene;

/// A clone that fails: what is on standard error, with the exit code before it. Nothing may be left of it.
#[track_caller]
fn failed_clone(scene: &Scene, from: &str) -> String {
    let work = scene.new_folder("work").unwrap();
    let ended = scene.client(&work).run(&["clone", from, "made/target"]).unwrap();
    let left: Vec<_> = fs::read_dir(&work).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(left.is_empty(), "{left:?} was left behind");
    told(&ended)
}

fn told(ended: &Ended) -> String {
    assert_eq!(ended.stdout, "");
    redacted(&format!("{}: {}", ended.code().unwrap_or(-1), ended.stderr.trim_end()), &[])
}

/// A clone from a hub that answers like this and otherwise tells the truth.
#[track_caller]
fn failed_clone_of(answers: Answers) -> String {
    let scene = scene();
    let hub = fake_hub(&scene, &forged(&[("a.txt", "content")]), answers);
    failed_clone(&scene, &url(&hub))
}

/// A clone that succeeds although a hub answers like this at first.
#[track_caller]
fn good_clone_of(answers: Answers) -> (Scene, RawServer) {
    let scene = scene();
    let hub = fake_hub(&scene, &forged(&[("a.txt", "content")]), answers);
    let work = scene.new_folder("work").unwrap();
    scene.client(&work).succeed(&["clone", &url(&hub), "target"]).unwrap();
    assert_eq!(fs::read_to_string(work.join("target/a.txt")).unwrap(), "content");
    (scene, hub)
}

#[test]
fn a_reset_before_any_answer_is_told() {
    insta::assert_snapshot!(failed_clone_of(Answers::refs([Answer::default().reset()])), @"3: ❌ Fetch failed: http://127.0.0.1:PORT/owner/slug/refs: the connection was lost (connection reset by peer)");
}

/// C6: profile `muse` repeats a refusal, and nothing else.
#[test]
fn a_reset_instead_of_the_fetch_answer_is_not_repeated() {
    insta::assert_snapshot!(failed_clone_of(Answers::fetches([Answer::default().reset()])), @"3: ❌ Fetch failed: http://127.0.0.1:PORT/owner/slug/fetch/mpack: the connection was lost (connection reset by peer)");
}

#[test]
fn a_reset_during_the_download_that_happens_again_is_told() {
    let cut = || Answer::head("200 OK", &[], 245).write("x").reset();
    insta::assert_snapshot!(failed_clone_of(Answers::downloads([Answer::default().reset(), cut()])), @"3: ❌ Fetch failed: http://127.0.0.1:PORT/owner/slug/mpacks/the-pack: the connection was lost (connection reset by peer)");
}

#[test]
fn a_refused_connection_is_told() {
    let scene = scene();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    insta::assert_snapshot!(failed_clone(&scene, &format!("http://{closed}/owner/slug")), @"3: ❌ Fetch failed: http://127.0.0.1:PORT/owner/slug/refs: cannot connect (connection refused)");
}

/// `.invalid` is the name that never resolves (RFC 2606).
#[test]
fn a_host_that_does_not_exist_is_told() {
    let told = failed_clone(&scene(), "http://nobody.invalid/owner/slug");
    let expected =
        "3: ❌ Fetch failed: http://nobody.invalid/owner/slug/refs: the host name cannot be resolved";
    assert!(told.starts_with(expected), "{told}");
}

/// F24 for downloads: what has come is carried on from, as long as more comes.
#[test]
fn a_download_that_is_cut_off_once_is_carried_on() {
    let pack = forged(&[("a.txt", "content")]).pack;
    let cut = Answer::head("200 OK", &[], pack.len() as u64).write(&pack[..100]).close();
    let (_scene, hub) = good_clone_of(Answers::downloads([cut]));
    let downloads = hub.trace().of("GET /owner/slug/mpacks/");
    let ranges: Vec<_> = downloads.iter().map(|exchange| exchange.request.field("range")).collect();
    assert_eq!(ranges, [None, Some("bytes=100-")]);
}

#[test]
fn a_download_that_is_cut_off_for_good_is_told() {
    let pack = forged(&[("a.txt", "content")]).pack;
    let cut = Answer::head("200 OK", &[], pack.len() as u64).write(&pack[..100]).close();
    let gone = Answer::new("404 Not Found", &[], "gone");
    insta::assert_snapshot!(failed_clone_of(Answers::downloads([cut, gone])), @"3: ❌ Fetch failed: the pack from http://127.0.0.1:PORT/owner/slug/mpacks/the-pack was cut off after 100 of 423 bytes: end of file before message length reached");
}

#[test]
fn a_download_that_trickles_arrives() {
    let pack = forged(&[("a.txt", "content")]).pack;
    let trickling =
        Answer::head("200 OK", &[], pack.len() as u64).trickle(&pack, 20, Duration::from_millis(10));
    good_clone_of(Answers::downloads([trickling]));
}

/// F25: the hint counts from the head, and a body that does not come does not lengthen the wait by much.
#[test]
fn a_refusal_whose_body_never_comes_is_waited_out() {
    let headed = Answer::head("503 Service Unavailable", &["Retry-After: 3"], 1_000).write("part").silence();
    let (_scene, hub) = good_clone_of(Answers::fetches([headed]));
    let fetches = hub.trace().fetches();
    let wait = fetches[1].arrived - fetches[0].arrived;
    assert!(wait >= Duration::from_secs(3), "came back after {wait:?}");
}

/// F24: the head decides, though its body was cut off.
#[test]
fn a_refusal_whose_body_is_cut_off_is_waited_out() {
    let cut = Answer::head("503 Service Unavailable", &["Retry-After: 2"], 1_000).write("part").close();
    let (_scene, hub) = good_clone_of(Answers::fetches([cut]));
    let fetches = hub.trace().fetches();
    let wait = fetches[1].arrived - fetches[0].arrived;
    assert!(wait >= Duration::from_secs(2), "came back after {wait:?}");
}

#[test]
fn a_head_that_trickles_is_waited_for() {
    let head = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n";
    let slow = Answer::default().trickle(head, 8, Duration::from_millis(50));
    let (_scene, hub) = good_clone_of(Answers::fetches([slow]));
    assert_eq!(hub.trace().fetches().len(), 2);
}

/// T6: neither does an answer whose body never ends.
#[test]
fn a_body_that_never_comes_does_not_outlast_the_deadline() {
    let scene = scene();
    let server = scene.raw_server(|_| Answer::head("200 OK", &[], 1_000).write("part").silence()).unwrap();
    let work = scene.new_folder("work").unwrap();
    let asked = format!("http://{}/slow", server.address());
    let ended = scene.client(&work).run(&["get", &asked, "--deadline", "1"]).unwrap();
    assert_eq!(ended.code(), Some(3));
    assert!(ended.after >= Duration::from_secs(1), "it gave up after {:?}", ended.after);
    assert!(ended.after < Duration::from_secs(30), "it waited for {:?}", ended.after);
    assert!(ended.stderr.contains("was still coming"), "{}", ended.stderr);
}

/// T6, with `get`, whose deadline can be small: a server that says nothing does not hold it.
#[test]
fn a_server_that_says_nothing_does_not_outlast_the_deadline() {
    let scene = scene();
    let server = scene.raw_server(|_| Answer::default().silence()).unwrap();
    let work = scene.new_folder("work").unwrap();
    let asked = format!("http://{}/slow", server.address());
    let ended = scene.client(&work).run(&["get", &asked, "--deadline", "1"]).unwrap();
    assert_ne!(ended.code(), Some(0));
    assert!(ended.after >= Duration::from_secs(1), "it gave up after {:?}", ended.after);
    assert!(ended.after < Duration::from_secs(30), "it waited for {:?}", ended.after);
    assert!(ended.stderr.contains("the deadline would pass"), "{}", ended.stderr);
}

#[test]
fn a_pack_that_is_announced_with_another_length_is_told() {
    let longer = Answers { longer: 1, ..Answers::default() };
    insta::assert_snapshot!(failed_clone_of(longer), @"3: ❌ Fetch failed: the pack from http://127.0.0.1:PORT/owner/slug/mpacks/the-pack was announced with 423 bytes, and 424 were promised");
}

#[test]
fn a_pack_whose_bytes_are_others_than_promised_is_told() {
    let mut pack = forged(&[("a.txt", "content")]).pack;
    let last = pack.len() - 1;
    pack[last] ^= 1;
    insta::assert_snapshot!(failed_clone_of(Answers::downloads([Answer::new("200 OK", &[], pack)])), @r#"
    3: received 423 B
    ❌ Fetch failed: the pack was refused: the pack's closing digest says sha256:ID, and its bytes are sha256:ID
    "#);
}

/// F30: a 404 is final, whatever stands beside it, and is not asked again.
#[test]
fn a_404_is_told_and_not_repeated() {
    let scene = scene();
    let gone = Answer::new("404 Not Found", &["Retry-After: 1"], "no such want");
    let hub = fake_hub(&scene, &forged(&[("a.txt", "content")]), Answers::fetches([gone]));
    insta::assert_snapshot!(failed_clone(&scene, &url(&hub)), @"3: ❌ Fetch failed: POST http://127.0.0.1:PORT/owner/slug/fetch/mpack answered 404: no such want");
    assert_eq!(hub.trace().fetches().len(), 1);
}

#[test]
fn an_answer_that_is_no_json_is_told() {
    insta::assert_snapshot!(failed_clone_of(Answers::refs([Answer::new("200 OK", &[], "<html>")])), @"3: ❌ Fetch failed: the answer of http://127.0.0.1:PORT/owner/slug/refs cannot be used: expected value at line 1 column 1");
}

#[test]
fn what_is_not_http_is_told() {
    insta::assert_snapshot!(failed_clone_of(Answers::refs([Answer::default().write("SSH-2.0-x\r\n\r\n").close()])), @"3: ❌ Fetch failed: http://127.0.0.1:PORT/owner/slug/refs: the connection was lost (invalid HTTP version parsed)");
}

#[test]
fn what_is_no_address_is_the_users_error() {
    let scene = scene();
    let all: Vec<_> =
        ["", "slug", "file:///etc", "http://", "http://host/only-owner", "http://[::1/owner/slug"]
            .map(|given| failed_clone(&scene, given))
            .to_vec();
    insta::assert_snapshot!(all.join("\n"), @r#"
    1: ❌ expected the address of a repository such as https://host/owner/slug, got "": relative URL without a base
    1: ❌ expected the address of a repository such as https://host/owner/slug, got "slug": relative URL without a base
    1: ❌ expected the address of a repository such as https://host/owner/slug, got "file:///etc": it starts with neither http:// nor https://
    1: ❌ expected the address of a repository such as https://host/owner/slug, got "http://": empty host
    1: ❌ expected the address of a repository such as https://host/owner/slug, got "http://host/only-owner": its path does not end in /owner/slug
    1: ❌ expected the address of a repository such as https://host/owner/slug, got "http://[::1/owner/slug": invalid IPv6 address
    "#);
}

/// TLS spoken to a server that has none.
#[test]
fn a_server_without_tls_behind_https_is_told() {
    let scene = scene();
    let hub = scene.hub(&[]).unwrap();
    let told = failed_clone(&scene, &hub.url("owner/slug").replace("http://", "https://"));
    assert!(told.starts_with("3: ❌ Fetch failed: https://127.0.0.1:PORT/owner/slug/refs: "), "{told}");
}

#[test]
fn a_target_that_holds_something_stays_as_it_is() {
    let scene = scene();
    let hub = fake_hub(&scene, &forged(&[("a.txt", "a")]), Answers::default());
    let work = scene.new_folder("work").unwrap();
    fs::create_dir(work.join("full")).unwrap();
    fs::write(work.join("full/mine"), "mine").unwrap();
    fs::write(work.join("file"), "mine").unwrap();
    let client = scene.client(&work);
    let clone = |target: &str| told(&client.run(&["clone", &url(&hub), target]).unwrap());
    insta::assert_snapshot!([clone("full"), clone("file"), clone("file/below")].join("\n"), @r#"
    1: ❌ the target full exists and is not empty
    1: ❌ the target file exists and is not a directory
    1: ❌ the target file/below cannot be created: Not a directory (os error 20)
    "#);
    assert_eq!(fs::read_to_string(work.join("full/mine")).unwrap(), "mine");
    assert_eq!(fs::read_to_string(work.join("file")).unwrap(), "mine");
    assert_eq!(hub.trace().exchanges().len(), 0, "the hub is not asked in vain");
}

/// Below `/proc` nobody can make a folder, whoever runs the test.
#[test]
fn a_target_that_cannot_be_made_is_the_users_error() {
    let scene = scene();
    let work = scene.new_folder("work").unwrap();
    let ended =
        scene.client(&work).run(&["clone", "http://127.0.0.1:9/owner/slug", "/proc/clone/target"]).unwrap();
    assert_eq!(ended.code(), Some(1));
    assert!(
        ended.stderr.starts_with("❌ the target /proc/clone/target cannot be created: "),
        "{}",
        ended.stderr
    );
}

/// F04 for the environment: junk there counts as nothing, so the default of 120 s holds.
#[test]
fn a_junk_budget_in_the_environment_falls_through() {
    let scene = scene();
    let clones = ["soon", "1e3", "nan", "+5", ""].map(|junk| {
        let hub = fake_hub(&scene, &forged(&[("a.txt", "a")]), Answers::fetches([busy("0")]));
        let work = scene.new_folder("work").unwrap();
        let client = scene.client(&work).env("MUSE_FETCH_RETRY_BUDGET_S", junk);
        (junk, client.start(&["clone", &url(&hub)]).unwrap(), hub)
    });
    for (junk, clone, _hub) in clones {
        let ended = clone.wait().unwrap();
        assert_eq!(ended.code(), Some(0), "{junk:?}: {}", ended.stderr);
        assert!(ended.stderr.contains("(waited 0s / 120s)"), "{junk:?}: {}", ended.stderr);
    }
}

/// F04 for the option: there it is the user's error.
#[test]
fn a_junk_budget_in_the_option_is_the_users_error() {
    let scene = scene();
    let work = scene.new_folder("work").unwrap();
    let ended =
        scene.client(&work).run(&["clone", "http://127.0.0.1:9/o/s", "--retry-timeout", "1e3"]).unwrap();
    insta::assert_snapshot!(told(&ended), @r#"1: ❌ --retry-timeout: expected a number of seconds such as 120 or 2.5, got "1e3""#);
}

#[test]
fn outside_a_repository_there_is_nothing_to_pull() {
    let scene = scene();
    let work = scene.new_folder("work").unwrap();
    let ended = scene.client(&work).run(&["pull"]).unwrap();
    assert_eq!(ended.code(), Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains(work.to_str().unwrap()), "{}", ended.stderr);
}
