//! From a push to the first good fetch, with both refusals on the way.

use super::{INDEX, PREBUILD};
use crate::testing::{History, TestServer};

/// Contract sections 1 to 3: what a clone meets that follows a push at once.
#[tokio::test]
async fn a_clone_meets_not_indexed_then_not_ready_then_the_pack() {
    let server = TestServer::held().await;
    let (history, pushed) = History::of_one_commit("some content");
    let answer = server.push(&pushed).await;
    answer.assert_status(200);
    assert_eq!(answer.json()["generation"], 1);
    assert_eq!(answer.json()["branch_heads"]["main"], pushed.head.to_string());

    let refused = server.fetch(&[pushed.head], &[]).await;
    refused.assert(503, "Objects not yet indexed: 1 missing. Retry shortly.");
    assert_eq!(refused.all("retry-after"), ["60"]);

    server.release(INDEX).await;
    server.wait_for(PREBUILD, "queued").await;
    let refused = server.fetch(&[pushed.head], &[]).await;
    refused.assert(503, "mpack not ready \u{2014} prebuild in progress. Retry shortly.");
    assert_eq!(refused.all("retry-after"), ["30"]);

    server.release(PREBUILD).await;
    server.wait_for(PREBUILD, "done").await;
    let answer = server.fetch(&[pushed.head], &[]).await;
    answer.assert_status(200);
    let pack = server.get(answer.json()["url"].as_str().unwrap()).await;
    pack.assert_status(200);
    assert_eq!(History::read(&pack.body), history);
    assert_eq!(hub_protocol::Id::of(&pack.body).to_string(), answer.json()["mpack_id"].as_str().unwrap());
}
