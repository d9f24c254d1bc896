//! The JSON lines that hold a report.

use std::io::{self, Write};

use anyhow::{Context as _, bail};
use serde::{Deserialize, Serialize};

use super::{CaseRecord, ClientRecord, Report, ResultRecord, RunRecord};

#[derive(Serialize)]
#[serde(tag = "record", rename_all = "snake_case")]
enum Line<'a> {
    Run(&'a RunRecord),
    Client(&'a ClientRecord),
    Case(&'a CaseRecord),
    Result(&'a ResultRecord),
}

#[derive(Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
enum ReadLine {
    Run(RunRecord),
    Client(ClientRecord),
    Case(Box<CaseRecord>),
    Result(ResultRecord),
}

impl Report {
    /// Writes the run, the clients, the cases and the results, one JSON object a line.
    ///
    /// # Errors
    ///
    /// What writing fails with.
    pub fn write_lines(&self, mut output: impl Write) -> io::Result<()> {
        let lines = std::iter::once(Line::Run(&self.run))
            .chain(self.clients.iter().map(Line::Client))
            .chain(self.cases.iter().map(Line::Case))
            .chain(self.results.iter().map(Line::Result));
        for line in lines {
            serde_json::to_writer(&mut output, &line)?;
            output.write_all(b"\n")?;
        }
        output.flush()
    }

    /// Reads what [`Report::write_lines`] wrote.
    ///
    /// # Errors
    ///
    /// The first line that is no record, by its number, and text without a run.
    pub fn from_lines(text: &str) -> anyhow::Result<Self> {
        let mut run = None;
        let (mut clients, mut cases, mut results) = (Vec::new(), Vec::new(), Vec::new());
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            match serde_json::from_str(line)
                .with_context(|| format!("line {} is no record of a run", index + 1))?
            {
                ReadLine::Run(record) => run = Some(record),
                ReadLine::Client(record) => clients.push(record),
                ReadLine::Case(record) => cases.push(*record),
                ReadLine::Result(record) => results.push(record),
            }
        }
        let Some(run) = run else { bail!("expected a line that describes the run, got none") };
        Ok(Self { run, clients, cases, results })
    }
}
