//! The engine over real sockets, talked to by hand.

mod common;

use std::time::{Duration, Instant};

use common::case;
use refusal_script::{Case, Event, Server, Trace, VerdictKind, judge};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const GET: &[u8] = b"GET /t HTTP/1.1\r\nHost: localhost\r\n\r\n";
const ANY: &str = r#"[{"that": "attempts", "max": 9}]"#;

async fn connect(server: &Server) -> TcpStream {
    TcpStream::connect(server.address()).await.unwrap()
}

/// Reads exactly what is expected, or what came instead within two seconds.
async fn expect(socket: &mut TcpStream, expected: &[u8]) {
    let mut got = vec![0; expected.len()];
    let mut length = 0;
    while length < got.len() {
        let read = tokio::time::timeout(Duration::from_secs(2), socket.read(&mut got[length..])).await;
        match read {
            Ok(Ok(more)) if more > 0 => length += more,
            other => panic!("{other:?} after {:?}", String::from_utf8_lossy(&got[..length])),
        }
    }
    assert_eq!(String::from_utf8_lossy(&got), String::from_utf8_lossy(expected));
}

async fn expect_end(socket: &mut TcpStream) {
    let mut rest = Vec::new();
    let read = tokio::time::timeout(Duration::from_secs(2), socket.read_to_end(&mut rest)).await;
    assert_eq!(read.expect("an end").expect("an orderly end"), 0, "{rest:?}");
}

async fn expect_reset(socket: &mut TcpStream) {
    let read = tokio::time::timeout(Duration::from_secs(2), socket.read(&mut [0; 64])).await;
    assert_eq!(read.expect("a reset").unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
}

async fn start(script: &str) -> (Case, Server) {
    let case = case(script, ANY, "");
    (case.clone(), Server::start(case).await.unwrap())
}

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nok\n";

/// Field-name case, a value with bytes above 127, repeated lines: nothing is tidied up.
#[tokio::test]
async fn heads_are_written_to_the_byte() {
    let script = r#"[{"status": 503, "headers": [["rEtRy-aFtEr", "2"], ["Retry-After", "²"]], "body": "no"},
                     {"raw_head": "HTTP/1.1 503\r\nRetry-After:\t 2 \r\nContent-Length: 0\r\n\r\n"}]"#;
    let (_, server) = start(script).await;
    let mut socket = connect(&server).await;
    socket.write_all(GET).await.unwrap();
    expect(&mut socket, b"HTTP/1.1 503 Service Unavailable\r\nrEtRy-aFtEr: 2\r\nRetry-After: \xb2\r\nContent-Length: 2\r\n\r\nno").await;
    socket.write_all(GET).await.unwrap();
    expect(&mut socket, b"HTTP/1.1 503\r\nRetry-After:\t 2 \r\nContent-Length: 0\r\n\r\n").await;
    socket.write_all(GET).await.unwrap();
    expect(&mut socket, OK).await;
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order_and_stamped_as_they_came() {
    let script = r#"[{"status": 503, "body": "slow", "trickle": {"chunk_bytes": 1, "every_ms": 50}}]"#;
    let (_, server) = start(script).await;
    let mut socket = connect(&server).await;
    socket.write_all(&[GET, GET].concat()).await.unwrap();
    expect(&mut socket, b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nslow").await;
    expect(&mut socket, OK).await;
    let stamps = arrivals(&server.stop().await);
    assert_eq!(stamps.len(), 2);
    assert!(stamps[1] - stamps[0] < 100_000, "the second came with the first, {stamps:?}");
}

fn arrivals(trace: &Trace) -> Vec<u64> {
    let stamp = |event: &Event| if let Event::Arrival { at_us, .. } = event { Some(*at_us) } else { None };
    trace.events.iter().filter_map(stamp).collect()
}

#[tokio::test]
async fn a_closed_connection_ends_in_an_orderly_way_with_the_body_cut() {
    let script = r#"[{"status": 503, "headers": [["Content-Length", "1000"]], "body": "twenty", "connection": "close"}]"#;
    let (_, server) = start(script).await;
    let mut socket = connect(&server).await;
    socket.write_all(GET).await.unwrap();
    expect(
        &mut socket,
        b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 1000\r\nConnection: close\r\n\r\ntwenty",
    )
    .await;
    expect_end(&mut socket).await;
}

#[tokio::test]
async fn no_answer_at_all_is_a_connection_that_ends() {
    let (_, server) = start(r#"[{"raw_head": "", "connection": "close"}]"#).await;
    let mut socket = connect(&server).await;
    socket.write_all(GET).await.unwrap();
    expect_end(&mut socket).await;
}

#[tokio::test]
async fn a_reset_comes_after_the_head_has_arrived() {
    let script = r#"[{"status": 503, "headers": [["Retry-After", "2"]], "body": "never sent", "connection": "reset_after_head"}]"#;
    let (_, server) = start(script).await;
    let mut socket = connect(&server).await;
    socket.write_all(GET).await.unwrap();
    expect(&mut socket, b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 2\r\nContent-Length: 10\r\n\r\n")
        .await;
    expect_reset(&mut socket).await;
}

#[tokio::test]
async fn a_reset_in_the_body_lets_half_of_it_through() {
    let (_, server) = start(r#"[{"status": 503, "body": "half gone", "connection": "reset_in_body"}]"#).await;
    let mut socket = connect(&server).await;
    socket.write_all(GET).await.unwrap();
    expect(&mut socket, b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 9\r\n\r\nhalf").await;
    expect_reset(&mut socket).await;
}

/// The hint counts from the final head (T4), so the stamp is taken after the interim response.
#[tokio::test]
async fn interim_responses_come_first_and_are_not_the_answer() {
    let script = r#"[{"status": 503, "interim": [{"status": 103, "headers": [["Link", "</a>"]], "then_wait_ms": 100}]}]"#;
    let (_, server) = start(script).await;
    let mut socket = connect(&server).await;
    socket.write_all(GET).await.unwrap();
    expect(&mut socket, b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 503 ").await;
    let trace = server.stop().await;
    let answered = trace.events.iter().find_map(|event| match event {
        Event::Answer { at_us, .. } => Some(*at_us),
        _ => None,
    });
    assert!(answered.unwrap() - arrivals(&trace)[0] >= 100_000);
}

#[tokio::test]
async fn a_slow_body_takes_its_time() {
    let script = r#"[{"status": 503, "body": "abcd", "trickle": {"chunk_bytes": 1, "every_ms": 40}}]"#;
    let (_, server) = start(script).await;
    let mut socket = connect(&server).await;
    #[expect(clippy::disallowed_methods, reason = "a test of real time")]
    let begun = Instant::now();
    socket.write_all(GET).await.unwrap();
    expect(&mut socket, b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nabcd").await;
    #[expect(clippy::disallowed_methods, reason = "a test of real time")]
    let took = begun.elapsed();
    assert!(took >= Duration::from_millis(120), "{took:?}");
}

#[tokio::test]
async fn an_abandoned_body_disturbs_nobody_else() {
    let script =
        r#"[{"status": 503, "body": {"bytes": 1000000}, "trickle": {"chunk_bytes": 1000, "every_ms": 5}}]"#;
    let (_, server) = start(script).await;
    let mut abandoned = connect(&server).await;
    abandoned.write_all(GET).await.unwrap();
    expect(&mut abandoned, b"HTTP/1.1 503 ").await;
    drop(abandoned);
    let mut socket = connect(&server).await;
    socket.write_all(GET).await.unwrap();
    expect(&mut socket, OK).await;
}

#[tokio::test]
async fn many_connections_share_one_script() {
    let (_, server) = start(r#"[{"status": 503, "repeat": 20}]"#).await;
    let mut sockets = Vec::new();
    for _ in 0..30 {
        let mut socket = connect(&server).await;
        socket.write_all(GET).await.unwrap();
        sockets.push(socket);
    }
    let mut refused = 0;
    for socket in &mut sockets {
        let mut status = [0; 13];
        socket.read_exact(&mut status).await.unwrap();
        refused += usize::from(&status == b"HTTP/1.1 503 ");
    }
    assert_eq!(refused, 20);
    assert_eq!(arrivals(&server.stop().await).len(), 30);
}

#[tokio::test]
async fn other_paths_are_kept_and_never_counted() {
    let (_, server) = start(r#"[{"status": 503}]"#).await;
    let mut socket = connect(&server).await;
    socket.write_all(b"GET /favicon.ico HTTP/1.1\r\n\r\n").await.unwrap();
    expect(&mut socket, b"HTTP/1.1 404 ").await;
    assert_eq!(server.progress().borrow().attempts, 0);
    let trace = server.stop().await;
    assert!(
        trace
            .events
            .iter()
            .any(|event| matches!(event, Event::Other { target, .. } if target == "/favicon.ico"))
    );
}

#[tokio::test]
async fn bodies_are_hashed_with_a_length_and_in_chunks_alike() {
    let more = r#", "needs": ["post", "body"], "request": {"method": "PUT", "body_bytes": 5}"#;
    let case =
        case(r#"[{"status": 503}]"#, r#"[{"that": "attempts", "min": 2}, {"that": "same_request"}]"#, more);
    let server = Server::start(case.clone()).await.unwrap();
    let mut socket = connect(&server).await;
    socket.write_all(b"PUT /t HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello").await.unwrap();
    expect(&mut socket, b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n").await;
    socket.write_all(b"PUT /t HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nT: 1\r\n\r\n").await.unwrap();
    expect(&mut socket, OK).await;
    let verdict = judge(&case, &server.stop().await);
    assert_eq!(verdict.kind, VerdictKind::Pass, "{verdict}");
}

#[tokio::test]
async fn a_client_that_asks_first_is_told_to_go_on() {
    let (_, server) = start(r#"[{"status": 503}]"#).await;
    let mut socket = connect(&server).await;
    socket.write_all(b"PUT /t HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n").await.unwrap();
    expect(&mut socket, b"HTTP/1.1 100 Continue\r\n\r\n").await;
    socket.write_all(b"ab").await.unwrap();
    expect(&mut socket, b"HTTP/1.1 503 ").await;
}

#[tokio::test]
async fn an_early_refusal_does_not_wait_for_the_body_and_drains_it() {
    let (_, server) = start(r#"[{"status": 413, "before_body": true}]"#).await;
    let mut socket = connect(&server).await;
    socket.write_all(b"PUT /t HTTP/1.1\r\nContent-Length: 2\r\n\r\n").await.unwrap();
    expect(&mut socket, b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n").await;
    socket.write_all(b"ab").await.unwrap();
    socket.write_all(GET).await.unwrap();
    expect(&mut socket, OK).await;
}

#[tokio::test]
async fn what_is_no_request_is_refused_and_named() {
    for (bytes, problem) in [
        ("nonsense\r\n\r\n", "expected a request line, got \"nonsense\""),
        ("GET /t HTTP/3\r\n\r\n", "expected HTTP/1.1 or HTTP/1.0, got \"HTTP/3\""),
        (
            "GET /t HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "expected one Content-Length, got several",
        ),
        (
            "GET /t HTTP/1.1\r\nContent-Length: +1\r\n\r\n",
            "expected a Content-Length of at most 67108864, got \"+1\"",
        ),
        (
            "GET /t HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "expected one of Content-Length and Transfer-Encoding, got both",
        ),
    ] {
        let (_, server) = start(r#"[{"status": 503}]"#).await;
        let mut socket = connect(&server).await;
        socket.write_all(bytes.as_bytes()).await.unwrap();
        expect(&mut socket, b"HTTP/1.1 400 ").await;
        let trace = server.stop().await;
        let named =
            |event: &Event| matches!(event, Event::Rejected { problem: named, .. } if named == problem);
        assert!(trace.events.iter().any(named), "{problem}: {trace:?}");
    }
}

#[tokio::test]
async fn a_head_without_end_is_cut_off() {
    let (_, server) = start(r#"[{"status": 503}]"#).await;
    let mut socket = connect(&server).await;
    socket.write_all(b"GET /t HTTP/1.1\r\nA: ").await.unwrap();
    // The server stops reading in the middle of this.
    let _ = socket.write_all(&vec![b'a'; 100_000]).await;
    expect(&mut socket, b"HTTP/1.1 400 ").await;
    assert_eq!(server.progress().borrow().attempts, 0);
}

#[tokio::test]
async fn a_tight_loop_is_answered_and_recorded_only_so_far() {
    let case = case(r#"[{"status": 503}]"#, ANY, r#", "then": "repeat_last""#);
    let server = Server::start(case.clone()).await.unwrap();
    let mut socket = connect(&server).await;
    for _ in 0..1_010 {
        socket.write_all(GET).await.unwrap();
        expect(&mut socket, b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n").await;
    }
    assert!(server.progress().borrow().flooded);
    let trace = server.stop().await;
    assert_eq!(arrivals(&trace).len(), 1_000);
    let verdict = judge(&case, &trace);
    assert!(verdict.sentence.starts_with("sent at least 1000 requests in "), "{verdict}");
}

/// A date is computed when the answer is written, in the form that the case names.
#[tokio::test]
async fn dates_are_those_of_the_moment_of_writing() {
    let script = r#"[{"status": 503, "headers": [["Date", {"offset_s": 0}],
        ["Retry-After", {"offset_s": 4, "form": "asctime"}]], "promise": {"not_before_ms": 4000, "precision": "date"}}]"#;
    let case = case(script, r#"[{"that": "not_before"}]"#, r#", "needs": ["shared_clock"]"#);
    let server = Server::start(case.clone()).await.unwrap();
    let mut socket = connect(&server).await;
    socket.write_all(GET).await.unwrap();
    expect(&mut socket, b"HTTP/1.1 503 Service Unavailable\r\nDate: ").await;
    let trace = server.stop().await;
    let Some(Event::Answer { head, unix_ms, .. }) =
        trace.events.iter().find(|event| matches!(event, Event::Answer { .. }))
    else {
        panic!("no answer")
    };
    let value = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    let clock_at = |ms: i64| {
        let second = ms.div_euclid(1_000).rem_euclid(86_400);
        format!(" {:02}:{:02}:{:02} ", second / 3_600, second / 60 % 60, second % 60)
    };
    let (date, retry_after) = (value("Date: "), value("Retry-After: "));
    assert!(date.len() == 29 && date.contains(&clock_at(*unix_ms)), "{date}, written at {unix_ms}");
    let four_later = clock_at(unix_ms + 4_000);
    assert!(
        retry_after.len() == 24 && retry_after.contains(&four_later),
        "{retry_after}, written at {unix_ms}"
    );
}

/// The judge counts from the final head, and so do the dates of the script.
#[tokio::test]
async fn an_interim_response_is_not_the_first_answer() {
    let script = r#"[{"status": 503, "interim": [{"status": 103, "then_wait_ms": 1000}], "headers": [
        ["Date", {"offset_s": 0}], ["Retry-After", {"offset_s": 0, "base": "first_answer"}]]}]"#;
    let (_, server) = start(script).await;
    let mut socket = connect(&server).await;
    socket.write_all(GET).await.unwrap();
    expect(&mut socket, b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 503 ").await;
    let trace = server.stop().await;
    let head = trace.events.iter().find_map(|event| match event {
        Event::Answer { head, .. } => Some(head.as_str()),
        _ => None,
    });
    let dates: Vec<&str> =
        head.unwrap().lines().filter_map(|line| line.split_once(": ")).map(|(_, date)| date).collect();
    assert_eq!(dates[0], dates[1], "{head:?}");
}

/// To HEAD the answer has the head that GET would get, and no body is written.
#[tokio::test]
async fn no_body_is_written_to_head_and_none_is_recorded() {
    let (_, server) = start(r#"[{"status": 503, "body": "no"}]"#).await;
    let mut socket = connect(&server).await;
    socket.write_all(b"HEAD /t HTTP/1.1\r\n\r\n").await.unwrap();
    expect(&mut socket, b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 2\r\n\r\n").await;
    socket.write_all(b"HEAD /t HTTP/1.1\r\nConnection: close\r\n\r\n").await.unwrap();
    expect(&mut socket, b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\n").await;
    expect_end(&mut socket).await;
    let written = |event: &Event| match event {
        Event::Answered { body_bytes, .. } => Some(*body_bytes),
        _ => None,
    };
    let trace = server.stop().await;
    assert_eq!(trace.events.iter().filter_map(written).collect::<Vec<_>>(), [0, 0]);
}

#[tokio::test]
async fn a_stopped_server_lets_its_connections_go() {
    let (_, server) = start(r#"[{"status": 503}]"#).await;
    let mut socket = connect(&server).await;
    socket.write_all(GET).await.unwrap();
    expect(&mut socket, b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n").await;
    let address = server.address();
    server.stop().await;
    let mut rest = Vec::new();
    let read = tokio::time::timeout(Duration::from_secs(2), socket.read_to_end(&mut rest)).await;
    assert!(read.is_ok(), "the connection is still open");
    assert!(TcpStream::connect(address).await.is_err());
}
