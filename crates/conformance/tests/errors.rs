//! Lines that are no valid question: each gets an error that names the field (section 11).

use serde_json::Value;

fn answer(question: &str) -> Value {
    let mut answer = Vec::new();
    conformance::answer_line(question.as_bytes(), &mut answer);
    serde_json::from_slice(&answer).expect("answers are JSON")
}

/// The question is refused and the error says `part`.
#[track_caller]
fn refused(question: &str, part: &str) {
    let answer = answer(question);
    let error = answer["error"].as_str().unwrap_or_else(|| panic!("{question}: answered {answer}"));
    assert_eq!(answer.as_object().map(serde_json::Map::len), Some(1), "{question}");
    assert!(error.contains(part), "{question}: expected {part:?} in {error:?}");
}

#[track_caller]
fn accepted(question: &str) {
    let answer = answer(question);
    assert!(answer.get("error").is_none(), "{question}: {answer}");
}

fn parse(fields: &str) -> String {
    format!(r#"{{"op":"parse","lines":["1"],"now":0{fields}}}"#)
}

fn session(fields: &str) -> String {
    format!(r#"{{"op":"session","profile":"muse","events":[{{"took_ms":1,"status":503}}]{fields}}}"#)
}

fn policy(fields: &str) -> String {
    session(&format!(r#","policy":{{{fields}}}"#))
}

fn events(events: &str) -> String {
    format!(r#"{{"op":"session","profile":"muse","events":[{events}]}}"#)
}

fn windows(events: &str) -> String {
    format!(r#"{{"op":"windows","events":[{events}]}}"#)
}

#[test]
fn a_line_that_is_no_object_is_refused() {
    refused("", "blank");
    refused(" \t ", "blank");
    for line in
        ["[]", "1", "null", "\"op\"", "{", "{}}", "{'op':1}", "{\"op\":\"parse\",}", "nonsense", "\u{feff}{}"]
    {
        refused(line, "expected");
    }
}

#[test]
fn bytes_that_are_not_utf_8_are_refused() {
    let mut answer = Vec::new();
    conformance::answer_line(b"{\"op\":\"parse\",\"lines\":[\"\xff\"],\"now\":0}", &mut answer);
    assert!(answer.starts_with(b"{\"error\":\"expected UTF-8"), "{}", answer.escape_ascii());
}

#[test]
fn an_unknown_or_missing_operation_is_refused() {
    refused("{}", "`op`");
    refused(r#"{"op":"ask"}"#, "`op`");
    refused(r#"{"op":null}"#, "`op`");
    refused(r#"{"op":1}"#, "`op`");
    refused(r#"{"op":"Parse"}"#, "`op`");
}

#[test]
fn a_missing_field_is_named() {
    refused(r#"{"op":"parse","now":0}"#, "`lines`");
    refused(r#"{"op":"parse","lines":[]}"#, "`now`");
    refused(r#"{"op":"session","events":[{"took_ms":1,"status":200}]}"#, "`profile`");
    refused(r#"{"op":"session","profile":"muse"}"#, "`events`");
    refused(&events(r#"{"status":200}"#), "`events[0].took_ms`");
    refused(&events(r#"{"took_ms":1}"#), "`events[0].status`");
    refused(r#"{"op":"windows"}"#, "`events`");
    refused(&windows(r#"{"ask":"a"}"#), "`events[0].at_ms`");
    refused(&windows(r#"{"at_ms":1,"record":"a"}"#), "`events[0].not_before_ms`");
    refused(&windows(r#"{"at_ms":1,"success":"a"}"#), "`events[0].started_ms`");
    refused(&policy(r#""backoff":{"kind":"constant"}"#), "`policy.backoff.ms`");
    refused(&policy(r#""backoff":{"kind":"exponential","base_ms":1,"factor":2}"#), "`policy.backoff.cap_ms`");
    refused(&policy(r#""backoff":{"ms":1}"#), "`policy.backoff.kind`");
    refused(&policy(r#""retry_on":[{}]"#), "`policy.retry_on[0].status`");
}

#[test]
fn a_field_of_another_type_is_named() {
    refused(r#"{"op":"parse","lines":"1","now":0}"#, "`lines`");
    refused(r#"{"op":"parse","lines":["1",2],"now":0}"#, "`lines[1]`");
    refused(&parse(r#","now":"0""#), "`now`");
    refused(&parse(r#","date":1"#), "`date`");
    refused(&parse(r#","age":7"#), "`age`");
    refused(&parse(r#","dates":true"#), "`dates`");
    refused(&parse(r#","lenient_fractions":0"#), "`lenient_fractions`");
    refused(&session(r#","policy":[]"#), "`policy`");
    refused(&session(r#","request":"GET""#), "`request`");
    refused(&session(r#","request":{"method":1}"#), "`request.method`");
    refused(&session(r#","request":{"vouched":"true"}"#), "`request.vouched`");
    refused(&session(r#","random":1"#), "`random`");
    refused(&session(r#","random":["1"]"#), "`random[0]`");
    refused(&events("[]"), "`events[0]`");
    refused(&events(r#"{"took_ms":1,"status":"503"}"#), "`events[0].status`");
    refused(&events(r#"{"took_ms":1,"status":503,"headers":{}}"#), "`events[0].headers`");
    refused(&events(r#"{"took_ms":1,"status":503,"headers":[["Retry-After"]]}"#), "`events[0].headers[0]`");
    refused(&events(r#"{"took_ms":1,"status":503,"headers":[["a","b","c"]]}"#), "`events[0].headers[0]`");
    refused(
        &events(r#"{"took_ms":1,"status":503,"headers":[["Retry-After",60]]}"#),
        "`events[0].headers[0][1]`",
    );
    refused(&events(r#"{"took_ms":1,"status":503,"headers":[[1,"60"]]}"#), "`events[0].headers[0][0]`");
    refused(r#"{"op":"windows","events":[],"capacity":"1"}"#, "`capacity`");
    refused(&windows(r#"{"at_ms":1,"ask":1}"#), "`events[0].ask`");
    refused(&policy(r#""enabled":1"#), "`policy.enabled`");
    refused(&policy(r#""retry_on":{"status":503}"#), "`policy.retry_on`");
    refused(&policy(r#""retry_on":[503]"#), "`policy.retry_on[0]`");
    refused(&policy(r#""backoff":5"#), "`policy.backoff`");
}

#[test]
fn a_name_that_is_not_listed_is_refused() {
    refused(&parse(r#","dates":"ignore""#), "`dates`");
    refused(r#"{"op":"session","profile":"mine","events":[{"took_ms":1,"status":200}]}"#, "`profile`");
    refused(&session(r#","request":{"body":"stream"}"#), "`request.body`");
    refused(&events(r#"{"took_ms":1,"outcome":"late"}"#), "`events[0].outcome`");
    refused(r#"{"op":"windows","join":"max","events":[]}"#, "`join`");
    refused(&policy(r#""over_ceiling":"stop""#), "`policy.over_ceiling`");
    refused(&policy(r#""combine":"min""#), "`policy.combine`");
    refused(&policy(r#""over_budget":"clamp""#), "`policy.over_budget`");
    refused(&policy(r#""dates":"absent""#), "`policy.dates`");
    refused(&policy(r#""backoff":{"kind":"linear"}"#), "`policy.backoff.kind`");
    refused(&policy(r#""retry_on":[{"status":503,"needs":"luck"}]"#), "`policy.retry_on[0].needs`");
}

#[test]
fn a_float_is_no_integer_even_where_its_value_is_whole() {
    for number in ["1.0", "1e3", "1E3", "0.0", "-0.0", "true", "\"1\"", "null", "[1]"] {
        refused(&format!(r#"{{"op":"parse","lines":[],"now":{number}}}"#), "`now`");
        refused(&events(&format!(r#"{{"took_ms":{number},"status":200}}"#)), "`events[0].took_ms`");
        refused(&session(&format!(r#","random":[{number}]"#)), "`random[0]`");
        refused(&policy(&format!(r#""floor_ms":{number}"#)), "`policy.floor_ms`");
        refused(&policy(&format!(r#""jitter_per_mille":{number}"#)), "`policy.jitter_per_mille`");
        refused(&windows(&format!(r#"{{"at_ms":{number},"ask":"a"}}"#)), "`events[0].at_ms`");
        refused(&format!(r#"{{"op":"windows","events":[],"capacity":{number}}}"#), "`capacity`");
    }
}

/// T3: an integer of any length is an integer, and reads as the bound.
#[test]
fn an_integer_of_any_length_saturates() {
    let long = "9".repeat(400);
    for number in ["9007199254740991", "9007199254740993", "18446744073709551616", &long] {
        let ceiling = format!(r#""ceiling_ms":{number},"floor_ms":9007199254740991"#);
        accepted(&policy(&ceiling));
        let question =
            format!(r#"{{"op":"parse","lines":["Thu, 01 Jan 1970 00:00:00 GMT"],"now":-{number}}}"#);
        assert_eq!(answer(&question)["delay"], 9_007_199_254_740_991_u64, "{number}");
    }
    accepted(&events(&format!(r#"{{"took_ms":{long},"status":503}},{{"took_ms":{long},"status":503}}"#)));
    accepted(r#"{"op":"parse","lines":[],"now":-0}"#);
}

#[test]
fn a_number_outside_its_range_is_refused() {
    for number in ["-1", "-99999999999999999999"] {
        refused(&events(&format!(r#"{{"took_ms":{number},"status":200}}"#)), "`events[0].took_ms`");
        refused(&policy(&format!(r#""budget_ms":{number}"#)), "`policy.budget_ms`");
        refused(&windows(&format!(r#"{{"at_ms":{number},"ask":"a"}}"#)), "`events[0].at_ms`");
    }
    for status in ["99", "600", "0", "-1", "65739", "18446744073709552119"] {
        refused(&events(&format!(r#"{{"took_ms":1,"status":{status}}}"#)), "`events[0].status`");
        refused(&policy(&format!(r#""retry_on":[{{"status":{status}}}]"#)), "`policy.retry_on[0].status`");
    }
    refused(&session(r#","random":[0,1000,1001]"#), "`random[2]`");
    refused(r#"{"op":"windows","events":[],"capacity":0}"#, "`capacity`");
}

#[test]
fn null_is_allowed_where_it_is_listed_and_nowhere_else() {
    accepted(&parse(r#","date":null,"age":null"#));
    accepted(&events(r#"{"took_ms":1,"status":503,"body":null}"#));
    accepted(&policy(r#""max_attempts":null,"backoff":null"#));
    for field in ["lines", "dates", "lenient_fractions"] {
        refused(&parse(&format!(r#","{field}":null"#)), &format!("`{field}`"));
    }
    for field in ["profile", "policy", "request", "random", "now", "events"] {
        refused(&session(&format!(r#","{field}":null"#)), &format!("`{field}`"));
    }
    for field in ["method", "vouched", "body"] {
        let question = session(&format!(r#","request":{{"{field}":null}}"#));
        refused(&question, &format!("`request.{field}`"));
    }
    for field in ["enabled", "floor_ms", "over_budget", "jitter_cap_ms", "retry_on", "dates"] {
        refused(&policy(&format!(r#""{field}":null"#)), &format!("`policy.{field}`"));
    }
    refused(&policy(r#""retry_on":[{"status":503,"needs":null}]"#), "`policy.retry_on[0].needs`");
    refused(&events(r#"{"took_ms":1,"status":503,"headers":null}"#), "`events[0].headers`");
    refused(&events(r#"{"took_ms":1,"status":503,"outcome":null}"#), "`events[0].outcome`");
    refused(&events(r#"{"took_ms":1,"outcome":"lost","status":null}"#), "`events[0].status`");
    refused(r#"{"op":"windows","join":null,"events":[]}"#, "`join`");
    refused(&windows(r#"{"at_ms":1,"ask":"a","record":null}"#), "`events[0].record`");
}

#[test]
fn a_code_point_above_255_is_no_byte() {
    accepted(r#"{"op":"parse","lines":["\u00ff","ÿ"],"now":0}"#);
    refused(r#"{"op":"parse","lines":["1","\u0100"],"now":0}"#, "`lines[1]`");
    refused(r#"{"op":"parse","lines":["²","€"],"now":0}"#, "`lines[1]`");
    refused(r#"{"op":"parse","lines":["\ud83d\ude00"],"now":0}"#, "`lines[0]`");
    refused(r#"{"op":"parse","lines":["\ud83d"],"now":0}"#, "`lines[0]`");
    refused(&parse(r#","date":"Ā""#), "`date`");
    refused(&parse(r#","age":"Ā""#), "`age`");
    refused(
        &events(r#"{"took_ms":1,"status":503,"headers":[["Retry-After","Ā"]]}"#),
        "`events[0].headers[0][1]`",
    );
    accepted(&windows(r#"{"at_ms":1,"ask":"\ud83d\ude00"}"#));
}

#[test]
fn an_unknown_field_is_refused_inside_the_policy_and_ignored_elsewhere() {
    refused(&policy(r#""floor":1"#), "floor");
    refused(&policy(r#""first_deadline":true"#), "first_deadline");
    refused(&policy(r#""backoff":{"kind":"constant","ms":1,"factor":2}"#), "`policy.backoff.");
    refused(&policy(r#""retry_on":[{"status":503,"why":"busy"}]"#), "`policy.retry_on[0].");
    accepted(&parse(r#","id":"x","why":1,"expect":{}"#));
    accepted(&session(r#","floor_ms":1.5,"request":{"url":1}"#));
    accepted(&events(r#"{"took_ms":1,"status":503,"reason":null}"#));
    accepted(r#"{"op":"windows","policy":1,"events":[{"at_ms":1,"ask":"a","size":1.5}]}"#);
}

/// B8.
#[test]
fn a_policy_that_contradicts_itself_is_refused() {
    refused(&policy(r#""floor_ms":60001"#), "`policy`: expected a floor of at most the ceiling");
    refused(&policy(r#""ceiling_ms":999"#), "`policy`: expected a floor of at most the ceiling");
    refused(&policy(r#""backoff":{"kind":"exponential","base_ms":1,"factor":0,"cap_ms":1}"#), "factor");
    refused(&policy(r#""jitter_per_mille":1001"#), "1000 per mille");
    refused(&policy(r#""jitter_per_mille":65536"#), "1000 per mille");
    refused(&policy(r#""max_attempts":0"#), "at least 1 attempt");
    refused(&policy(r#""floor_ms":0"#), "schedule or an attempt cap");
    accepted(&policy(r#""floor_ms":0,"max_attempts":4294967296"#));
    accepted(&policy(r#""floor_ms":0,"backoff":{"kind":"constant","ms":0}"#));
    accepted(&policy(r#""budget_ms":0,"retry_on":[]"#));
}

#[test]
fn a_status_that_is_listed_twice_is_refused() {
    let question = policy(r#""retry_on":[{"status":503},{"status":507},{"status":503,"needs":"hint"}]"#);
    refused(&question, "`policy.retry_on[2].status`");
}

#[test]
fn an_event_is_answered_or_unanswered_and_not_both() {
    refused(&events(r#"{"took_ms":1,"status":503,"outcome":"lost"}"#), "`events[0]`");
    refused(&events(""), "`events`: expected at least one event");
}

#[test]
fn events_after_the_end_are_read_all_the_same() {
    let done = r#"{"took_ms":1,"status":200}"#;
    accepted(&events(&format!("{done},{done}")));
    refused(&events(&format!(r#"{done},{{"took_ms":1.5,"status":200}}"#)), "`events[1].took_ms`");
    refused(
        &events(&format!(r#"{done},{{"took_ms":1,"status":200,"headers":[["a","Ā"]]}}"#)),
        "`events[1].headers",
    );
}

/// Section 11.2: without a wall clock a date has no meaning.
#[test]
fn a_date_needs_a_clock() {
    let with = |value: &str| {
        events(&format!(r#"{{"took_ms":1,"status":503,"headers":[["Retry-After","{value}"]]}}"#))
    };
    for date in
        ["Mon, 30 Nov 2026 00:02:00 GMT", " Monday, 30-Nov-26 00:02:00 GMT", "Mon Nov 30 00:02:00 2026"]
    {
        refused(&with(date), "`now`");
    }
    for other in ["60", "Mon, 31 Nov 2026 00:02:00 GMT", "soon", "Sunday, 29-Feb-01 00:00:00 GMT"] {
        accepted(&with(other));
    }
    let line = |value: &str| format!(r#"["Retry-After","{value}"]"#);
    let date = line("Mon Nov 30 00:02:00 2026");
    refused(&events(&format!(r#"{{"took_ms":1,"status":200,"headers":[{date}]}}"#)), "`now`");
    refused(&events(&format!(r#"{{"took_ms":1,"outcome":"lost","headers":[{date}]}}"#)), "`now`");
    // P8: a ninth line does not exist.
    let nine = format!("{}{date}", format!("{},", line("60")).repeat(8));
    accepted(&events(&format!(r#"{{"took_ms":1,"status":503,"headers":[{nine}]}}"#)));
}

#[test]
fn windows_never_go_back_in_time() {
    accepted(&windows(r#"{"at_ms":5,"ask":"a"},{"at_ms":5,"ask":"a"}"#));
    refused(&windows(r#"{"at_ms":5,"ask":"a"},{"at_ms":4,"ask":"a"}"#), "`events[1].at_ms`");
}

#[test]
fn an_event_of_windows_is_exactly_one_thing() {
    refused(&windows(r#"{"at_ms":1}"#), "`events[0]`");
    refused(&windows(r#"{"at_ms":1,"ask":"a","record":"a","not_before_ms":5}"#), "`events[0]`");
    refused(&windows(r#"{"at_ms":1,"ask":"a","success":"a","started_ms":5}"#), "`events[0]`");
}

/// A member that nobody asks for may hold whatever JSON allows.
#[test]
fn what_is_ignored_is_not_looked_at() {
    accepted(&parse(r#","x":1e999"#));
    accepted(&parse(r#","x":"\ud800","\ud800":1"#));
    accepted(&parse(&format!(r#","x":{}{}"#, "[".repeat(100_000), "]".repeat(100_000))));
    refused(&parse(r#","x":NaN"#), "JSON");
    refused(&parse(r#","x":01"#), "JSON");
    refused(&parse(",\"x\":\"\t\""), "JSON");
    refused(&parse(",\"\t\":1"), "JSON");
}

/// Of two members with one name the last counts, as in most languages.
#[test]
fn a_later_member_replaces_an_earlier_one() {
    accepted(&parse(r#","now":"x","now":1"#));
    refused(&parse(r#","now":1,"now":"x""#), "`now`");
    accepted(&parse(r#","now":"x","n\u006fw":1"#));
}

/// An error repeats only the beginning of what came.
#[test]
fn an_error_is_short_however_long_the_value() {
    let question = format!(r#"{{"op":"parse","lines":[],"now":"{}"}}"#, "é".repeat(100_000));
    let answer = answer(&question);
    let error = answer["error"].as_str().expect("refused");
    assert!(error.len() < 200, "{error}");
}
