//! The JSON bodies, as the hub's contract has them.

use hub_protocol::{
    DEFAULT_TTL_SECONDS, FetchAnswer, FetchRequest, Id, PresignAnswer, PresignRequest, Refs, UnpackAnswer,
    UnpackRequest,
};
use serde_json::{Value, from_value, json, to_value};

fn text(of: &str) -> String {
    Id::of(of).to_string()
}

fn comes_back<T: serde::Serialize + serde::de::DeserializeOwned>(body: Value) {
    let value: T = from_value(body.clone()).unwrap();
    assert_eq!(to_value(&value).unwrap(), body);
}

#[test]
fn bodies_have_the_members_of_the_contract() {
    let heads = json!({ "feat/x": text("x"), "main": text("m") });
    comes_back::<Refs>(
        json!({ "repo_id": "r", "domain": "code", "default_branch": "main", "branch_heads": heads }),
    );
    comes_back::<PresignRequest>(json!({ "mpack_id": text("p"), "size": 7, "public": true }));
    comes_back::<PresignRequest>(json!({ "mpack_id": text("p"), "size": 7 }));
    comes_back::<PresignAnswer>(json!({ "upload_url": "http://h/u", "expires_at": "2026-11-30T15:59:07Z" }));
    comes_back::<UnpackRequest>(
        json!({ "mpack_id": text("p"), "branch": "main", "head": text("h"), "force": true }),
    );
    comes_back::<UnpackAnswer>(json!({ "branch_heads": heads, "generation": 3 }));
    comes_back::<FetchRequest>(json!({ "want": [text("w")], "have": [text("h")], "ttl_seconds": 30 }));
    comes_back::<FetchAnswer>(json!({
        "mpack_id": text("p"), "url": "http://h/d", "size": 7, "expires_at": "2026-11-30T15:59:07Z",
        "branch_heads": heads, "generation": 3,
    }));
}

#[test]
fn what_a_request_leaves_out_has_a_default() {
    let fetch: FetchRequest = from_value(json!({ "want": [text("w")] })).unwrap();
    assert_eq!(fetch, FetchRequest::new(vec![Id::of("w")], vec![]));
    assert_eq!(fetch.ttl_seconds, DEFAULT_TTL_SECONDS);
    let unpack: UnpackRequest =
        from_value(json!({ "mpack_id": text("p"), "branch": "main", "head": text("h") })).unwrap();
    assert!(!unpack.force);
}

#[test]
fn a_member_that_a_request_does_not_have_is_refused() {
    let error = from_value::<FetchRequest>(json!({ "want": [], "haves": [] })).unwrap_err();
    insta::assert_snapshot!(error, @"unknown field `haves`, expected one of `want`, `have`, `ttl_seconds`");
}

/// A newer server may say more than this client knows.
#[test]
fn a_member_that_an_answer_does_not_have_is_passed_over() {
    let answer = json!({ "branch_heads": {}, "generation": 1, "job": "mpack.index" });
    assert!(from_value::<UnpackAnswer>(answer).is_ok());
}

#[test]
fn a_branch_that_is_no_file_name_is_refused_in_an_answer() {
    let answer = json!({ "branch_heads": { "../../x": text("x") }, "generation": 1 });
    insta::assert_snapshot!(from_value::<UnpackAnswer>(answer).unwrap_err(), @r#"the branch name "../../x" has the component "..", which starts with a dot or a dash"#);
}
