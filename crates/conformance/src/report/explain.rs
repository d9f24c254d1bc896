//! A case in words.

use std::fmt::Write as _;

use refusal_script::{
    Base, Body, Case, Connection, DateForm, Expectation, HeaderValue, Need, Precision, Soft, Start, Step,
    Then, Until,
};

use super::tree::level_name;

/// A case in words, for somebody who wants to know what it does.
#[must_use]
pub fn explain(case: &Case) -> String {
    // Writing to a string does not fail, so the results of `write!` are of no interest here and below.
    let mut text = format!("{} (revision {}): {}\n\n", case.id, case.rev, case.title);
    let _ = match &case.spec {
        Some(spec) => writeln!(text, "Level: {} ({spec})", level_name(case.level)),
        None => writeln!(text, "Level: {}", level_name(case.level)),
    };
    if let Some(why) = &case.why {
        let _ = writeln!(text, "Why: {why}");
    }
    if !case.needs.is_empty() {
        let needs: Vec<String> = case.needs.iter().map(crate::adapter::need_name).collect();
        let _ = writeln!(text, "Needs a client that claims: {}", needs.join(", "));
    }
    if let Some(alternative) = &case.alternatives {
        let _ = writeln!(text, "For clients that claim {}={}", alternative.choice, alternative.when);
    }
    if !case.depends_on.is_empty() {
        let _ = writeln!(text, "Rests on: {}", case.depends_on.join(", "));
    }
    let _ = writeln!(text, "\nThe client is asked for {}.", request(case));
    text.push_str("The server answers:\n");
    for (index, step) in case.script.iter().enumerate() {
        let _ = writeln!(text, "  {}. {}", index + 1, answer(step));
    }
    text.push_str(match case.then {
        Then::Ok => "  and then 200.\n",
        Then::RepeatLast => "  and then the last answer again, for ever.\n",
    });
    let window = seconds(case.observe.window_ms);
    let _ = match case.observe.until {
        Until::ScriptEnd => {
            writeln!(text, "It is watched until the script has been played, at most {window}.")
        }
        Until::ClientExit => writeln!(text, "It is watched until it exits, at most {window}."),
        Until::Window => writeln!(text, "It is watched for {window}, or until it exits."),
    };
    if case.control {
        text.push_str("All of this once more without the field, to learn the client's own backoff.\n");
    }
    text.push_str("\nExpected:\n");
    for expectation in &case.expect {
        let _ = writeln!(text, "  - {}", expected(expectation));
    }
    // A command line in one piece cannot say all that a client can.
    let plain = case.needs.iter().all(|need| *need == Need::SharedClock);
    let client = if plain { "-- curl -sS --retry 5 '{url}'" } else { "--adapter NAME" };
    let id = &case.id;
    let _ =
        writeln!(text, "\nTry it:  conformance serve {id}\n         conformance run --case {id} {client}");
    text
}

/// A stated time, with as many decimals as it has.
fn seconds(ms: u64) -> String {
    let text = format!("{}.{:03}", ms / 1_000, ms % 1_000);
    format!("{} s", text.trim_end_matches('0').trim_end_matches('.'))
}

fn request(case: &Case) -> String {
    let request = &case.request;
    let mut text = format!("a {}", request.method);
    if let Some(bytes) = request.body_bytes {
        let _ = write!(text, " with a body of {bytes} bytes");
    }
    if let Some(deadline) = request.deadline_s {
        let _ = write!(text, ", within {deadline} s in all");
    }
    if let Some(cap) = request.cap_s {
        let _ = write!(text, ", with no single wait above {cap} s");
    }
    match case.operations {
        Some(operations) if operations.start == Start::Together => {
            let _ = write!(text, ", {} times at once", operations.count);
        }
        Some(operations) => {
            let _ = write!(text, ", {} times, one after the other", operations.count);
        }
        None => {}
    }
    for (name, value) in &case.environment {
        let _ = write!(text, ", with {name}={value}");
    }
    text
}

fn answer(step: &Step) -> String {
    let mut text = String::new();
    for interim in &step.interim {
        let _ = write!(text, "{} for now, then ", interim.status);
    }
    match (&step.status, &step.raw_head) {
        (_, Some(head)) if head.is_empty() => text.push_str("nothing"),
        (_, Some(head)) => {
            let _ = write!(text, "exactly \"{}\"", head.escape_debug());
        }
        (Some(status), None) => {
            let _ = write!(text, "{status}");
        }
        (None, None) => {}
    }
    for (name, value) in &step.headers {
        let _ = match value {
            HeaderValue::Literal(value) => write!(text, "; {name}: {}", value.escape_debug()),
            HeaderValue::Date(date) => {
                let form = match date.form {
                    DateForm::Imf => "",
                    DateForm::Rfc850 => " (as RFC 850 has it)",
                    DateForm::Asctime => " (as asctime has it)",
                };
                let base = match date.base {
                    Base::Now => "now",
                    Base::FirstAnswer => "the first answer",
                };
                let offset = match date.offset_s {
                    0 => String::new(),
                    offset => format!(" {offset:+} s"),
                };
                write!(text, "; {name}: <{base}{offset}>{form}")
            }
        };
    }
    match &step.body {
        Body::Text(body) if body.is_empty() => {}
        Body::Text(body) => {
            let _ = write!(text, "; the body {body:?}");
        }
        Body::Filling { bytes } => {
            let _ = write!(text, "; a body of {bytes} bytes");
        }
    }
    if let Some(trickle) = step.trickle {
        let _ = write!(text, ", {} bytes every {} ms", trickle.chunk_bytes, trickle.every_ms);
    }
    if step.before_body {
        text.push_str("; before the request's body has been read");
    }
    text.push_str(match step.connection {
        Connection::Keep => "",
        Connection::Close => "; then it closes the connection",
        Connection::ResetAfterHead => "; then it resets the connection",
        Connection::ResetInBody => "; in the middle of the body it resets the connection",
    });
    if step.repeat > 1 {
        let _ = write!(text, "; {} times", step.repeat);
    }
    if let Some(promise) = step.promise {
        let precision = match promise.precision {
            Precision::Seconds => "",
            Precision::Date => ", to the second",
        };
        let _ =
            write!(text, "\n     which asks: not again before {}{precision}", seconds(promise.not_before_ms));
    }
    text
}

fn expected(expectation: &Expectation) -> String {
    match expectation {
        Expectation::Attempts { min, max } => match (min, max) {
            (Some(min), Some(max)) => format!("{min} to {max} attempts; with fewer, nothing was shown"),
            (Some(min), None) => format!("at least {min} attempts; with fewer, nothing was shown"),
            (None, Some(1)) => "one attempt".to_owned(),
            (None, Some(max)) => format!("at most {max} attempts"),
            (None, None) => "any number of attempts".to_owned(),
        },
        Expectation::NotBefore {} => "no attempt before what the answer before it asked for".to_owned(),
        Expectation::NotFasterThanControl {} => {
            "no attempt in less than half the time that it takes without the field".to_owned()
        }
        Expectation::ReturnsLikeControl {} => {
            "where it comes back without the field, it comes back with it".to_owned()
        }
        Expectation::Silence { ms } => format!("no further attempt for {}", seconds(*ms)),
        Expectation::SameRequest { headers } if headers.is_empty() => {
            "later attempts have the method, target and body of the first".to_owned()
        }
        Expectation::SameRequest { headers } => {
            format!("later attempts have the method, target, body and {} of the first", headers.join(", "))
        }
        Expectation::SecondOperations {} => {
            "no operation starts inside a window that another was told of".to_owned()
        }
        Expectation::Spread { ms } => {
            format!("operations come back spread over at least {}", seconds(*ms))
        }
        Expectation::Soft { better } => format!("better, and never a failure: {}", preferred(*better)),
    }
}

fn preferred(better: Soft) -> String {
    match better {
        Soft::Attempts { min } => format!("at least {min} attempts"),
        Soft::EndsWithin { ms } => format!("an end within {}", seconds(ms)),
        Soft::Prompt { ms } => format!("an attempt within {} of what was asked for", seconds(ms)),
        Soft::ReturnsLikeControl => "where it comes back without the field, it comes back with it".to_owned(),
    }
}
