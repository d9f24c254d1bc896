//! What each client does where one scripted server is not enough to see it.

use std::process::ExitCode;
use std::time::Duration;

use crate::clients::{Answer, Client, Limits, Payload, Peer, Sending};
use crate::clock::now;
use crate::responder::{Arrival, Responder};
use crate::versions;

/// Prints every fact of every peer, as tables in Markdown.
pub async fn print() -> ExitCode {
    let peers: Vec<_> = Peer::ALL.into_iter().map(Subject::new).collect();
    let running: Vec<_> = peers.into_iter().map(|peer| (peer.peer, tokio::spawn(peer.facts()))).collect();
    let mut columns = Vec::new();
    for (peer, facts) in running {
        columns.push((peer, facts.await.expect("nothing here panics").to_vec()));
    }
    // Apart from the rest, which it would slow down.
    let grown = Peer::ALL.map(|peer| tokio::spawn(memory(peer)));
    for ((_, facts), grown) in columns.iter_mut().zip(grown) {
        facts.push(grown.await.expect("nothing here panics"));
    }
    for (row, question) in QUESTIONS.into_iter().enumerate() {
        println!("**{question}**\n");
        for (peer, facts) in &columns {
            println!("- {}: {}", versions::of(*peer), facts[row]);
        }
        println!();
    }
    ExitCode::SUCCESS
}

const QUESTIONS: [&str; 8] = [
    "503, `Retry-After: 3600`; watched for 15 s",
    "429, `Retry-After: 8` for ever; the whole call is given 20 s, where the client can be told",
    "503, `Retry-After: 1`, to a PUT whose body is a stream",
    "429, `Retry-After: 3`; 300 ms later another request of the same client to the same URL",
    "the same, after an earlier refusal of that URL was waited out and answered",
    "/a redirects to /b, and that refuses, `Retry-After: 3`; 300 ms later another request to /a",
    "429, `Retry-After: 6`, to a request for /a; 2 s later a request of the same client for /b",
    "growth of memory by 4,000 refused URLs of 8,000 bytes",
];

/// A peer and its clients, built before anything is measured; each fact has its own.
struct Subject {
    peer: Peer,
    clients: [Client; 6],
    /// Its calls are given 20 s, where the crate has a word for that.
    limited: Client,
}

impl Subject {
    fn new(peer: Peer) -> Self {
        let limits = Limits { deadline: Some(Duration::from_secs(20)), cap: None };
        let clients = std::array::from_fn(|_| peer.client(Limits::default()));
        Self { peer, clients, limited: peer.client(limits) }
    }

    async fn facts(self) -> [String; 7] {
        let [hour, stream, shared, again, redirect, elsewhere] = &self.clients;
        let facts = tokio::join!(
            self.an_hour(hour),
            self.a_budget(),
            self.a_stream(stream),
            self.another_request(shared),
            self.another_after_an_old_window(again),
            self.behind_a_redirect(redirect),
            self.another_url(elsewhere),
        );
        facts.into()
    }

    async fn an_hour(&self, client: &Client) -> String {
        let server = Responder::start(|_, _| refuse(503, 3_600)).await;
        watch(&server, send(client, "GET", &format!("{}/a", server.url)), 15).await
    }

    async fn a_budget(&self) -> String {
        let server = Responder::start(|_, _| refuse(429, 8)).await;
        watch(&server, send(&self.limited, "GET", &format!("{}/a", server.url)), 45).await
    }

    async fn a_stream(&self, client: &Client) -> String {
        if self.peer == Peer::Backon {
            return "its function makes a new one each time".to_owned();
        }
        let server = Responder::start(|_, _| refuse(503, 1)).await;
        let body = Payload::Stream(bytes::Bytes::from_static(b"a stream"));
        let sending = Sending { method: "PUT".to_owned(), url: format!("{}/a", server.url), body };
        watch(&server, tokio::spawn(client(sending)), 15).await
    }

    async fn another_request(&self, client: &Client) -> String {
        let server = Responder::start(|line, earlier| match (line, earlier) {
            ("GET /a", 0) => refuse(429, 3),
            _ => fine(),
        })
        .await;
        second_request(client, &server, "GET /a").await
    }

    async fn another_after_an_old_window(&self, client: &Client) -> String {
        let server = Responder::start(|line, earlier| match (line, earlier) {
            ("PUT /a", 0) => refuse(429, 1),
            ("GET /a", 0) => refuse(429, 3),
            _ => fine(),
        })
        .await;
        // Where it fails, it was sent all the same.
        let _ = send(client, "PUT", &format!("{}/a", server.url)).await;
        tokio::time::sleep(Duration::from_millis(1_200)).await;
        second_request(client, &server, "GET /a").await
    }

    async fn behind_a_redirect(&self, client: &Client) -> String {
        if self.peer == Peer::Layer {
            return "follows none".to_owned();
        }
        let server = Responder::start(|line, earlier| match (line, earlier) {
            ("GET /a", _) => (302, "Location: /b\r\n".to_owned()),
            ("GET /b", 0) => refuse(503, 3),
            _ => fine(),
        })
        .await;
        second_request(client, &server, "GET /b").await
    }

    async fn another_url(&self, client: &Client) -> String {
        let server = Responder::start(|line, earlier| match (line, earlier) {
            ("GET /a", 0) => refuse(429, 6),
            _ => fine(),
        })
        .await;
        let first = send(client, "GET", &format!("{}/a", server.url));
        server.reached("GET /a").await;
        // Time enough to see the answer, and to begin to wait.
        tokio::time::sleep(Duration::from_millis(2_000)).await;
        let started = now();
        let second = send(client, "GET", &format!("{}/b", server.url));
        let _ = second.await;
        let took = now().duration_since(started).as_secs_f64();
        let _ = first.await;
        if took < 1.0 { "answered at once".to_owned() } else { format!("answered after {took:.1} s") }
    }
}

/// GET of `/a` leads to a refusal of the request `refused`; soon after, HEAD of `/a`: how long is it held?
async fn second_request(client: &Client, server: &Responder, refused: &str) -> String {
    let url = format!("{}/a", server.url);
    let first = send(client, "GET", &url);
    server.reached(refused).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let second = send(client, "HEAD", &url);
    let _ = (first.await, second.await);
    held(server.first(refused), server.first("HEAD /a"))
}

/// In a process of its own, whose memory is nobody else's.
async fn memory(peer: Peer) -> String {
    let program = std::env::current_exe().expect("a running program has a file");
    let measure = move || std::process::Command::new(program).args(["memory", peer.name()]).output();
    match tokio::task::spawn_blocking(measure).await {
        Ok(Ok(output)) => format!("{} MiB", String::from_utf8_lossy(&output.stdout).trim()),
        Ok(Err(error)) => format!("not measured: {error}"),
        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
    }
}

fn refuse(status: u16, seconds: u64) -> (u16, String) {
    (status, format!("Retry-After: {seconds}\r\n"))
}

fn fine() -> (u16, String) {
    (200, String::new())
}

type Call = tokio::task::JoinHandle<Result<Answer, String>>;

fn send(client: &Client, method: &str, url: &str) -> Call {
    let sending = Sending { method: method.to_owned(), url: url.to_owned(), body: Payload::None };
    tokio::spawn(client(sending))
}

/// What the caller is left with, after how long and how many requests.
async fn watch(server: &Responder, call: Call, seconds: u64) -> String {
    let ended = tokio::time::timeout(Duration::from_secs(seconds), call).await;
    let end = now();
    let arrivals = server.arrivals();
    let took = arrivals.first().map_or(0.0, |first| end.duration_since(first.at).as_secs_f64());
    let instants: Vec<String> = arrivals
        .iter()
        .map(|arrival| format!("{:.0}", arrival.at.duration_since(arrivals[0].at).as_secs_f64()))
        .collect();
    let requests = match instants.len() {
        0 => "no request".to_owned(),
        1 => "one request".to_owned(),
        _ => format!("requests at {} s", instants.join(", ")),
    };
    match ended {
        Err(_) => format!("{requests}; still waiting"),
        Ok(Err(panic)) => format!("{requests}; {panic}"),
        Ok(Ok(Err(error))) => format!("{requests}; after {took:.0} s an error: {error}"),
        Ok(Ok(Ok(answer))) => {
            let mut kept = vec![format!("status {}", answer.status)];
            kept.extend(answer.retry_after.map(|_| "field".to_owned()));
            kept.extend(answer.body.filter(|body| body == "later").map(|_| "body".to_owned()));
            kept.extend(answer.reason.map(|reason| format!("reason `{reason}`")));
            format!("{requests}; after {took:.0} s {}", kept.join(", "))
        }
    }
}

/// How long after a refusal the other request came.
fn held(refused: Option<Arrival>, other: Option<Arrival>) -> String {
    match (refused, other) {
        (Some(refused), Some(other)) => {
            let after = other.at.saturating_duration_since(refused.at).as_secs_f64();
            if after < 1.0 { "sent at once".to_owned() } else { format!("held for {after:.1} s") }
        }
        _ => "never sent".to_owned(),
    }
}
