//! Values for the tests of what is shown.

use std::time::Duration;

use http::{HeaderMap, StatusCode};
use hub_protocol::{BranchName, Id};

use crate::commands::FetchReport;
use crate::errors::{Error, Failed, Spent, StillPreparing};
use crate::progress::Waiting;
use crate::refusal::Refusal;

pub(super) fn waits() -> [Waiting; 2] {
    let wait = |attempt, elapsed| Waiting {
        attempt,
        wait: Duration::from_secs(30),
        elapsed: Duration::from_millis(elapsed),
        budget: Duration::from_secs(120),
    };
    [wait(1, 0), wait(2, 30_999)]
}

pub(super) fn still_preparing(budget: u64, attempts: u32, waited_millis: u64) -> Failed {
    let refusal = Refusal {
        asked: "POST http://hub/me/work/fetch/mpack".to_owned(),
        status: StatusCode::SERVICE_UNAVAILABLE,
        request_id: Some("r-1".to_owned()),
        text: "mpack not ready — prebuild in progress. Retry shortly.".to_owned(),
        headers: HeaderMap::new(),
    };
    let budget = Duration::from_secs(budget);
    let error = Error::StillPreparing(Box::new(StillPreparing { refusal, budget, retry_after: Some(30) }));
    Failed { error, spent: Spent { attempts, waited: Duration::from_millis(waited_millis) } }
}

pub(super) fn not_found() -> Failed {
    let refusal = Refusal {
        asked: "GET http://hub/me/work/refs".to_owned(),
        status: StatusCode::NOT_FOUND,
        request_id: Some("r-2".to_owned()),
        text: "no such repository".to_owned(),
        headers: HeaderMap::new(),
    };
    Failed { error: Error::Refused(Box::new(refusal)), spent: Spent { attempts: 1, ..Spent::default() } }
}

pub(super) fn interrupted() -> Failed {
    Failed { error: Error::Interrupted, spent: Spent { attempts: 1, waited: Duration::from_millis(2_500) } }
}

pub(super) fn cloned() -> FetchReport {
    FetchReport {
        url: "http://hub/me/work".to_owned(),
        target: "/home/me/work".into(),
        branch: BranchName::new("main").expect("a branch"),
        head: Some(Id::of("")),
        commits: 3,
        snapshots: 2,
        objects: 5,
        bytes: 1_234,
        spent: Spent { attempts: 2, waited: Duration::from_millis(30_250) },
        update: None,
    }
}
