//! The cases: those of the edition that the program carries, or those of a directory.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use refusal_script::{Case, Edition};

/// The files of `conformance/cases`, so that the program needs no data beside it.
const CARRIED: [(&str, &str); 10] = [
    ("baseline", include_str!("../../../conformance/cases/baseline.json")),
    ("seconds", include_str!("../../../conformance/cases/seconds.json")),
    ("dates", include_str!("../../../conformance/cases/dates.json")),
    ("malformed", include_str!("../../../conformance/cases/malformed.json")),
    ("overflow", include_str!("../../../conformance/cases/overflow.json")),
    ("field", include_str!("../../../conformance/cases/field.json")),
    ("limits", include_str!("../../../conformance/cases/limits.json")),
    ("statuses", include_str!("../../../conformance/cases/statuses.json")),
    ("transport", include_str!("../../../conformance/cases/transport.json")),
    ("operations", include_str!("../../../conformance/cases/operations.json")),
];

/// Cases in the order in which they are reported, each with the group that its file names.
#[derive(Debug, Clone)]
pub struct Suite {
    /// The edition that all of them belong to.
    pub edition: String,
    /// Group and case.
    pub cases: Vec<(String, Case)>,
}

/// Which cases to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// Those that have each caught a fault in a released client.
    Quick,
    /// All of them.
    Full,
    /// These, by id; a `*` at the end stands for anything.
    Named(Vec<String>),
}

impl Suite {
    /// The edition that the program carries.
    ///
    /// # Errors
    ///
    /// Data that contradicts itself, which the tests of this crate rule out.
    pub fn carried() -> anyhow::Result<Self> {
        Self::of(CARRIED.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())))
    }

    /// All `*.json` files of a directory but `schema.json`.
    ///
    /// # Errors
    ///
    /// A directory or file that cannot be read, and data that contradicts itself.
    pub fn read(directory: &Path) -> anyhow::Result<Self> {
        let mut files = Vec::new();
        let entries = std::fs::read_dir(directory)
            .with_context(|| format!("cannot read the directory of cases {}", directory.display()))?;
        for entry in entries {
            let path = entry?.path();
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            if path.extension().is_some_and(|extension| extension == "json") && name != "schema" {
                let text = std::fs::read_to_string(&path)
                    .with_context(|| format!("cannot read {}", path.display()))?;
                files.push((name, text));
            }
        }
        ensure!(!files.is_empty(), "{} holds no cases: expected files named *.json", directory.display());
        files.sort();
        Self::of(files.into_iter())
    }

    fn of(files: impl Iterator<Item = (String, String)>) -> anyhow::Result<Self> {
        let mut suite = Self { edition: String::new(), cases: Vec::new() };
        for (group, text) in files {
            let edition = Edition::from_json(&text).with_context(|| format!("{group}.json"))?;
            ensure!(
                suite.edition.is_empty() || suite.edition == edition.edition,
                "{group}.json: expected edition {}, got {}",
                suite.edition,
                edition.edition
            );
            suite.edition = edition.edition;
            suite.cases.extend(edition.cases.into_iter().map(|case| (group.clone(), case)));
        }
        suite.check()?;
        Ok(suite)
    }

    fn check(&self) -> anyhow::Result<()> {
        let mut ids = BTreeSet::new();
        for (_, case) in &self.cases {
            ensure!(ids.insert(case.id.as_str()), "case {:?}: id: expected once, got twice", case.id);
        }
        for (_, case) in &self.cases {
            for id in &case.depends_on {
                ensure!(ids.contains(id.as_str()), "case {:?}: depends_on: there is no case {id:?}", case.id);
            }
        }
        // What rests on nothing that is left is taken away, until only those that lead back to themselves, and
        // what rests on them, are left.
        let mut left: Vec<&Case> = self.cases.iter().map(|(_, case)| case).collect();
        loop {
            let ids: BTreeSet<&str> = left.iter().map(|case| case.id.as_str()).collect();
            left.retain(|case| case.depends_on.iter().any(|id| ids.contains(id.as_str())));
            if left.len() == ids.len() {
                break;
            }
        }
        if let Some(case) = left.first() {
            bail!("case {:?}: depends_on: leads into a circle", case.id);
        }
        Ok(())
    }

    /// The case with an id.
    ///
    /// # Errors
    ///
    /// An id that no case has.
    pub fn case(&self, id: &str) -> anyhow::Result<&Case> {
        match self.cases.iter().find(|(_, case)| case.id == id) {
            Some((_, case)) => Ok(case),
            None => bail!("{}", self.unknown(id)),
        }
    }

    /// There is no such case; whoever wrote its name may have meant one that begins with the same word.
    fn unknown(&self, name: &str) -> String {
        let word = name.split(['-', '*']).next().unwrap_or_default();
        let ids = self.cases.iter().map(|(_, case)| case.id.as_str());
        let near: Vec<&str> = ids.filter(|id| id.split('-').next() == Some(word)).collect();
        let all = "`conformance list` names them all";
        if near.is_empty() {
            return format!("there is no case {name:?}; {all}");
        }
        format!("there is no case {name:?}, but {}; {all}", near.join(", "))
    }

    /// The selected cases and those that they depend on.
    ///
    /// # Errors
    ///
    /// A name that no case has.
    pub fn select(&self, selection: &Selection) -> anyhow::Result<Self> {
        let mut wanted: BTreeSet<&str> = BTreeSet::new();
        match selection {
            Selection::Full => return Ok(self.clone()),
            Selection::Quick => wanted
                .extend(self.cases.iter().filter(|(_, case)| case.quick).map(|(_, case)| case.id.as_str())),
            Selection::Named(names) => {
                for name in names {
                    let matches = |id: &&str| match name.strip_suffix('*') {
                        Some(start) => id.starts_with(start),
                        None => id == name,
                    };
                    let ids = self.cases.iter().map(|(_, case)| case.id.as_str());
                    let mut named = ids.filter(matches).peekable();
                    ensure!(named.peek().is_some(), "{}", self.unknown(name));
                    wanted.extend(named);
                }
            }
        }
        // No chain of dependencies is longer than there are cases.
        for _ in 0..self.cases.len() {
            let more: Vec<&str> = self
                .cases
                .iter()
                .filter(|(_, case)| wanted.contains(case.id.as_str()))
                .flat_map(|(_, case)| case.depends_on.iter().map(String::as_str))
                .filter(|id| !wanted.contains(id))
                .collect();
            if more.is_empty() {
                break;
            }
            wanted.extend(more);
        }
        let cases =
            self.cases.iter().filter(|(_, case)| wanted.contains(case.id.as_str())).cloned().collect();
        Ok(Self { edition: self.edition.clone(), cases })
    }
}
