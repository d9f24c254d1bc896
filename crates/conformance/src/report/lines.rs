//! The JSON lines that hold a report.

use std::io::{self, Write};

use anyhow::{Context as _, bail, ensure};
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
    /// The first line that is no record, by its number; and text that holds no run, more than one, or less
    /// of it than was written.
    pub fn from_lines(text: &str) -> anyhow::Result<Self> {
        let mut run = None;
        let (mut clients, mut cases, mut results) = (Vec::new(), Vec::new(), Vec::new());
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            match serde_json::from_str(line)
                .with_context(|| format!("line {} is no record of a run", index + 1))?
            {
                ReadLine::Run(record) => {
                    let before = run.replace(record);
                    ensure!(before.is_none(), "line {}: expected one run, got a second", index + 1);
                }
                ReadLine::Client(record) => clients.push(record),
                ReadLine::Case(record) => cases.push(*record),
                ReadLine::Result(record) => results.push(record),
            }
        }
        let Some(run) = run else { bail!("expected a line that describes the run, got none") };
        let report = Self { run, clients, cases, results };
        report.check_complete()?;
        Ok(report)
    }

    /// Every client that was there has a result in every case: a file that was cut short has not.
    fn check_complete(&self) -> anyhow::Result<()> {
        ensure!(!self.clients.is_empty() && !self.cases.is_empty(), "expected clients and cases, got none");
        for client in self.clients.iter().filter(|client| client.missing.is_none()) {
            for CaseRecord { case, .. } in &self.cases {
                ensure!(
                    self.result(&client.name, &case.id).is_some(),
                    "expected a result of {:?} in {:?}, got none: was the file cut short?",
                    client.name,
                    case.id
                );
            }
        }
        Ok(())
    }
}
