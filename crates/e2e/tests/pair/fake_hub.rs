//! A hub on a raw socket, whose every answer can be replaced.

use std::collections::{BTreeMap, VecDeque};

use e2e::{Answer, RawServer, Request, Scene};
use hub_protocol::{BranchName, FetchAnswer, Id, Refs};

use crate::forge::Forged;

/// What the hub answers instead of the truth, in its order; then it tells the truth.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    pub(crate) refs: VecDeque<Answer>,
    pub(crate) fetches: VecDeque<Answer>,
    pub(crate) downloads: VecDeque<Answer>,
    /// Added to the length of the pack that is promised.
    pub(crate) longer: i64,
}

impl Answers {
    pub(crate) fn refs(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self { refs: answers.into_iter().collect(), ..Self::default() }
    }

    pub(crate) fn fetches(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self { fetches: answers.into_iter().collect(), ..Self::default() }
    }

    pub(crate) fn downloads(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self { downloads: answers.into_iter().collect(), ..Self::default() }
    }
}

/// The refusal that a hub gives while it prepares.
pub(crate) fn busy(retry_after: &str) -> Answer {
    Answer::new(
        "503 Service Unavailable",
        &[&format!("Retry-After: {retry_after}"), "X-Request-Id: fake-1"],
        "mpack not ready \u{2014} prebuild in progress. Retry shortly.",
    )
}

/// A hub with the one repository `owner/slug` that `forged` holds.
pub(crate) fn fake_hub(scene: &Scene, forged: &Forged, mut answers: Answers) -> RawServer {
    let Forged { head, pack } = forged.clone();
    let branch_heads = BTreeMap::from([(BranchName::new("main").unwrap(), head)]);
    let refs = Refs {
        repo_id: "fake".into(),
        domain: "code".into(),
        default_branch: BranchName::new("main").unwrap(),
        branch_heads: branch_heads.clone(),
    };
    let fetch = FetchAnswer {
        mpack_id: Id::of(&pack),
        url: "/owner/slug/mpacks/the-pack?signature=secret".into(),
        size: (pack.len() as u64).saturating_add_signed(answers.longer),
        expires_at: "2036-11-30T00:00:00Z".into(),
        branch_heads,
        generation: 1,
    };
    let answer = move |request: &Request| {
        let (replaced, truth) = match request.head.asked() {
            "GET /owner/slug/refs" => (answers.refs.pop_front(), Answer::json(&refs)),
            "POST /owner/slug/fetch/mpack" => (answers.fetches.pop_front(), Answer::json(&fetch)),
            "GET /owner/slug/mpacks/the-pack" => (answers.downloads.pop_front(), download(request, &pack)),
            _ => (None, Answer::new("404 Not Found", &[], "there is no such thing")),
        };
        replaced.unwrap_or(truth)
    };
    scene.raw_server(answer).unwrap()
}

/// The pack, or the end of it from the byte that was asked for.
fn download(request: &Request, pack: &[u8]) -> Answer {
    let range = request.head.field("range").and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-'));
    match range.map(|from| from.parse::<usize>().unwrap()) {
        Some(from) => {
            let range = format!("Content-Range: bytes {from}-{}/{}", pack.len() - 1, pack.len());
            Answer::new("206 Partial Content", &[&range], &pack[from..])
        }
        None => Answer::new("200 OK", &[], pack),
    }
}

/// The address of the repository of a fake hub.
pub(crate) fn url(server: &RawServer) -> String {
    format!("http://{}/owner/slug", server.address())
}
