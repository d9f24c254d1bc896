//! JUnit XML, which every CI shows.

use anyhow::Context as _;
use quick_junit::{NonSuccessKind, Report as Xml, TestCase, TestCaseStatus, TestSuite};
use refusal_script::{Level, VerdictKind};

use super::Report;
use super::tree::level_name;

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
            let mut status = match verdict.kind {
                VerdictKind::Pass
                | VerdictKind::PassBounded
                | VerdictKind::Info
                | VerdictKind::Suboptimal => TestCaseStatus::success(),
                VerdictKind::Fail if result.known_failing.is_some() => TestCaseStatus::skipped(),
                // A should is shown and does not turn a build red; `--strict` is for the exit code.
                VerdictKind::Fail if record.case.level == Level::Should => TestCaseStatus::skipped(),
                VerdictKind::Fail => TestCaseStatus::non_success(NonSuccessKind::Failure),
                VerdictKind::Crash | VerdictKind::NoContact | VerdictKind::HarnessError => {
                    TestCaseStatus::non_success(NonSuccessKind::Error)
                }
                _ => TestCaseStatus::skipped(),
            };
            if !matches!(status, TestCaseStatus::Success { .. }) {
                status.set_type(verdict.reason.as_str());
                status.set_message(format!("{verdict}"));
            }
            let mut test = TestCase::new(record.case.id.as_str(), status);
            test.set_classname(format!("{}.{}", record.group, level_name(record.case.level)));
            test.set_system_out(format!("{verdict}\n{}", verdict.notes.join("\n")));
            suite.add_test_case(test);
        }
        xml.add_test_suite(suite);
    }
    xml.to_string().context("cannot write the report as XML")
}
