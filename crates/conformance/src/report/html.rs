//! One HTML file: the matrix of clients and cases, and a timeline behind each cell.

use anyhow::Context as _;
use askama::Template;
use refusal_script::{Event, Level, VerdictKind};

use super::summary::tallies;
use super::timeline::{Timeline, WIDTH};
use super::tree::{level_name, verdict_mark};
use super::{ClientRecord, Report, ResultRecord, counted};

/// The heads that are shown of one run.
const MOST_HEADS: usize = 12;

#[derive(Template)]
// Lines and indents of the templates are for their readers: of each, one blank or line end is written.
#[template(path = "report.html", whitespace = "minimize")]
struct Page<'a> {
    report: &'a Report,
    heading: String,
    when: String,
    cases: String,
    processors: String,
    levels: [&'static str; 4],
    cards: Vec<Card<'a>>,
    columns: Vec<&'a ClientRecord>,
    rows: Vec<Row<'a>>,
    details: Vec<Detail<'a>>,
    legend: Vec<(VerdictKind, &'static str, &'static str)>,
    width: f64,
}

struct Card<'a> {
    client: &'a ClientRecord,
    version: &'a str,
    command: String,
    tallies: Vec<LevelTally>,
}

struct LevelTally {
    level: &'static str,
    passed: usize,
    witnessed: usize,
    vacuous: usize,
}

struct Row<'a> {
    group: Option<&'a str>,
    id: &'a str,
    title: &'a str,
    level: &'static str,
    cells: Vec<Option<Cell>>,
}

struct Cell {
    anchor: String,
    kind: VerdictKind,
    mark: &'static str,
    label: String,
}

struct Detail<'a> {
    anchor: String,
    client: &'a ClientRecord,
    id: &'a str,
    title: &'a str,
    level: &'static str,
    basis: &'a str,
    result: &'a ResultRecord,
    mark: &'static str,
    timeline: Option<Timeline>,
    heads: Vec<Head>,
    unseen: usize,
}

/// One head; `None` where it is the same as the one before it.
struct Head {
    caption: String,
    text: Option<String>,
}

/// The whole page; it needs neither network nor script.
///
/// # Errors
///
/// A template that cannot be filled, which the tests of this crate rule out.
pub fn html(report: &Report) -> anyhow::Result<String> {
    // Of who could not be run there is nothing to show but that.
    let columns: Vec<&ClientRecord> =
        report.clients.iter().filter(|client| client.missing.is_none()).collect();
    let mut rows = Vec::new();
    let mut details = Vec::new();
    let mut group = "";
    for (row, record) in report.cases.iter().enumerate() {
        let case = &record.case;
        let mut cells = Vec::new();
        for (column, client) in columns.iter().enumerate() {
            let Some(result) = report.result(&client.name, &case.id) else {
                cells.push(None);
                continue;
            };
            let anchor = format!("r{row}c{column}");
            let (kind, mark) = (result.verdict.kind, verdict_mark(result.verdict.kind));
            let label = format!("{}: {}", client.name, result.verdict);
            cells.push(Some(Cell { anchor: anchor.clone(), kind, mark, label }));
            let (heads, unseen) = heads(result);
            details.push(Detail {
                anchor,
                client,
                id: &case.id,
                title: &case.title,
                level: level_name(case.level),
                basis: case.spec.as_deref().or(case.why.as_deref()).unwrap_or_default(),
                result,
                mark,
                timeline: Timeline::of(case, &result.trace),
                heads,
                unseen,
            });
        }
        let new_group = (record.group != group).then_some(record.group.as_str());
        group = &record.group;
        rows.push(Row {
            group: new_group,
            id: &case.id,
            title: &case.title,
            level: level_name(case.level),
            cells,
        });
    }
    let obey = if columns.len() == 1 { "obeys" } else { "obey" };
    let page = Page {
        report,
        heading: format!("Come back later: how {} {obey}", counted(columns.len(), "client")),
        when: when(report.run.started_unix_ms),
        cases: counted(report.cases.len(), "case"),
        processors: counted(report.run.processors, "processor"),
        levels: [Level::Must, Level::Promise, Level::Should, Level::Quality].map(level_name),
        cards: report.clients.iter().map(|client| card(report, client)).collect(),
        columns,
        rows,
        details,
        legend: legend(),
        width: WIDTH,
    };
    page.render().context("cannot write the report as HTML")
}

fn card<'a>(report: &Report, client: &'a ClientRecord) -> Card<'a> {
    let of_level = |(level, tally): (Level, super::Tally)| LevelTally {
        level: level_name(level),
        passed: tally.passed,
        witnessed: tally.witnessed,
        vacuous: tally.vacuous,
    };
    Card {
        client,
        version: short_version(client),
        command: client.command.join(" "),
        tallies: tallies(report, &client.name).into_iter().map(of_level).collect(),
    }
}

/// What it was built for and with would fill the cell.
pub(super) fn short_version(client: &ClientRecord) -> &str {
    client.version.split(" (").next().unwrap_or_default()
}

fn heads(result: &ResultRecord) -> (Vec<Head>, usize) {
    let mut heads = Vec::new();
    let mut start_us = None;
    let (mut last_request, mut last_answer) = (String::new(), String::new());
    let mut head = |last: &mut String, caption: String, text: String| {
        let same = *last == text;
        let caption = if same { format!("{caption}, the same as before") } else { caption };
        heads.push(Head { caption, text: (!same).then(|| text.clone()) });
        *last = text;
    };
    for event in &result.trace {
        match event {
            Event::Arrival { at_us, method, target, headers, .. } => {
                let start_us = *start_us.get_or_insert(*at_us);
                let fields: String =
                    headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
                let text = format!("{method} {target} HTTP/1.1\n{fields}");
                head(&mut last_request, format!("{} request", at(*at_us, start_us)), text);
            }
            Event::Answer { at_us, head: bytes, .. } => {
                let caption = format!("{} answer", at(*at_us, start_us.unwrap_or(*at_us)));
                let text =
                    if bytes.is_empty() { "(no answer)".to_owned() } else { bytes.replace("\r\n", "\n") };
                let text = text.trim_end().to_owned();
                head(&mut last_answer, caption, text);
            }
            _ => {}
        }
    }
    let unseen = heads.len().saturating_sub(MOST_HEADS);
    heads.truncate(MOST_HEADS);
    (heads, unseen)
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn at(us: u64, start_us: u64) -> String {
    format!("{:.3} s", us.saturating_sub(start_us) as f64 / 1_000_000.0)
}

pub(super) fn when(unix_ms: u64) -> String {
    let seconds = i64::try_from(unix_ms / 1_000).unwrap_or(i64::MAX);
    let date = retry_core::HttpDate::format(retry_core::UnixTime::from_seconds(seconds));
    date.map_or_else(String::new, |date| String::from_utf8_lossy(&date).into_owned())
}

pub(super) fn legend() -> Vec<(VerdictKind, &'static str, &'static str)> {
    use VerdictKind as Kind;
    [
        (Kind::Pass, "as asked"),
        (Kind::PassBounded, "right for as long as it was watched"),
        (Kind::Fail, "proven wrong"),
        (Kind::Suboptimal, "not wrong, and not as good as it could be"),
        (Kind::Vacuous, "never retried, so nothing was shown"),
        (Kind::Coincident, "its own backoff is as slow, so nothing was shown"),
        (Kind::Info, "reported, not graded"),
        (Kind::Unsupported, "the client cannot do what the case needs"),
        (Kind::Blocked, "a case that this one rests on did not come about"),
        (Kind::Crash, "the client broke"),
        (Kind::NoContact, "no request came"),
        (Kind::Inconclusive, "too close to the runner's own lag"),
        (Kind::HarnessError, "the runner's fault"),
    ]
    .map(|(kind, words)| (kind, verdict_mark(kind), words))
    .to_vec()
}
