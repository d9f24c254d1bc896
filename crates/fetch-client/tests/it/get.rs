//! `get`: any request under any profile.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use retry_core::Monotonic;
use retry_middleware::{Clock, SystemClock};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::program::run;
use crate::scratch::{names, write};

/// Answers with each status in turn, the last one for ever; `Retry-After: 1` beside everything.
#[derive(Clone)]
struct Server {
    statuses: Arc<Mutex<Vec<u16>>>,
    body: &'static str,
    seen: Arc<Mutex<Vec<Arrival>>>,
    url: String,
}

struct Arrival {
    at: Monotonic,
    /// Method, header `X-Test` and body.
    request: (Method, String, String),
}

impl Server {
    async fn start(statuses: &[u16], body: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}/thing?query", listener.local_addr().expect("an address"));
        let statuses = Arc::new(Mutex::new(statuses.iter().rev().copied().collect()));
        let server = Self { statuses, body, seen: Arc::default(), url };
        let app = Router::new().fallback(answer).with_state(server.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        server
    }

    /// Method, header `X-Test` and body of each request.
    fn seen(&self) -> Vec<(Method, String, String)> {
        self.seen.lock().expect("no panics").iter().map(|arrival| arrival.request.clone()).collect()
    }

    fn gaps(&self) -> Vec<Duration> {
        self.seen.lock().expect("no panics").windows(2).map(|pair| pair[1].at.since(pair[0].at)).collect()
    }
}

async fn answer(State(server): State<Server>, method: Method, headers: HeaderMap, body: Bytes) -> Response {
    let field = headers.get("x-test").map_or("", |value| value.to_str().expect("ASCII")).to_owned();
    let body = String::from_utf8(body.to_vec()).expect("UTF-8");
    server
        .seen
        .lock()
        .expect("no panics")
        .push(Arrival { at: SystemClock.monotonic(), request: (method, field, body) });
    let mut statuses = server.statuses.lock().expect("no panics");
    let status = if statuses.len() > 1 { statuses.pop() } else { statuses.last().copied() };
    let status = StatusCode::from_u16(status.expect("a status")).expect("a status");
    (status, [(header::RETRY_AFTER, "1")], server.body).into_response()
}

fn place() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

#[tokio::test]
async fn a_refused_get_is_sent_again_and_never_early() {
    let server = Server::start(&[503, 429, 200], "content").await;
    let ran = run(place().path(), &["get", &server.url]).await;
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "content"), "{ran:?}");
    assert_eq!(ran.waiting_lines().len(), 2);
    for gap in server.gaps() {
        assert!(gap >= Duration::from_secs(1), "asked again after {gap:?}");
    }
}

/// C4, F28
#[tokio::test]
async fn a_refused_post_is_sent_again_only_when_vouched_for() {
    let place = place();
    write(place.path(), "body", "the same bytes");
    let server = Server::start(&[503, 201], "made").await;
    let post = ["get", &server.url, "--body-file", "body", "--header", "X-Test: value"];
    let ran = run(place.path(), &post).await;
    assert_eq!(ran.code, Some(3));
    assert!(ran.err.contains("the request must not be sent again"), "{ran:?}");
    assert_eq!(server.seen().len(), 1);

    let server = Server::start(&[503, 201], "made").await;
    let post = ["get", &server.url, "--body-file", "body", "--header", "X-Test: value", "--vouch"];
    let ran = run(place.path(), &post).await;
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "made"));
    let request = (Method::POST, "value".to_owned(), "the same bytes".to_owned());
    assert_eq!(server.seen(), [request.clone(), request]);
}

/// H1, F30
#[tokio::test]
async fn retry_after_on_a_404_or_a_201_repeats_nothing() {
    for (status, code) in [(404, 3), (201, 0)] {
        let server = Server::start(&[status, 200], "said").await;
        let ran = run(place().path(), &["get", &server.url]).await;
        assert_eq!((ran.code, ran.out.as_str(), server.seen().len()), (Some(code), "said", 1), "{ran:?}");
    }
}

/// C2: 507 is repeated only where its body says that it passes.
#[tokio::test]
async fn a_507_needs_its_marker() {
    let unmarked = Server::start(&[507, 200], "{\"error\":\"full\"}").await;
    assert_eq!(run(place().path(), &["get", &unmarked.url]).await.code, Some(3));
    let marked = Server::start(&[507, 200], "{\"error\":\"full\",\"transient\":true}").await;
    let ran = run(place().path(), &["get", &marked.url, "--profile", "shakenfist"]).await;
    assert_eq!((ran.code, marked.seen().len()), (Some(0), 2), "{ran:?}");
}

/// Answers each connection with a list of pieces, each sent after a pause; returns its URL.
async fn pieces(answers: Vec<Vec<(Duration, String)>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    tokio::spawn(async move {
        for answer in answers {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await.expect("a request");
            for (pause, piece) in answer {
                tokio::time::sleep(pause).await;
                stream.write_all(piece.as_bytes()).await.expect("it reads");
            }
        }
    });
    url
}

/// C2: a marker that comes too late promises nothing, and the answer is handed on whole all the same.
#[tokio::test]
async fn a_marker_is_not_waited_for_for_ever() {
    let head = "HTTP/1.1 507 Full\r\nRetry-After: 1\r\nContent-Length: 18\r\n\r\n{";
    let refusal = vec![
        (Duration::ZERO, head.to_owned()),
        (Duration::from_millis(2_500), "\"transient\":true}".to_owned()),
    ];
    let ran = run(place().path(), &["get", &pieces(vec![refusal]).await]).await;
    assert_eq!((ran.code, ran.out.as_str()), (Some(3), r#"{"transient":true}"#), "{ran:?}");
}

/// A redirect within its origin is followed; one to another origin is an answer, and nobody there hears of the
/// request or its fields.
#[tokio::test]
async fn a_redirect_to_another_origin_is_not_followed() {
    let elsewhere = Server::start(&[200], "not for you").await;
    let redirect = |to: &str| {
        let answer = format!(
            "HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 5\r\nConnection: close\r\n\r\nthere"
        );
        vec![(Duration::ZERO, answer)]
    };
    let found = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nhere".to_owned();
    let url = pieces(vec![redirect("/other"), vec![(Duration::ZERO, found)]]).await;
    let ran = run(place().path(), &["get", &url]).await;
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "here"), "{ran:?}");

    let url = pieces(vec![redirect(&elsewhere.url)]).await;
    let ran = run(place().path(), &["get", &url, "--header", "Authorization: MSign secret"]).await;
    assert_eq!(ran.out, "there", "{ran:?}");
    assert_eq!(elsewhere.seen(), []);
}

/// F01: a wait that the deadline does not cover is not begun.
#[tokio::test]
async fn a_deadline_stops_before_a_wait_that_would_pass_it() {
    let server = Server::start(&[503], "busy").await;
    let ran = run(place().path(), &["get", &server.url, "--deadline", "0.5"]).await;
    assert_eq!((ran.code, ran.out.as_str(), server.seen().len()), (Some(3), "busy", 1));
    assert!(ran.err.contains("the deadline would pass"), "{ran:?}");
}

#[tokio::test]
async fn an_answer_goes_to_a_file_once_it_is_whole() {
    let server = Server::start(&[200], "content").await;
    let place = place();
    let ran = run(place.path(), &["get", &server.url, "-o", "out"]).await;
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{ran:?}");
    assert_eq!(std::fs::read_to_string(place.path().join("out")).expect("written"), "content");
    assert_eq!(names(place.path()), ["out"]);
    assert_eq!(run(place.path(), &["get", &server.url, "-o", "/dev/null"]).await.code, Some(0));
    assert!(!std::fs::metadata("/dev/null").expect("a device").is_file());
}

/// F24: the head of a refusal counts whatever becomes of its body.
#[tokio::test]
async fn a_refusal_whose_body_breaks_off_keeps_its_hint() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    let serving = tokio::spawn(async move {
        let mut arrivals = Vec::new();
        for answer in [
            "HTTP/1.1 503 Busy\r\nRetry-After: 1\r\nContent-Length: 1000\r\n\r\nonly twenty bytes...",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok",
        ] {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            arrivals.push(SystemClock.monotonic());
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await.expect("a request");
            stream.write_all(answer.as_bytes()).await.expect("it reads");
        }
        arrivals[1].since(arrivals[0])
    });
    let ran = run(place().path(), &["get", &url]).await;
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "ok"), "{ran:?}");
    let gap = serving.await.expect("no panics");
    assert!(gap >= Duration::from_secs(1), "asked again after {gap:?}");
}

#[tokio::test]
async fn a_cut_off_answer_is_told_and_no_file_is_left() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a connection");
        let mut request = [0; 4096];
        let _ = stream.read(&mut request).await.expect("a request");
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nshort").await.expect("it reads");
    });
    let place = place();
    let ran = run(place.path(), &["get", &url, "-o", "out"]).await;
    assert_eq!(ran.code, Some(3));
    assert!(ran.err.contains("cut off"), "{ran:?}");
    assert_eq!(names(place.path()), [""; 0]);
}

#[tokio::test]
async fn what_cannot_be_sent_is_exit_1_before_anything_is_sent() {
    let server = Server::start(&[200], "").await;
    let url = server.url.as_str();
    for arguments in [
        &["get", "not-a-url"][..],
        &["get", "file:///etc/passwd"],
        &["get", url, "--profile", "eager"],
        &["get", url, "--deadline", "soon"],
        &["get", url, "--deadline", "-1"],
        &["get", url, "--header", "no colon"],
        &["get", url, "--header", "bad name: x"],
        &["get", url, "--method", "NO WAY"],
        &["get", url, "--body-file", "missing"],
    ] {
        let ran = run(place().path(), arguments).await;
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{arguments:?}: {ran:?}");
        assert!(ran.err.starts_with("❌ "), "{arguments:?}: {ran:?}");
    }
    assert_eq!(server.seen(), []);
}

/// The fields that say how a request is sent are the client's: one by hand would contradict what is sent.
#[tokio::test]
async fn a_field_that_says_how_the_request_is_sent_is_refused_by_name() {
    let server = Server::start(&[200], "").await;
    for name in ["Content-Length", "host", "Transfer-Encoding", "Connection", "TE", "Upgrade"] {
        let ran = run(place().path(), &["get", &server.url, "--header", &format!("{name}: 7")]).await;
        assert_eq!(ran.code, Some(1), "{ran:?}");
        let expected = format!("❌ the field {} says how the request is sent", name.to_lowercase());
        assert!(ran.err.starts_with(&expected), "{ran:?}");
    }
    assert_eq!(server.seen(), []);
}

/// B1: a deadline of 0 is one whole attempt, and no wait.
#[tokio::test]
async fn a_deadline_of_0_is_one_attempt() {
    let server = Server::start(&[503, 200], "busy").await;
    let ran = run(place().path(), &["get", &server.url, "--deadline", "0"]).await;
    assert_eq!((ran.code, ran.out.as_str(), server.seen().len()), (Some(3), "busy", 1), "{ran:?}");
}

#[tokio::test]
async fn a_port_where_nobody_listens_is_exit_3() {
    let closed =
        TcpListener::bind("127.0.0.1:0").await.expect("a free port").local_addr().expect("an address");
    let ran = run(place().path(), &["get", &format!("http://{closed}/"), "--deadline", "0"]).await;
    assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""), "{ran:?}");
    assert!(ran.err.contains("cannot connect"), "{ran:?}");
}

#[tokio::test]
async fn an_answer_that_cannot_be_written_is_exit_3() {
    let server = Server::start(&[200], "content").await;
    let ran = run(place().path(), &["get", &server.url, "-o", "nowhere/out"]).await;
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.err.starts_with("❌ nowhere/out cannot be written: "), "{ran:?}");
}
