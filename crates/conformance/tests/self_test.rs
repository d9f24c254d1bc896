//! The suite judges itself: five built-in clients on real sockets, whose verdicts every case states.

use conformance::report::{Report, html, junit};
use conformance::runner::{BuiltIn, Client, Settings, case_records, describe, run};
use conformance::{Selection, Suite};

/// In-process clients mostly sleep; all of them at once end with the longest case.
const ALL_AT_ONCE: usize = 250;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_case_tells_the_five_clients_apart_as_it_says() {
    let suite = Suite::carried().unwrap();
    let clients = BuiltIn::ALL.map(Client::BuiltIn);
    let settings = Settings::new(ALL_AT_ONCE, ".");
    let results = run(&suite, &clients, &settings, |_| {}).await;
    assert_eq!(results.len(), suite.cases.len() * clients.len());
    let mut wrong = Vec::new();
    for result in &results {
        let (_, case) = suite.cases.iter().find(|(_, case)| case.id == result.case).unwrap();
        let expected = case.self_test.each().into_iter().find(|(name, _)| *name == result.client).unwrap().1;
        if result.verdict.kind != expected {
            wrong.push(format!(
                "{} {}: expected {expected}, got {}",
                result.client, result.case, result.verdict
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));

    let run = conformance::report::RunRecord {
        edition: suite.edition.clone(),
        runner: "test".into(),
        started_unix_ms: 0,
        took_ms: 0,
        host: "test".into(),
        processors: 2,
        load: vec![],
        jobs: ALL_AT_ONCE,
    };
    let clients = describe(&clients, &settings).await;
    let report = Report { run, clients, cases: case_records(&suite), results };
    let mut lines = Vec::new();
    report.write_lines(&mut lines).unwrap();
    let text = String::from_utf8(lines).unwrap();
    assert_eq!(Report::from_lines(&text).unwrap(), report, "JSON lines hold all of a report");
    assert_eq!(
        Report::merged(vec![report.clone(), report.clone()]).unwrap().results.len(),
        report.results.len()
    );
    let page = html(&report).unwrap();
    assert!(
        page.contains("<svg") && !page.contains("<script") && !page.contains("src="),
        "one file, no script"
    );
    assert!(junit(&report).unwrap().contains("<testsuite name=\"perfect\""));
}

#[test]
fn the_profiles_are_as_large_as_they_are_said_to_be() {
    let suite = Suite::carried().unwrap();
    let quick = suite.select(&Selection::Quick).unwrap();
    assert!(suite.cases.len() >= 55, "{}", suite.cases.len());
    assert!((20..=32).contains(&quick.cases.len()), "{}", quick.cases.len());
}

#[test]
fn cases_that_rest_on_each_other_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let case = |id: &str, rests_on: &str| {
        serde_json::json!({
            "id": id, "rev": 1, "title": "a test", "level": "promise", "why": "tests", "depends_on": [rests_on],
            "script": [{"status": 503}], "observe": {"until": "window", "window_ms": 1},
            "expect": [{"that": "attempts", "min": 2}],
            "self_test": {"perfect": "pass", "eager": "fail", "never_retries": "vacuous", "tight_loop": "fail", "hangs": "vacuous"}
        })
    };
    let read = |cases: &[serde_json::Value]| {
        let file = serde_json::json!({"edition": "1", "cases": cases});
        std::fs::write(directory.path().join("cases.json"), file.to_string()).unwrap();
        Suite::read(directory.path()).unwrap_err().to_string()
    };
    assert_eq!(read(&[case("a", "b"), case("b", "a")]), "case \"a\": depends_on: leads into a circle");
    assert_eq!(read(&[case("a", "c")]), "case \"a\": depends_on: there is no case \"c\"");
}

/// What the program carries is what lies in the directory, so that no file of it is forgotten.
#[test]
fn the_program_carries_the_whole_directory() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/cases");
    let mut read = Suite::read(directory.as_ref()).unwrap().cases;
    let mut carried = Suite::carried().unwrap().cases;
    read.sort_by(|a, b| a.1.id.cmp(&b.1.id));
    carried.sort_by(|a, b| a.1.id.cmp(&b.1.id));
    assert_eq!(read, carried);
}

#[test]
fn the_cases_are_as_their_schema_says() {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/cases");
    let read = |path: &std::path::Path| -> serde_json::Value {
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    };
    let schema = jsonschema::validator_for(&read(&directory.join("schema.json"))).unwrap();
    for entry in std::fs::read_dir(&directory).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "json") && !path.ends_with("schema.json") {
            let errors: Vec<String> = schema
                .iter_errors(&read(&path))
                .map(|error| format!("{error} at {}", error.instance_path()))
                .collect();
            assert!(errors.is_empty(), "{}: {}", path.display(), errors.join("\n"));
        }
    }
    let good = read(&directory.join("baseline.json"));
    for (place, value) in [
        ("level", serde_json::json!("polite")),
        ("expect", serde_json::json!([{"that": "polite"}])),
        ("expect", serde_json::json!([{"that": "attempts", "most": 3}])),
        ("expect", serde_json::json!([{"that": "not_before", "ms": 3}])),
        ("expect", serde_json::json!([{"that": "soft", "better": {"is": "prompt"}}])),
    ] {
        let mut broken = good.clone();
        broken["cases"][0][place] = value;
        assert!(!schema.is_valid(&broken), "{}", broken["cases"][0][place]);
    }
}

#[test]
fn every_adapter_is_one() {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/adapters");
    for name in conformance::Adapter::names(&directory).unwrap() {
        conformance::Adapter::read(&directory, &name).unwrap();
    }
}
