//! Whether the clone is what was pushed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::bail;
use e2e::{Kind, Tree, same_bytes};

use crate::page::{Page, bytes, counted};
use crate::source::Source;

/// How many paths are named of those that share a reason.
const NAMED: usize = 3;

/// Compares a clone with the folder that was pushed, byte for byte, and tells what was left out and why.
///
/// `warnings` is what the client said when it committed.
pub(crate) fn verify(page: &Page, source: &Source, clone: &Path, warnings: &str) -> anyhow::Result<()> {
    let cloned = Tree::of_repository(clone)?;
    let mut found = Findings::default();
    for (path, kind) in &source.tree.0 {
        match cloned.0.get(path) {
            Some(there) => found.compare(source, clone, path, (kind, there))?,
            None => match reason(source, path, warnings) {
                Some((why, part)) => found.left_out(&why, part),
                None => found.faults.push(format!("{} is missing, and nobody said why", path.display())),
            },
        }
    }
    for (folder, why) in source.left_out.iter().filter(|(path, _)| !source.tree.0.contains_key(path)) {
        found.left_out(why, folder);
    }
    for path in cloned.0.keys().filter(|path| !source.tree.0.contains_key(*path)) {
        found.faults.push(format!("{} was never pushed", path.display()));
    }
    found.tell(page)
}

#[derive(Default)]
struct Findings {
    files: usize,
    executables: usize,
    length: u64,
    changed: BTreeSet<PathBuf>,
    left_out: BTreeMap<String, BTreeSet<PathBuf>>,
    faults: Vec<String>,
}

impl Findings {
    fn compare(
        &mut self,
        source: &Source,
        clone: &Path,
        path: &Path,
        (before, after): (&Kind, &Kind),
    ) -> anyhow::Result<()> {
        let is_same_as = |folder: &Path| same_bytes(&folder.join(path), &clone.join(path));
        if before == after && is_same_as(&source.folder)? {
            self.files += 1;
            if let Kind::File { executable, length } = after {
                self.executables += usize::from(*executable);
                self.length += length;
            }
        } else if is_same_as(&source.copy)? {
            // A log, say, that goes on being written: the clone holds what was committed.
            self.changed.insert(path.to_owned());
        } else {
            self.faults.push(format!("{} differs: {before:?} became {after:?}", path.display()));
        }
        Ok(())
    }

    fn left_out(&mut self, why: &str, path: &Path) {
        self.left_out.entry(why.to_owned()).or_default().insert(path.to_owned());
    }

    fn tell(self, page: &Page) -> anyhow::Result<()> {
        let executables = match self.executables {
            0 => "none of them executable".to_owned(),
            1 => "1 of them executable".to_owned(),
            many => format!("{many} of them executable"),
        };
        page.say(&format!(
            "{} ({}, {executables}) compared with the folder byte for byte: all the same.",
            counted(self.files, "file"),
            bytes(self.length)
        ));
        if !self.changed.is_empty() {
            page.say(&format!(
                "Changed in the folder since it was committed, and cloned as committed: {}.",
                listed(&self.changed)
            ));
        }
        if self.left_out.is_empty() {
            page.say("Nothing was left out.");
        }
        for (why, paths) in &self.left_out {
            page.say(&format!("Left out, as {why}: {}.", listed(paths)));
        }
        for fault in &self.faults {
            page.say(&format!("DIFFERENT: {fault}"));
        }
        match self.faults.len() {
            0 => Ok(()),
            count => bail!("the clone differs from the folder in {}", counted(count, "place")),
        }
    }
}

fn listed(paths: &BTreeSet<PathBuf>) -> String {
    let named: Vec<_> = paths.iter().take(NAMED).map(|path| path.display().to_string()).collect();
    match paths.len() - named.len() {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// Why `path` is not in the clone, and what was left out: the path, or a folder that it lies in. The copying said
/// so, or the client did, or a `.museignore` may have asked.
fn reason<'a>(source: &Source, path: &'a Path, warnings: &str) -> Option<(String, &'a Path)> {
    let parts = || path.ancestors().filter(|part| !part.as_os_str().is_empty());
    let copying = source.left_out.iter().find(|(left_out, _)| left_out == path);
    if let Some((_, why)) = copying {
        return Some((why.clone(), path));
    }
    let said = parts().find_map(|part| Some((warning(part, warnings)?, part)));
    let is_asked = || parts().any(|part| source.tree.0.contains_key(&part.with_file_name(".museignore")));
    said.or_else(|| is_asked().then(|| ("a .museignore asks for it".to_owned(), path)))
}

/// What the client said of `path`.
fn warning(path: &Path, warnings: &str) -> Option<String> {
    let shown = path.display().to_string();
    warnings.lines().find_map(|line| {
        let said = line.strip_prefix("⚠ left out")?;
        match said.strip_prefix(&format!(" {shown}: ")) {
            // The rest of the sentence tells how to take this one path back.
            Some(why) => Some(why.split(", unless").next().unwrap_or(why).to_owned()),
            None => (said.starts_with(": ") && said.contains(&format!("{shown:?}")))
                .then(|| "its name is one that not every system can hold".to_owned()),
        }
    })
}
