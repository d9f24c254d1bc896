//! JUnit XML, which every CI shows.

use anyhow::Context as _;
use quick_junit::{NonSuccessKind, Report as Xml, TestCase, TestCaseStatus, TestSuite};
use refusal_script::{Level, VerdictKind};

use super::summary::is_stale;
use super::tree::level_name;
use super::{Report, ResultRecord};

/// One suite a client, one test a case.
///
/// # Errors
///
/// Text that no XML can hold.
pub fn junit(report: &Report) -> anyhow::Result<String> {
    let mut xml = Xml::new(format!("conformance {}", report.run.edition));
    for client in &report.clients {
        let mut suite = TestSuite::new(client.name.as_str());
        if let Some(problem) = &client.missing {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
            status.set_type("missing");
            status.set_message(problem.as_str());
            suite.add_test_case(TestCase::new("installed", status));
        }
        for record in &report.cases {
            let Some(result) = report.result(&client.name, &record.case.id) else { continue };
            let verdict = &result.verdict;
            let status = status(record.case.level, result);
            let mut test = TestCase::new(record.case.id.as_str(), status);
            test.set_classname(format!("{}.{}", record.group, level_name(record.case.level)));
            test.set_system_out(format!("{verdict}\n{}", verdict.notes.join("\n")));
            suite.add_test_case(test);
        }
        xml.add_test_suite(suite);
    }
    xml.to_string().context("cannot write the report as XML")
}

fn status(level: Level, result: &ResultRecord) -> TestCaseStatus {
    let verdict = &result.verdict;
    let mut reason = verdict.reason.as_str();
    let mut message = verdict.to_string();
    let failure = || TestCaseStatus::non_success(NonSuccessKind::Failure);
    let mut status = match (&result.known_failing, verdict.kind) {
        (Some(why), kind) if is_stale(kind) => {
            reason = "stale_known_failing";
            message = format!("listed as known to fail, and does not: the entry is stale ({why}); {verdict}");
            failure()
        }
        (Some(why), VerdictKind::Fail | VerdictKind::Crash | VerdictKind::NoContact) => {
            message = format!("known to fail: {why}; {verdict}");
            TestCaseStatus::skipped()
        }
        (_, VerdictKind::Pass | VerdictKind::PassBounded | VerdictKind::Info | VerdictKind::Suboptimal) => {
            return TestCaseStatus::success();
        }
        // A should is shown and does not turn a build red; `--strict` is for the exit code.
        (_, VerdictKind::Fail) if level == Level::Should => TestCaseStatus::skipped(),
        (_, VerdictKind::Fail) => failure(),
        (_, VerdictKind::Crash | VerdictKind::NoContact | VerdictKind::HarnessError) => {
            TestCaseStatus::non_success(NonSuccessKind::Error)
        }
        _ => TestCaseStatus::skipped(),
    };
    status.set_type(reason);
    status.set_message(message);
    status
}
