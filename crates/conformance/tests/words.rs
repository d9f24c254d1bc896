//! What a person reads about a case and about what arrives.

use conformance::Suite;
use conformance::report::{Narrator, explain};
use refusal_script::{Event, Trace};

fn explained(id: &str) -> String {
    explain(Suite::carried().unwrap().case(id).unwrap())
}

#[test]
fn a_case_is_explained_in_words() {
    insta::assert_snapshot!(explained("chain-shrinks"), @r#"
    chain-shrinks (revision 1): three seconds, then one: each refusal is taken afresh

    Level: promise (RFC 9110 section 10.2.3)

    The client is asked for a GET.
    The server answers:
      1. 503; Retry-After: 3
         which asks: not again before 3 s
      2. 503; Retry-After: 1
         which asks: not again before 1 s
      and then 200.
    It is watched until the script has been played, at most 9 s.
    All of this once more without the field, to learn the client's own backoff.

    Expected:
      - no attempt before what the answer before it asked for
      - at least 3 attempts; with fewer, nothing was shown

    Try it:  conformance serve chain-shrinks
             conformance run --case chain-shrinks -- curl -sS --retry 5 '{url}'
    "#);
    insta::assert_snapshot!(explained("date-asctime-tokyo"), @r#"
    date-asctime-tokyo (revision 1): an asctime date is in GMT, in Tokyo as well

    Level: must (RFC 9110 section 5.6.7)
    Needs a client that claims: shared_clock

    The client is asked for a GET, with TZ=Asia/Tokyo.
    The server answers:
      1. 503; Date: <now>; Retry-After: <now +4 s> (as asctime has it)
         which asks: not again before 4 s, to the second
      and then 200.
    It is watched until the script has been played, at most 9 s.
    All of this once more without the field, to learn the client's own backoff.

    Expected:
      - no attempt before what the answer before it asked for
      - better, and never a failure: where it comes back without the field, it comes back with it

    Try it:  conformance serve date-asctime-tokyo
             conformance run --case date-asctime-tokyo -- curl -sS --retry 5 '{url}'
    "#);
    insta::assert_snapshot!(explained("put-503"), @r#"
    put-503 (revision 1): PUT is repeated with the same body

    Level: promise (RFC 9110 section 9.2.2)
    Needs a client that claims: post ({method}), body ({body_file})

    The client is asked for a PUT with a body of 1000 bytes.
    The server answers:
      1. 503; Retry-After: 2
         which asks: not again before 2 s
      and then 200.
    It is watched until the script has been played, at most 7 s.

    Expected:
      - later attempts have the method, target, body and Content-Type of the first
      - no attempt before what the answer before it asked for
      - at least 2 attempts; with fewer, nothing was shown

    Try it:  conformance serve put-503
             conformance run --case put-503 --adapter NAME
    "#);
}

/// Every word of the vocabulary is one that a person would say.
#[test]
fn no_explanation_shows_how_the_program_is_written() {
    for (_, case) in Suite::carried().unwrap().cases {
        let text = explain(&case);
        for sign in ["Some(", "None", "::", "{ ", "_ms"] {
            assert!(!text.contains(sign), "{sign:?} in\n{text}");
        }
    }
}

#[test]
fn what_arrives_is_told_as_it_happens() {
    let lines = r#"{"event":"start","case":"seconds-503","rev":1,"unix_ms":0}
{"event":"arrival","at_us":5000000,"exchange":1,"connection":1,"operation":1,"method":"GET","target":"/seconds-503","headers":[]}
{"event":"answer","at_us":5001000,"exchange":1,"step":0,"unix_ms":0,"head":"HTTP/1.1 503 Service Unavailable\r\nretry-AFTER: 2\r\n\r\n"}
{"event":"other","at_us":5002000,"connection":2,"method":"GET","target":"/favicon.ico\u001b[2J"}
{"event":"rejected","at_us":5003000,"connection":3,"problem":"expected a request line"}
{"event":"arrival","at_us":7002000,"exchange":2,"connection":1,"operation":1,"method":"GET","target":"/seconds-503","headers":[]}
{"event":"answer","at_us":7002100,"exchange":2,"unix_ms":0,"head":"HTTP/1.1 200 OK\r\n\r\n"}
{"event":"flood","at_us":7100000,"attempts":1000}
{"event":"end","at_us":8000000}
"#;
    let suite = Suite::carried().unwrap();
    let mut narrator = Narrator::of(suite.case("seconds-503").unwrap());
    let trace = Trace::from_json_lines(lines).unwrap();
    let told: Vec<String> = trace.events.iter().filter_map(|event: &Event| narrator.tell(event)).collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
       0.000 s attempt 1: GET /seconds-503
       0.001 s answered: HTTP/1.1 503 Service Unavailable; retry-AFTER: 2
       0.002 s not the case's: GET /favicon.ico\u{1b}[2J
       0.003 s no request: expected a request line
       2.002 s attempt 2: GET /seconds-503, 2.001 s after the answer
       2.002 s answered: HTTP/1.1 200 OK (the script is over)
    more than 1000 attempts; no more are told
    "#);
}
