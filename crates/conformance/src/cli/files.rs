//! The files that reports are written to, beside what is printed.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;

use crate::report::{Report, html, junit, markdown};

/// Where reports are written to.
#[derive(Debug, Args)]
pub(super) struct ReportFiles {
    /// Write the report as one HTML file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the report as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write the report as a page of Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

impl ReportFiles {
    pub(super) fn is_empty(&self) -> bool {
        self.html.is_none() && self.junit.is_none() && self.markdown.is_none()
    }

    /// Opens each, so that a path that cannot be written is found before the work and not after it.
    pub(super) fn open(&self) -> anyhow::Result<OpenReports> {
        let open = |path: &Option<PathBuf>| path.as_deref().map(OpenReport::open).transpose();
        Ok(OpenReports {
            html: open(&self.html)?,
            junit: open(&self.junit)?,
            markdown: open(&self.markdown)?,
        })
    }
}

/// The same, opened.
#[derive(Debug)]
pub(super) struct OpenReports {
    html: Option<OpenReport>,
    junit: Option<OpenReport>,
    markdown: Option<OpenReport>,
}

impl OpenReports {
    pub(super) fn write(self, report: &Report) -> anyhow::Result<()> {
        if let Some(file) = self.html {
            file.replace(&html(report)?)?;
        }
        if let Some(file) = self.junit {
            file.replace(&junit(report)?)?;
        }
        if let Some(file) = self.markdown {
            file.replace(&markdown(report))?;
        }
        Ok(())
    }
}

/// A file that keeps what it holds until there is something new.
#[derive(Debug)]
pub(super) struct OpenReport {
    path: PathBuf,
    file: File,
}

impl OpenReport {
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .with_context(|| cannot_write(path))?;
        Ok(Self { path: path.to_owned(), file })
    }

    fn replace(self, text: &str) -> anyhow::Result<()> {
        let mut file = self.emptied()?;
        file.write_all(text.as_bytes()).with_context(|| cannot_write(&self.path))
    }

    pub(super) fn replace_with_lines(self, report: &Report) -> anyhow::Result<()> {
        let file = self.emptied()?;
        report.write_lines(BufWriter::new(file)).with_context(|| cannot_write(&self.path))
    }

    fn emptied(&self) -> anyhow::Result<&File> {
        let empty = || {
            // A pipe or a terminal has no length to set.
            if self.file.metadata()?.is_file() { self.file.set_len(0) } else { Ok(()) }
        };
        empty().with_context(|| cannot_write(&self.path))?;
        Ok(&self.file)
    }
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}
