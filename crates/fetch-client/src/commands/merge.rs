//! Two sets of changes to one set of files, file by file.

use std::collections::{BTreeMap, BTreeSet};

use hub_protocol::{FileEntry, RepositoryPath, Snapshot};

/// What `ours` and `theirs` made of `base`, put together.
///
/// A file that only one side changed is taken from that side; that both changed alike, from either.
///
/// # Errors
///
/// The files that both changed differently, and those where one side's file is the other's directory.
pub(super) fn merge(
    base: &Snapshot,
    ours: &Snapshot,
    theirs: &Snapshot,
) -> Result<Snapshot, Vec<RepositoryPath>> {
    let mut merged: BTreeMap<RepositoryPath, FileEntry> = BTreeMap::new();
    let mut conflicts = BTreeSet::new();
    let paths: BTreeSet<&RepositoryPath> = ours.files().keys().chain(theirs.files().keys()).collect();
    for path in paths {
        let [in_base, in_ours, in_theirs] = [base, ours, theirs].map(|side| side.files().get(path));
        let kept = if in_ours == in_theirs || in_theirs == in_base {
            in_ours
        } else if in_ours == in_base {
            in_theirs
        } else {
            conflicts.insert(path.clone());
            continue;
        };
        if let Some(entry) = kept {
            merged.insert(path.clone(), *entry);
        }
    }
    for path in merged.keys() {
        conflicts.extend(
            path.ancestors().filter_map(|above| merged.get_key_value(above)).map(|(file, _)| file.clone()),
        );
    }
    if !conflicts.is_empty() {
        return Err(conflicts.into_iter().collect());
    }
    Ok(Snapshot::new(merged).expect("no file lies below another: those are conflicts"))
}

#[cfg(test)]
mod tests {
    use hub_protocol::Id;

    use super::*;

    fn snapshot(files: &[(&str, &str)]) -> Snapshot {
        let files = files.iter().map(|(path, content)| {
            let path = RepositoryPath::new(*path).expect("a path");
            let executable = content.starts_with("#!");
            (path, FileEntry { object: Id::of(content), executable })
        });
        Snapshot::new(files.collect()).expect("a snapshot")
    }

    fn merged(
        base: &[(&str, &str)],
        ours: &[(&str, &str)],
        theirs: &[(&str, &str)],
    ) -> Result<Snapshot, String> {
        merge(&snapshot(base), &snapshot(ours), &snapshot(theirs))
            .map_err(|paths| paths.iter().map(RepositoryPath::as_str).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn changes_to_different_files_are_put_together() {
        let result = merged(
            &[("a", "1"), ("b", "1"), ("c", "1"), ("d", "1")],
            &[("a", "2"), ("b", "1"), ("d", "1"), ("ours", "new")],
            &[("a", "1"), ("b", "2"), ("c", "1"), ("theirs", "new")],
        );
        assert_eq!(result, Ok(snapshot(&[("a", "2"), ("b", "2"), ("ours", "new"), ("theirs", "new")])));
    }

    #[test]
    fn the_same_change_on_both_sides_is_no_conflict() {
        let result = merged(&[("a", "1"), ("b", "1")], &[("a", "2")], &[("a", "2")]);
        assert_eq!(result, Ok(snapshot(&[("a", "2")])));
    }

    #[test]
    fn every_file_that_both_changed_differently_is_a_conflict() {
        let result = merged(
            &[("a", "1"), ("b", "1"), ("c", "1"), ("same", "1")],
            &[("a", "2"), ("c", "2"), ("new", "ours"), ("same", "1")],
            &[("a", "3"), ("b", "2"), ("new", "theirs"), ("same", "1")],
        );
        assert_eq!(result, Err("a b c new".to_owned()));
    }

    #[test]
    fn a_file_that_becomes_executable_here_and_changes_there_is_a_conflict() {
        let result = merged(&[("a", "1")], &[("a", "#!")], &[("a", "2")]);
        assert_eq!(result, Err("a".to_owned()));
    }

    #[test]
    fn a_file_on_one_side_that_is_a_directory_on_the_other_is_a_conflict() {
        assert_eq!(merged(&[], &[("a", "1")], &[("a/b", "1")]), Err("a".to_owned()));
        assert_eq!(merged(&[], &[("a/b/c", "1")], &[("a", "1")]), Err("a".to_owned()));
    }

    #[test]
    fn a_file_that_one_side_turned_into_a_directory_is_one() {
        let result = merged(&[("a", "1")], &[("a", "1")], &[("a/b", "1")]);
        assert_eq!(result, Ok(snapshot(&[("a/b", "1")])));
    }
}
