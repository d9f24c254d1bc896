//! What never takes part in commits: the built-in rules, and those of `.museignore`.

use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// The name of the file, in any directory of the working tree, that says what is left out below it.
const IGNORE_FILE: &str = ".museignore";

/// What is left out unless a `.museignore` takes it back (`!.env.example`): secrets, and what builds leave behind.
const DEFAULTS: &str = "\
.env
.env.*
!.env.example
*.pem
*.key
*.p12
*.pfx
id_rsa*
id_dsa*
id_ecdsa*
id_ed25519*
.netrc
.ssh/
.gnupg/
.aws/
target/
node_modules/
__pycache__/
*.pyc
.venv/
venv/
.tox/
.mypy_cache/
.pytest_cache/
.gradle/
/build/
/dist/
";

/// Why a path is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exclusion {
    /// By a line of a `.museignore`: the user's word.
    Asked,
    /// By the built-in list: worth telling, since nobody asked for it.
    Default,
}

/// Decides which paths of one working tree are left out.
#[derive(Debug)]
pub(super) struct Exclusions {
    defaults: Gitignore,
    /// The files that govern the directory being read, the outermost first, with their directory.
    layers: Vec<(PathBuf, Gitignore)>,
}

impl Exclusions {
    pub(super) fn new(root: &Path) -> Self {
        let mut builder = GitignoreBuilder::new(root);
        for line in DEFAULTS.lines() {
            builder.add_line(None, line).expect("each default is a valid pattern");
        }
        Self { defaults: builder.build().expect("the defaults are valid patterns"), layers: Vec::new() }
    }

    /// Enters `directory`: what an earlier, finished directory said no longer counts, what this one says does.
    ///
    /// Returns what is wrong with its `.museignore`, whose other lines hold.
    pub(super) fn enter(&mut self, directory: &Path) -> Option<ignore::Error> {
        while self.layers.last().is_some_and(|(above, _)| !directory.starts_with(above)) {
            self.layers.pop();
        }
        let file = directory.join(IGNORE_FILE);
        if !file.symlink_metadata().is_ok_and(|found| found.is_file()) {
            return None;
        }
        let mut builder = GitignoreBuilder::new(directory);
        let broken_lines = builder.add(&file);
        match builder.build() {
            Ok(rules) => {
                self.layers.push((directory.to_owned(), rules));
                broken_lines
            }
            Err(error) => Some(error),
        }
    }

    /// Why `path` is left out, if it is. The innermost file that has an opinion decides.
    pub(super) fn excludes(&self, path: &Path, is_directory: bool) -> Option<Exclusion> {
        for (_, rules) in self.layers.iter().rev() {
            match rules.matched(path, is_directory) {
                Match::Ignore(_) => return Some(Exclusion::Asked),
                Match::Whitelist(_) => return None,
                Match::None => {}
            }
        }
        self.defaults.matched(path, is_directory).is_ignore().then_some(Exclusion::Default)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excluded(museignore: &str, path: &str, is_directory: bool) -> Option<Exclusion> {
        let root = tempfile::tempdir().expect("a directory");
        std::fs::write(root.path().join(IGNORE_FILE), museignore).expect("a file");
        let mut exclusions = Exclusions::new(root.path());
        assert!(exclusions.enter(root.path()).is_none(), "{museignore:?} is valid");
        exclusions.excludes(&root.path().join(path), is_directory)
    }

    #[test]
    fn secrets_and_build_folders_are_left_out_by_default_at_any_depth() {
        for secret in
            [".env", ".env.production", "tls/server.pem", "a/b/private.key", "home/id_rsa", "id_ed25519.pub"]
        {
            assert_eq!(excluded("", secret, false), Some(Exclusion::Default), "{secret}");
        }
        for folder in ["target", "crates/x/target", "web/node_modules", "build"] {
            assert_eq!(excluded("", folder, true), Some(Exclusion::Default), "{folder}");
        }
    }

    #[test]
    fn what_only_resembles_a_secret_or_a_build_folder_is_kept() {
        for file in [".env.example", "environment", "target", "pem.txt", ".hidden", "src/keys.rs"] {
            assert_eq!(excluded("", file, false), None, "{file}");
        }
        assert_eq!(excluded("", "src/build", true), None);
    }

    #[test]
    fn a_museignore_takes_a_default_back() {
        assert_eq!(excluded("!fixtures/*.pem\n", "fixtures/test.pem", false), None);
        assert_eq!(excluded("!fixtures/*.pem\n", "other.pem", false), Some(Exclusion::Default));
    }

    #[test]
    fn a_museignore_leaves_out_what_it_names() {
        assert_eq!(excluded("*.log\n!keep.log\n", "a/b.log", false), Some(Exclusion::Asked));
        assert_eq!(excluded("*.log\n!keep.log\n", "keep.log", false), None);
    }

    #[test]
    fn a_museignore_holds_only_below_its_directory() {
        let root = tempfile::tempdir().expect("a directory");
        let inner = root.path().join("inner");
        std::fs::create_dir(&inner).expect("a directory");
        std::fs::write(inner.join(IGNORE_FILE), "*.txt\n").expect("a file");
        let mut exclusions = Exclusions::new(root.path());
        exclusions.enter(root.path());
        exclusions.enter(&inner);
        assert_eq!(exclusions.excludes(&inner.join("a.txt"), false), Some(Exclusion::Asked));
        exclusions.enter(&root.path().join("other"));
        assert_eq!(exclusions.excludes(&root.path().join("other/a.txt"), false), None);
    }
}
