//! Adapters: how to start a client under test, and what it claims. Data, one file a client.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use refusal_script::{Case, Need, Start};
use serde::{Deserialize, Serialize};

/// One client under test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adapter {
    /// Lower-case words joined by hyphens; also the name of the file.
    pub name: String,
    /// What it is, for people.
    pub title: String,
    /// The command line, one element an argument. Placeholders stand inside whole elements and are never
    /// split: `{url}`, `{method}`, `{body_file}`, `{deadline_s}`, `{cap_s}`, `{case}`, `{adapters}`; an element
    /// that is `{urls}` becomes one argument for each operation, `{options}` the options that the case calls for.
    pub command: Vec<String>,
    /// Prints the version.
    #[serde(default)]
    pub version: Vec<String>,
    /// Options added at `{options}` where a case calls for them.
    #[serde(default)]
    pub options: Options,
    /// Environment beside that of the case.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// What the client can do.
    #[serde(default)]
    pub supports: Vec<Need>,
    /// Exit codes that are no crash, beside 0 and 1.
    #[serde(default)]
    pub fine_exits: Vec<i32>,
    /// Where a case has alternatives, the side that the client claims.
    #[serde(default)]
    pub claims: BTreeMap<String, String>,
    /// Cases that are known to fail, with the reason. An entry whose case does not fail is stale.
    #[serde(default)]
    pub known_failing: BTreeMap<String, String>,
}

/// What is added to a command line where a case calls for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// A method other than GET.
    pub method: Vec<String>,
    /// A request body.
    pub body: Vec<String>,
    /// A deadline for the whole call.
    pub deadline: Vec<String>,
    /// A limit to a single wait.
    pub cap: Vec<String>,
}

impl Adapter {
    /// Reads `NAME.toml` from a directory.
    ///
    /// # Errors
    ///
    /// A file that is missing or is no adapter.
    pub fn read(directory: &Path, name: &str) -> anyhow::Result<Self> {
        let plain = !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        ensure!(
            plain,
            "expected the name of an adapter, lower-case letters, digits and hyphens, got {name:?}"
        );
        let path = directory.join(format!("{name}.toml"));
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("there is no adapter {name:?}: cannot read {}", path.display()))?;
        let adapter: Self =
            toml::from_str(&text).with_context(|| format!("{} is no adapter", path.display()))?;
        ensure!(adapter.name == name, "{}: name: expected {name:?}, got {:?}", path.display(), adapter.name);
        ensure!(!adapter.command.is_empty(), "{}: command: expected at least one element", path.display());
        ensure!(
            adapter.options == Options::default()
                || adapter.command.iter().any(|element| element == "{options}"),
            "{}: command: expected an element {{options}} for the options that are listed, got none",
            path.display()
        );
        Ok(adapter)
    }

    /// The names of all adapters of a directory.
    ///
    /// # Errors
    ///
    /// A directory that cannot be read.
    pub fn names(directory: &Path) -> anyhow::Result<Vec<String>> {
        let entries = std::fs::read_dir(directory)
            .with_context(|| format!("cannot read the directory of adapters {}", directory.display()))?;
        let mut names = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                names.push(path.file_stem().unwrap_or_default().to_string_lossy().into_owned());
            }
        }
        names.sort();
        Ok(names)
    }

    /// The adapter of a command line that somebody typed: it supports what its placeholders can express.
    #[must_use]
    pub fn of_command(name: String, command: Vec<String>, mut supports: Vec<Need>) -> Self {
        supports.push(Need::SharedClock);
        let mut adapter = Self {
            name,
            title: command.join(" "),
            command,
            version: Vec::new(),
            options: Options::default(),
            environment: BTreeMap::new(),
            supports,
            // Nobody has said what its exit codes mean; from 126 on they are the shell's and the signals'.
            fine_exits: (2..126).filter(|code| *code != UNSUPPORTED_EXIT).collect(),
            claims: BTreeMap::new(),
            known_failing: BTreeMap::new(),
        };
        for (need, words) in [
            (Need::Post, ["{method}", "RAC_METHOD"]),
            (Need::Body, ["{body_file}", "RAC_BODY_FILE"]),
            (Need::Deadline, ["{deadline_s}", "RAC_DEADLINE_S"]),
            (Need::Cap, ["{cap_s}", "RAC_CAP_S"]),
        ] {
            if adapter.mentions(&words) {
                adapter.supports.push(need);
            }
        }
        adapter
    }

    /// Whether any of these words stands in the command line, or in an option that may be added to it.
    pub(crate) fn mentions(&self, words: &[&str]) -> bool {
        let Options { method, body, deadline, cap } = &self.options;
        [&self.command, method, body, deadline, cap]
            .into_iter()
            .flatten()
            .any(|element| words.iter().any(|word| element.contains(word)))
    }

    /// Why a case is none for this client, if it is not.
    #[must_use]
    pub fn unsupported(&self, case: &Case) -> Option<String> {
        let missing: Vec<String> =
            case.needs.iter().filter(|need| !self.supports.contains(need)).map(need_name).collect();
        if !missing.is_empty() {
            return Some(format!(
                "the case needs {}, which the client does not claim",
                missing.join(" and ")
            ));
        }
        let alternative = case.alternatives.as_ref()?;
        // Who says nothing is a program without a person in front of it.
        let claimed = self.claims.get(&alternative.choice).map_or("automated", String::as_str);
        (claimed != alternative.when)
            .then(|| format!("the case is for clients that are {}; this one is {claimed}", alternative.when))
    }
}

/// The word of the case files, and what claims it for a command line: a placeholder, where one can.
pub(crate) fn need_name(need: &Need) -> String {
    let word = serde_json::to_string(need).unwrap_or_default().trim_matches('"').to_owned();
    match need {
        Need::Post => format!("{word} ({{method}})"),
        Need::Body => format!("{word} ({{body_file}})"),
        Need::Deadline => format!("{word} ({{deadline_s}})"),
        Need::Cap => format!("{word} ({{cap_s}})"),
        Need::TwoOperations | Need::Concurrent => format!("{word} ({{urls}} and --supports {word})"),
        Need::Redirects => format!("{word} (--supports {word})"),
        Need::SharedClock => word,
    }
}

/// The exit code of a client that cannot do what a case needs.
pub const UNSUPPORTED_EXIT: i32 = 77;

/// What the placeholders stand for in one run.
#[derive(Debug, Clone)]
pub(crate) struct Values {
    pub(crate) urls: Vec<String>,
    /// When the operations start, where there are several.
    pub(crate) start: Option<Start>,
    pub(crate) method: String,
    pub(crate) body_file: Option<PathBuf>,
    pub(crate) deadline_s: Option<u64>,
    pub(crate) cap_s: Option<u64>,
    pub(crate) adapters: PathBuf,
    pub(crate) case: String,
}

impl Values {
    fn url(&self) -> &str {
        self.urls.first().map_or("", String::as_str)
    }

    fn text_of(&self, name: &str) -> Option<String> {
        let number = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
        Some(match name {
            "url" => self.url().to_owned(),
            "method" => self.method.clone(),
            "body_file" => self.body_file.as_ref().map(|path| path.display().to_string()).unwrap_or_default(),
            "deadline_s" => number(self.deadline_s),
            "cap_s" => number(self.cap_s),
            "adapters" => self.adapters.display().to_string(),
            "case" => self.case.clone(),
            _ => return None,
        })
    }

    /// One element with its placeholders replaced, each once: what was put in is not looked at again.
    fn fill(&self, element: &str) -> anyhow::Result<String> {
        let mut filled = String::new();
        let mut rest = element;
        while let Some(open) = rest.find('{') {
            let (before, from) = rest.split_at(open);
            filled.push_str(before);
            let close = from.find('}');
            let name = close.and_then(|close| from.get(1..close));
            match (name.and_then(|name| self.text_of(name)), close) {
                (Some(text), Some(close)) => {
                    filled.push_str(&text);
                    rest = from.get(close + 1..).unwrap_or_default();
                }
                (None, Some(_)) if matches!(name, Some("urls" | "options")) => {
                    bail!(
                        "{element:?}: expected {{{}}} to be an element by itself",
                        name.unwrap_or_default()
                    );
                }
                // Braces of the client's own, JSON for example.
                _ => {
                    filled.push('{');
                    rest = from.get(1..).unwrap_or_default();
                }
            }
        }
        filled.push_str(rest);
        Ok(filled)
    }

    /// The whole command line.
    pub(crate) fn command(&self, adapter: &Adapter) -> anyhow::Result<Vec<String>> {
        let mut command = Vec::new();
        for element in &adapter.command {
            match element.as_str() {
                "{urls}" => command.extend(self.urls.iter().cloned()),
                "{options}" => {
                    let Options { method, body, deadline, cap } = &adapter.options;
                    let wanted = [
                        (self.method != "GET", method),
                        (self.body_file.is_some(), body),
                        (self.deadline_s.is_some(), deadline),
                        (self.cap_s.is_some(), cap),
                    ];
                    for (_, options) in wanted.into_iter().filter(|(wanted, _)| *wanted) {
                        for option in options {
                            command.push(self.fill(option)?);
                        }
                    }
                }
                _ => command.push(self.fill(element)?),
            }
        }
        Ok(command)
    }

    /// The same in the environment, for clients that are programs in a language of their own.
    pub(crate) fn environment(&self) -> Vec<(&'static str, String)> {
        let mut environment = vec![
            ("RAC_URL", self.url().to_owned()),
            ("RAC_URLS", self.urls.join(" ")),
            ("RAC_METHOD", self.method.clone()),
            ("RAC_CASE", self.case.clone()),
        ];
        environment.extend(self.start.map(|start| {
            let word = match start {
                Start::Together => "together",
                Start::InTurn => "in_turn",
            };
            ("RAC_START", word.to_owned())
        }));
        for (variable, name, given) in [
            ("RAC_BODY_FILE", "body_file", self.body_file.is_some()),
            ("RAC_DEADLINE_S", "deadline_s", self.deadline_s.is_some()),
            ("RAC_CAP_S", "cap_s", self.cap_s.is_some()),
        ] {
            if given {
                environment.push((variable, self.text_of(name).unwrap_or_default()));
            }
        }
        environment
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> Values {
        Values {
            urls: vec!["http://127.0.0.1:1/a b".to_owned(), "http://127.0.0.1:1/{method}".to_owned()],
            start: Some(Start::Together),
            method: "PUT".to_owned(),
            body_file: Some(PathBuf::from("/tmp/with space")),
            deadline_s: None,
            cap_s: None,
            adapters: PathBuf::from("adapters"),
            case: "t".to_owned(),
        }
    }

    fn command(elements: &[&str]) -> anyhow::Result<Vec<String>> {
        let elements = elements.iter().map(|element| (*element).to_owned()).collect();
        let mut adapter = Adapter::of_command("t".to_owned(), elements, Vec::new());
        adapter.options.body = vec!["--data=@{body_file}".to_owned()];
        adapter.options.deadline = vec!["--never".to_owned()];
        values().command(&adapter)
    }

    #[test]
    fn a_value_with_spaces_stays_one_argument() {
        assert_eq!(command(&["get", "--to={url}"]).unwrap(), ["get", "--to=http://127.0.0.1:1/a b"]);
    }

    #[test]
    fn what_was_put_in_is_not_looked_at_again() {
        assert_eq!(command(&["{urls}"]).unwrap(), ["http://127.0.0.1:1/a b", "http://127.0.0.1:1/{method}"]);
    }

    #[test]
    fn options_come_where_the_case_calls_for_them() {
        assert_eq!(command(&["get", "{options}"]).unwrap(), ["get", "--data=@/tmp/with space"]);
    }

    #[test]
    fn braces_of_the_client_stay_and_lists_stand_alone() {
        assert_eq!(command(&["{\"a\": {method}}"]).unwrap(), ["{\"a\": PUT}"]);
        assert_eq!(
            command(&["x{urls}"]).unwrap_err().to_string(),
            "\"x{urls}\": expected {urls} to be an element by itself"
        );
    }

    #[test]
    fn the_environment_holds_what_the_case_gives_and_no_more() {
        let environment = values().environment();
        let names: Vec<&str> = environment.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["RAC_URL", "RAC_URLS", "RAC_METHOD", "RAC_CASE", "RAC_START", "RAC_BODY_FILE"]);
        assert_eq!(environment[4].1, "together");
    }

    #[test]
    fn a_command_line_supports_what_it_has_words_for_and_what_it_is_said_to() {
        let line = ["sh", "-c", "get -X $RAC_METHOD", "{cap_s}"].map(str::to_owned).to_vec();
        let adapter = Adapter::of_command("t".to_owned(), line, vec![Need::Redirects]);
        assert_eq!(adapter.supports, [Need::Redirects, Need::SharedClock, Need::Post, Need::Cap]);
    }

    #[test]
    fn options_that_have_no_place_in_the_command_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let text = "name = \"t\"\ntitle = \"t\"\ncommand = [\"t\"]\n[options]\ncap = [\"--most\"]\n";
        std::fs::write(directory.path().join("t.toml"), text).unwrap();
        let error = Adapter::read(directory.path(), "t").unwrap_err().to_string();
        assert!(
            error.ends_with(
                "t.toml: command: expected an element {options} for the options that are listed, got none"
            ),
            "{error}"
        );
    }

    #[test]
    fn an_adapter_is_not_read_from_elsewhere() {
        let error = Adapter::read(Path::new("."), "../secret").unwrap_err();
        assert!(error.to_string().starts_with("expected the name of an adapter"), "{error}");
    }
}
