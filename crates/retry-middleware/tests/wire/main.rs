//! The faces on real sockets, against a responder that counts: what is sent, and never before when.

mod faces;
mod responder;

use std::time::Duration;

use faces::{Asks, Face, Reqwest, Tower};
use responder::{Reply, Responder};
use retry_core::{Jitter, OverBudget, Policy, PolicyBuilder, Reason, profiles};
use retry_middleware::{Clock, SystemClock};

/// Generous: a machine that is busy with something else must not fail a test.
const SLACK: Duration = Duration::from_secs(5);

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// `alkhttp` without jitter, changed.
fn alkhttp(change: impl FnOnce(PolicyBuilder) -> PolicyBuilder) -> Policy {
    change(profiles::ALKHTTP.to_builder().jitter(Jitter::NONE)).build().unwrap()
}

/// `recommended` without jitter and with a fast backoff, changed.
fn recommended(change: impl FnOnce(PolicyBuilder) -> PolicyBuilder) -> Policy {
    let backoff = Some(retry_core::Schedule::Constant { millis: 10 });
    let quick = profiles::RECOMMENDED.to_builder().jitter(Jitter::NONE).schedule(backoff).floor(millis(10));
    change(quick).build().unwrap()
}

/// Each case, through both faces.
macro_rules! through_both_faces {
    ($($(#[$note:meta])* async fn $case:ident<F: Face>() $body:block)+) => {
        mod cases {
            use super::*;
            $(pub(crate) async fn $case<F: Face>() $body)+
        }
        mod reqwest {
            $($(#[$note])* #[tokio::test] async fn $case() { super::cases::$case::<super::Reqwest>().await; })+
        }
        mod tower {
            $($(#[$note])* #[tokio::test] async fn $case() { super::cases::$case::<super::Tower>().await; })+
        }
    };
}

through_both_faces! {
    /// B4, B6, E2, F16, F37: a storm of refusals, with another retry layer around, ends with the budget.
    async fn another_retry_layer_cannot_extend_the_call<F: Face>() {
        let server = Responder::start(|_, _| Reply::refuse(429, 1)).await;
        let client = F::new(alkhttp(|policy| policy.budget(millis(2_500)).ceiling(seconds(1))));
        let started = SystemClock.monotonic();
        let answer = client.send_stubbornly(&server.url("/a")).await.unwrap();
        let took = SystemClock.monotonic().since(started);
        assert_eq!(answer.status, 429);
        assert!(took >= millis(2_500), "{took:?}");
        assert!(took < millis(2_500) + SLACK, "{took:?}");
        let first = server.arrivals()[0].at;
        let inside = server.arrivals().iter().filter(|arrival| arrival.at.since(first) < millis(2_400)).count();
        assert!(inside <= 4, "{inside} attempts before the budget was spent");
    }

    /// E2, F16: what comes back by another retry layer is held until the instant first told, and neither by
    /// less nor by what its own refusal recorded for others.
    async fn a_request_that_comes_back_keeps_the_instant_it_was_told<F: Face>() {
        let server = Responder::start(|earlier, _| if earlier == 0 { Reply::refuse(429, 30) } else { Reply::ok() }).await;
        let once = alkhttp(|policy| policy.ceiling(seconds(1)).budget(seconds(20)).max_attempts(Some(1)));
        let answer = F::new(once).send_stubbornly(&server.url("/a")).await.unwrap();
        assert_eq!((answer.status, answer.report.attempts, server.count()), (200, 2, 2));
        let gap = server.gaps()[0];
        assert!(gap >= seconds(1) && gap < seconds(1) + SLACK, "{gap:?}");
    }

    /// E5, E7, F18: another request honours the whole window, which one short budget does not shorten.
    async fn a_fresh_request_honours_a_recorded_window<F: Face>() {
        let server = Responder::start(|earlier, _| if earlier < 2 { Reply::refuse(429, 2) } else { Reply::ok() }).await;
        let client = F::new(alkhttp(|policy| policy.budget(millis(300))));
        let hasty = client.get(&server.url("/a")).await.unwrap();
        assert_eq!((hasty.status, hasty.report.reason()), (429, Some(Reason::BudgetExhausted)));
        assert_eq!(server.count(), 2);

        let patient = F::new(alkhttp(|policy| policy.budget(seconds(30))));
        let second = Responder::start(|earlier, _| if earlier == 0 { Reply::refuse(429, 2) } else { Reply::ok() }).await;
        let deadline = SystemClock.monotonic().after(millis(200));
        let asks = Asks { finish_by: Some(deadline), ..Asks::default() };
        let first = patient.send_asking("POST", &second.url("/a"), "x", asks).await.unwrap();
        assert_eq!((first.status, first.report.attempts), (429, 1));
        let refused = second.arrivals()[0].at;
        let answer = patient.get(&second.url("/a")).await.unwrap();
        assert_eq!((answer.status, second.count()), (200, 2));
        let waited = second.arrivals()[1].at.since(refused);
        assert!(waited >= seconds(2) && waited < seconds(2) + SLACK, "{waited:?}");
    }

    /// C1, B5: exactly as many attempts as it takes.
    async fn refusals_are_counted_exactly<F: Face>() {
        let client = F::new(alkhttp(|policy| policy));
        for statuses in [[429_u16, 429, 200], [500, 503, 200]] {
            let server = Responder::start(move |earlier, _| Reply::new(statuses[earlier], "", "")).await;
            let answer = client.get(&server.url("/a")).await.unwrap();
            assert_eq!((answer.status, answer.report.attempts, server.count()), (200, 3, 3));
            assert_eq!(answer.report.stop, None);
        }
        let server = Responder::start(|_, _| Reply::new(500, "", "")).await;
        let answer = client.send("POST", &server.url("/a")).await.unwrap();
        assert_eq!((answer.status, answer.report.reason(), server.count()), (500, Some(Reason::NotReplayable), 1));
    }

    /// E4, F17: throttle, wait past it, throttle again: the second window counts. No success comes between,
    /// which would clear the first.
    async fn a_window_that_has_passed_does_not_spoil_the_next<F: Face>() {
        let server = Responder::start(|earlier, _| if earlier < 2 { Reply::refuse(429, 1) } else { Reply::ok() }).await;
        let client = F::new(alkhttp(|policy| policy));
        for _ in 0..2 {
            assert_eq!(client.send("POST", &server.url("/a")).await.unwrap().status, 429);
            if server.count() == 1 {
                tokio::time::sleep(millis(1_100)).await;
            }
        }
        let answer = client.get(&server.url("/a")).await.unwrap();
        assert_eq!((answer.status, server.count()), (200, 3));
        let gaps = server.gaps();
        assert!(gaps[1] >= seconds(1), "{gaps:?}");
    }

    /// E6: an attempt that started after the last refusal and succeeds opens the gate for everybody.
    async fn a_newer_success_clears_a_window<F: Face>() {
        let server = Responder::start(|earlier, _| if earlier == 0 { Reply::refuse(429, 30) } else { Reply::ok() }).await;
        let client = F::new(alkhttp(|policy| policy.budget(seconds(2))));
        client.send("POST", &server.url("/a")).await.unwrap();
        let truncated = client.get(&server.url("/a")).await.unwrap();
        assert_eq!(truncated.status, 200);
        assert!(truncated.report.waited >= millis(1_999), "{:?}", truncated.report);
        let free = client.get(&server.url("/a")).await.unwrap();
        assert_eq!(free.status, 200);
        assert!(free.report.waited < seconds(1), "{:?}", free.report);
    }

    /// E7: what a request's own refusal recorded does not hold it; its own decision did already.
    async fn a_request_is_not_held_by_what_it_recorded_itself<F: Face>() {
        let server = Responder::start(|earlier, _| if earlier == 0 { Reply::refuse(429, 30) } else { Reply::ok() }).await;
        let client = F::new(alkhttp(|policy| policy.ceiling(seconds(1)).budget(seconds(20))));
        let answer = client.get(&server.url("/a")).await.unwrap();
        assert_eq!((answer.status, server.count()), (200, 2));
        let gap = server.gaps()[0];
        assert!(gap >= seconds(1) && gap < seconds(1) + SLACK, "{gap:?}");
    }

    /// E7: the window is asked before every attempt: what another request is told during a wait prolongs it.
    async fn a_window_that_opens_during_a_wait_holds_the_next_attempt<F: Face>() {
        let server = Responder::start(|_, arrival| match arrival.line.as_str() {
            "POST /a" => Reply::refuse(503, 3).slow(millis(600)),
            _ => Reply::refuse(503, 1),
        }).await;
        let client = F::new(recommended(|policy| policy.max_attempts(Some(2))));
        let (other, url) = (client.clone(), server.url("/a"));
        let slow = tokio::spawn(async move { other.send("POST", &url).await.unwrap().status });
        while server.count() == 0 {
            tokio::time::sleep(millis(5)).await;
        }
        let refused = client.get(&server.url("/a")).await.unwrap();
        assert_eq!((slow.await.unwrap(), refused.status, server.count()), (503, 503, 3));
        let gap = server.arrivals()[2].at.since(server.arrivals()[0].at);
        assert!(gap >= millis(3_600), "{gap:?}");
    }

    /// E7, E8, F21: told once, held all; and they do not come back in one instant.
    async fn a_crowd_is_held_and_comes_back_spread<F: Face>() {
        let server = Responder::start(|earlier, _| if earlier == 0 { Reply::refuse(429, 2) } else { Reply::ok() }).await;
        let client = F::new(profiles::RECOMMENDED);
        let url = server.url("/a");
        let told = client.send("POST", &url).await.unwrap();
        assert_eq!(told.status, 429);
        let refused = server.arrivals()[0].at;
        let crowd: Vec<_> = (0..50).map(|_| {
            let (client, url) = (client.clone(), url.clone());
            tokio::spawn(async move { client.get(&url).await.unwrap().status })
        }).collect();
        for member in crowd {
            assert_eq!(member.await.unwrap(), 200);
        }
        let back: Vec<_> = server.arrivals()[1..].iter().map(|arrival| arrival.at.since(refused)).collect();
        assert_eq!(back.len(), 50);
        assert!(back.iter().all(|after| *after >= seconds(2)), "{back:?}");
        let (first, last) = (back.iter().min().unwrap(), back.iter().max().unwrap());
        assert!(*last - *first > millis(100), "all within {:?}", *last - *first);
    }

    /// E7, F15: a window beyond the budget stops a request before it is sent, and says whose it is.
    async fn a_window_too_far_is_an_error_that_names_it<F: Face>() {
        let server = Responder::start(|_, _| Reply::refuse(503, 900)).await;
        let client = F::new(recommended(|policy| policy));
        let first = client.get(&server.url("/a?token=secret")).await.unwrap();
        assert_eq!((first.status, first.report.reason()), (503, Some(Reason::HintAboveCeiling)));
        let error = client.get(&server.url("/a")).await.unwrap_err();
        assert!(error.contains("/a answered 503 to another request"), "{error}");
        assert!(!error.contains("secret"), "{error}");
        assert_eq!(server.count(), 1);
        let elsewhere = client.get(&server.url("/b")).await.unwrap();
        assert_eq!((elsewhere.status, server.count()), (503, 2));
    }

    /// E6, F19: a request that was under way when the refusal came does not open the gate.
    async fn an_older_success_does_not_clear_a_window<F: Face>() {
        let server = Responder::start(|_, arrival| match arrival.line.as_str() {
            "GET /a" => Reply::new(200, "", "").slow(millis(700)),
            _ => Reply::refuse(429, 2),
        }).await;
        let client = F::new(recommended(|policy| policy.over_budget(OverBudget::GiveUp)));
        let (slow, url) = (client.clone(), server.url("/a"));
        let older = tokio::spawn(async move { slow.get(&url).await.unwrap().status });
        tokio::time::sleep(millis(200)).await;
        client.send("POST", &server.url("/a")).await.unwrap();
        let refused = server.arrivals()[1].at;
        assert_eq!(older.await.unwrap(), 200);
        client.get(&server.url("/a")).await.unwrap();
        let waited = server.arrivals()[2].at.since(refused);
        assert!(waited >= seconds(2), "{waited:?}");
    }

    /// C5, F32: the last refusal comes back whole.
    async fn a_stop_hands_on_the_servers_last_answer_whole<F: Face>() {
        let server = Responder::start(|earlier, _| Reply::new(503, "Retry-After: 1\r\n", &format!("refusal {earlier}"))).await;
        let client = F::new(recommended(|policy| policy.max_attempts(Some(2))));
        let answer = client.get(&server.url("/a")).await.unwrap();
        assert_eq!((answer.status, answer.report.reason()), (503, Some(Reason::AttemptsExhausted)));
        assert_eq!(answer.body.as_deref(), Ok(b"refusal 1".as_slice()));
        assert_eq!(answer.report.attempts, 2);
        assert!(answer.report.waited >= seconds(1), "{:?}", answer.report);
        assert_eq!(answer.report.asked().and_then(retry_core::Asked::millis), Some(1_000));
    }

    /// C2: a marked 507 is waited out, an unmarked one is not; either body is handed on from its first byte.
    async fn a_marker_in_the_body_is_read_and_kept<F: Face>() {
        let marked = r#"{"error":"x","status":507,"stage":"y","transient":true}"#;
        let server = Responder::start(move |earlier, _| match earlier {
            0 => Reply::new(507, "Retry-After: 1\r\n", marked),
            1 => Reply::ok(),
            2 => Reply::new(507, "Retry-After: 1\r\n", "[true]"),
            _ => Reply::new(507, "Retry-After: 1\r\n", marked),
        }).await;
        let client = F::new(recommended(|policy| policy.max_attempts(Some(2))));
        assert_eq!(client.get(&server.url("/a")).await.unwrap().status, 200);
        let unmarked = client.get(&server.url("/a")).await.unwrap();
        assert_eq!((unmarked.report.reason(), unmarked.body.as_deref()), (Some(Reason::Unmarked), Ok(b"[true]".as_slice())));
        let last = client.get(&server.url("/a")).await.unwrap();
        assert_eq!(last.body.as_deref(), Ok(marked.as_bytes()));
        assert_eq!(server.count(), 5);
    }

    /// C2: a marker is looked for in 16 KiB and for two seconds; what lies beyond promises nothing, and the
    /// body is handed on whole all the same.
    async fn a_marker_beyond_its_bounds_is_no_marker<F: Face>() {
        let padding = " ".repeat(17 * 1_024);
        let long = format!("{padding}{{\"transient\":true}}");
        let sent = long.clone();
        let server = Responder::start(move |earlier, _| match earlier {
            0 => Reply::new(507, "Retry-After: 1\r\n", &sent),
            _ => Reply::raw("HTTP/1.1 507 x\r\nRetry-After: 1\r\nContent-Length: 18\r\n\r\n{")
                .then(millis(2_500), "\"transient\":true}"),
        }).await;
        let client = F::new(recommended(|policy| policy));
        let large = client.get(&server.url("/a")).await.unwrap();
        assert_eq!((large.report.reason(), large.body.as_deref()), (Some(Reason::Unmarked), Ok(long.as_bytes())));
        let slow = client.get(&server.url("/b")).await.unwrap();
        assert_eq!(slow.report.reason(), Some(Reason::Unmarked));
        assert_eq!(slow.body.as_deref(), Ok(br#"{"transient":true}"#.as_slice()));
        assert_eq!(server.count(), 2);
    }

    /// C1, C3: who is not going to wait does not wait for a marker either.
    async fn a_policy_that_is_switched_off_looks_for_no_marker<F: Face>() {
        let server = Responder::start(|_, _| Reply::raw("HTTP/1.1 507 x\r\nRetry-After: 1\r\nContent-Length: 18\r\n\r\n{")
            .then(millis(2_500), "\"transient\":true}")).await;
        let client = F::new(profiles::SHAKENFIST);
        let answer = client.get(&server.url("/a")).await.unwrap();
        let stop = answer.report.stop.unwrap();
        assert_eq!((stop.reason, answer.body.as_deref()), (Reason::Disabled, Ok(br#"{"transient":true}"#.as_slice())));
        assert!(stop.elapsed < millis(1_900), "{stop}");
    }

    /// C6: an attempt that has its head is not lost, although its time is over before a marker is read.
    async fn a_head_keeps_its_hint_though_the_attempt_ends_in_its_body<F: Face>() {
        let server = Responder::start(|_, _| Reply::raw("HTTP/1.1 507 x\r\nRetry-After: 77\r\nContent-Length: 18\r\n\r\n{")
            .then(millis(1_500), "\"transient\":true}")).await;
        let client = F::new(recommended(|policy| policy.attempt_timeout(seconds(1))));
        let answer = client.get(&server.url("/a")).await.unwrap();
        let asked = answer.report.asked().and_then(|asked| asked.millis());
        assert_eq!((answer.status, answer.report.reason(), asked), (507, Some(Reason::Unmarked), Some(77_000)));
        assert_eq!(answer.body.as_deref(), Ok(br#"{"transient":true}"#.as_slice()));
        assert_eq!(server.count(), 1);
    }

    /// E6: a redirect ends its request, and does not say that the resource is able again.
    async fn a_redirect_clears_no_window<F: Face>() {
        let server = Responder::start(|earlier, _| match earlier {
            0 => Reply::refuse(429, 30),
            1 => Reply::new(304, "", ""),
            _ => Reply::ok(),
        }).await;
        let client = F::new(alkhttp(|policy| policy.budget(millis(300))));
        client.send("POST", &server.url("/a")).await.unwrap();
        for status in [304, 200] {
            let held = client.get(&server.url("/a")).await.unwrap();
            assert_eq!(held.status, status);
            assert!(held.report.waited >= millis(299), "{:?}", held.report);
        }
    }

    /// E11: what is refused for another reason than the state of the resource holds nobody else.
    async fn only_429_and_503_hold_others<F: Face>() {
        for status in [408, 413, 502, 504, 507] {
            let server = Responder::start(move |_, _| Reply::refuse(status, 900)).await;
            let client = F::new(recommended(|policy| policy));
            for count in 1..3 {
                assert_eq!(client.get(&server.url("/a")).await.unwrap().status, status);
                assert_eq!(server.count(), count, "{status}");
            }
        }
    }

    /// F24: the head decides; what is missing of the body changes nothing.
    async fn a_truncated_refusal_keeps_its_hint<F: Face>() {
        let server = Responder::start(|earlier, _| match earlier {
            0 => Reply::raw("HTTP/1.1 503 x\r\nRetry-After: 2\r\nContent-Length: 1000\r\n\r\ntwenty bytes of body").then_close(),
            _ => Reply::ok(),
        }).await;
        let client = F::new(recommended(|policy| policy));
        let answer = client.get(&server.url("/a")).await.unwrap();
        assert_eq!((answer.status, answer.report.attempts), (200, 2));
        assert!(server.gaps()[0] >= seconds(2), "{:?}", server.gaps());
    }

    /// F25, T4: the wait counts from the head, however the body trickles.
    async fn a_trickling_refusal_does_not_delay_the_wait<F: Face>() {
        let server = Responder::start(|earlier, _| match earlier {
            0 => {
                let head = Reply::raw("HTTP/1.1 503 x\r\nRetry-After: 2\r\nContent-Length: 60\r\n\r\n");
                (0..60).fold(head, |reply, _| reply.then(millis(500), "."))
            }
            _ => Reply::ok(),
        }).await;
        let client = F::new(recommended(|policy| policy));
        let answer = client.get(&server.url("/a")).await.unwrap();
        assert_eq!(answer.status, 200);
        let gap = server.gaps()[0];
        assert!(gap >= seconds(2) && gap < seconds(2) + SLACK, "{gap:?}");
    }

    /// B7, F27: a call that is dropped during its wait sends nothing more.
    async fn dropping_a_wait_sends_nothing_more<F: Face>() {
        let server = Responder::start(|earlier, _| if earlier == 0 { Reply::refuse(503, 1) } else { Reply::ok() }).await;
        let client = F::new(recommended(|policy| policy));
        let url = server.url("/a");
        let call = tokio::time::timeout(millis(400), client.get(&url));
        assert!(call.await.is_err());
        tokio::time::sleep(millis(1_000)).await;
        assert_eq!(server.count(), 1);
    }

    /// C4, F28, F29: bytes are replayed identically, and only where somebody vouches.
    async fn a_vouched_post_is_repeated_with_the_same_bytes<F: Face>() {
        let server = Responder::start(|earlier, _| if earlier == 0 { Reply::refuse(503, 1) } else { Reply::ok() }).await;
        let client = F::new(recommended(|policy| policy));
        let asks = Asks { vouched: true, ..Asks::default() };
        let answer = client.send_asking("POST", &server.url("/a"), "exactly this", asks).await.unwrap();
        assert_eq!((answer.status, server.count()), (200, 2));
        assert!(server.arrivals().iter().all(|arrival| arrival.body == b"exactly this"));
    }

    /// C6: an idempotent request is sent again after its connection broke, others are not.
    async fn a_lost_attempt_is_repeated_by_its_class<F: Face>() {
        let cut = |earlier: usize, _: &responder::Arrival| match earlier {
            0 => Reply::raw("HTTP/1.1 2").then_close(),
            _ => Reply::ok(),
        };
        let client = F::new(recommended(|policy| policy));
        let server = Responder::start(cut).await;
        assert_eq!(client.get(&server.url("/a")).await.unwrap().report.attempts, 2);
        let server = Responder::start(cut).await;
        assert!(client.send("POST", &server.url("/a")).await.is_err());
        assert_eq!(server.count(), 1);
    }

    /// T6, B5: no attempt and no wait goes past the caller's deadline.
    async fn a_deadline_bounds_attempts_and_waits<F: Face>() {
        let server = Responder::start(|_, _| Reply::refuse(503, 60)).await;
        let client = F::new(recommended(|policy| policy));
        let finish_by = Some(SystemClock.monotonic().after(millis(500)));
        let answer = client.send_asking("GET", &server.url("/a"), "", Asks { finish_by, ..Asks::default() }).await;
        assert_eq!(answer.unwrap().report.reason(), Some(Reason::DeadlinePassed));

        let silent = Responder::start(|_, _| Reply::raw("").then(seconds(30), "")).await;
        let started = SystemClock.monotonic();
        let finish_by = Some(started.after(millis(500)));
        let asks = Asks { finish_by, ..Asks::default() };
        assert!(client.send_asking("GET", &silent.url("/a"), "", asks).await.is_err());
        let took = SystemClock.monotonic().since(started);
        assert!(took >= millis(499) && took < millis(500) + SLACK, "{took:?}");
    }
}

mod http2;
mod redirects;
mod services;
