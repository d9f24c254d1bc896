//! That a creation was refused at a stage, as an assertion.

use std::fmt::Debug;

use http::header::RETRY_AFTER;
use serde_json::Value;

use crate::cluster::ClusterError;

/// What a transient refusal tells clients to wait. Stated here once more on purpose: a suite asserts the
/// contract, and does not import what it asserts from the server.
const RETRY_AFTER_SECONDS: &str = "15";

/// Asserts that a creation was refused at `stage`, as the contract has it: 507, a body with this `stage` and
/// with `transient` set to `true`, and `Retry-After: 15` wherever the refusal carries fields at all.
///
/// It takes what a creation came to and asks nothing itself, so nothing is retried in here; a refusal that
/// the client had waited out before is refused as evidence.
///
/// # Panics
///
/// When anything of that does not hold, as a failed assertion that shows the whole answer.
#[track_caller]
pub fn assert_refused_at_stage<T: Debug>(outcome: &Result<T, ClusterError>, stage: &str) {
    if let Err(fault) = check(outcome, stage) {
        panic!("assertion failed: expected a refusal at stage `{stage}`: {fault}");
    }
}

fn check<T: Debug>(outcome: &Result<T, ClusterError>, stage: &str) -> Result<(), String> {
    let refusal = match outcome {
        Ok(created) => return Err(format!("it was not refused: {created:?}")),
        Err(error) => error.refusal().ok_or_else(|| format!("the cluster did not answer: {error}"))?,
    };
    let whole = |fault: String| format!("{fault}; the whole answer:\n{}", refusal.whole());
    let expect = |what: &str, expected: Value, got: Option<Value>| match got {
        Some(got) if got == expected => Ok(()),
        Some(got) => Err(whole(format!("expected {what} {expected}, got {got}"))),
        None => Err(whole(format!("expected {what} {expected}, and there is none"))),
    };
    expect("the status", 507.into(), Some(refusal.status.as_u16().into()))?;
    expect("the member `stage`", stage.into(), refusal.member("stage"))?;
    expect("the member `transient`", true.into(), refusal.member("transient"))?;
    if !refusal.headers.is_empty() {
        let lines: Vec<_> = refusal.headers.get_all(RETRY_AFTER).iter().collect();
        if lines != [RETRY_AFTER_SECONDS] {
            return Err(whole(format!(
                "expected one field `Retry-After: {RETRY_AFTER_SECONDS}`, got {lines:?}"
            )));
        }
    }
    if refusal.spent.attempts > 1 {
        let attempts = refusal.spent.attempts;
        return Err(whole(format!("it was waited out {attempts} times: the client's own retry is on")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue, StatusCode};

    use super::*;
    use crate::cluster::ClusterRefusal;

    const BODY: &str = r#"{"error":"full","status":507,"stage":"capacity_guard","transient":true}"#;

    fn refusal(body: &str) -> ClusterRefusal {
        let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static("15"))]);
        let status = StatusCode::INSUFFICIENT_STORAGE;
        ClusterRefusal::new("POST http://host/instances", status, body.to_owned()).with_headers(headers)
    }

    fn fault(refusal: ClusterRefusal) -> String {
        let outcome: Result<(), _> = Err(ClusterError::Refused(Box::new(refusal)));
        check(&outcome, "capacity_guard").expect_err("a fault")
    }

    fn assert_fault(refusal: ClusterRefusal, expected: &str) {
        let (whole, fault) = (refusal.whole(), fault(refusal));
        assert_eq!(fault, format!("{expected}; the whole answer:\n{whole}"));
    }

    #[test]
    fn a_refusal_as_the_contract_has_it_passes() {
        let outcome: Result<(), _> = Err(ClusterError::Refused(Box::new(refusal(BODY))));
        assert_refused_at_stage(&outcome, "capacity_guard");
    }

    /// Where the client exposes no fields, the body decides alone.
    #[test]
    fn a_refusal_without_fields_passes_by_its_body() {
        let outcome: Result<(), _> =
            Err(ClusterError::Refused(Box::new(refusal(BODY).with_headers(HeaderMap::new()))));
        assert_refused_at_stage(&outcome, "capacity_guard");
    }

    #[test]
    #[should_panic(expected = "assertion failed: expected a refusal at stage `sufficient_idle_cpu`: \
                               expected the member `stage` \"sufficient_idle_cpu\", got \"capacity_guard\"")]
    fn another_stage_fails() {
        let outcome: Result<(), _> = Err(ClusterError::Refused(Box::new(refusal(BODY))));
        assert_refused_at_stage(&outcome, "sufficient_idle_cpu");
    }

    #[test]
    fn a_creation_that_was_not_refused_fails() {
        let outcome: Result<_, ClusterError> = Ok("an instance");
        assert_eq!(check(&outcome, "x").expect_err("a fault"), "it was not refused: \"an instance\"");
    }

    #[test]
    fn no_answer_at_all_fails() {
        let outcome: Result<(), _> = Err(ClusterError::Interrupted);
        assert_eq!(check(&outcome, "x").expect_err("a fault"), "the cluster did not answer: interrupted");
    }

    #[test]
    fn another_status_fails() {
        let refusal = ClusterRefusal { status: StatusCode::CONFLICT, ..refusal(BODY) };
        assert_fault(refusal, "expected the status 507, got 409");
    }

    #[test]
    fn a_missing_member_fails_as_an_assertion() {
        assert_fault(
            refusal(r#"{"transient":true}"#),
            "expected the member `stage` \"capacity_guard\", and there is none",
        );
        assert_fault(
            refusal(r#"{"stage":"capacity_guard"}"#),
            "expected the member `transient` true, and there is none",
        );
    }

    #[test]
    fn a_body_that_is_no_object_fails_as_an_assertion() {
        for body in ["", "[]", "null", "<html>", r#"["stage","transient"]"#] {
            assert_fault(refusal(body), "expected the member `stage` \"capacity_guard\", and there is none");
        }
    }

    #[test]
    fn a_mark_that_is_not_true_fails() {
        assert_fault(
            refusal(r#"{"stage":"capacity_guard","transient":"true"}"#),
            "expected the member `transient` true, got \"true\"",
        );
    }

    #[test]
    fn another_hint_a_missing_one_and_two_fail() {
        let with = |lines: &[&'static str]| {
            let mut headers = HeaderMap::from_iter([(http::header::DATE, HeaderValue::from_static("now"))]);
            for line in lines {
                headers.append(RETRY_AFTER, HeaderValue::from_static(line));
            }
            refusal(BODY).with_headers(headers)
        };
        assert_fault(with(&[]), "expected one field `Retry-After: 15`, got []");
        assert_fault(with(&["14"]), "expected one field `Retry-After: 15`, got [\"14\"]");
        assert_fault(with(&["15", "15"]), "expected one field `Retry-After: 15`, got [\"15\", \"15\"]");
    }

    #[test]
    fn a_refusal_that_the_client_waited_out_fails() {
        let mut refusal = refusal(BODY);
        refusal.spent.attempts = 5;
        assert_fault(refusal, "it was waited out 5 times: the client's own retry is on");
    }
}
