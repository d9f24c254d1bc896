//! The files under `conformance/vectors/`, held to their schema and to the answers of `decide`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

const EDITION: &str = "2026.1";

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/vectors")
}

fn read(name: &str) -> Value {
    let path = directory().join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every file of vectors by its name.
fn files() -> BTreeMap<String, Value> {
    let entries = fs::read_dir(directory()).expect("the vectors are part of the repository");
    let names = entries.map(|entry| entry.expect("a readable directory").file_name());
    names
        .map(|name| name.into_string().expect("names are ASCII"))
        .filter(|name| name.ends_with(".json") && name != "schema.json")
        .map(|name| (name.clone(), read(&name)))
        .collect()
}

fn vectors() -> Vec<Value> {
    files().into_values().flat_map(|file| file["vectors"].as_array().cloned().unwrap_or_default()).collect()
}

fn text<'a>(vector: &'a Value, field: &str) -> &'a str {
    vector[field].as_str().unwrap_or_default()
}

/// Section 11: every pinned field of every answer; all disagreements at once, by id.
#[test]
fn every_vector_is_answered_as_pinned() {
    let mut disagreements = Vec::new();
    for vector in vectors() {
        let mut line = Vec::new();
        conformance::answer_line(vector.to_string().as_bytes(), &mut line);
        let answer: Value = serde_json::from_slice(&line).expect("answers are JSON");
        for (field, expected) in vector["expect"].as_object().into_iter().flatten() {
            if answer.get(field) != Some(expected) {
                let (id, why) = (text(&vector, "id"), text(&vector, "why"));
                disagreements.push(format!("{id}: {field}: expected {expected}, got {answer} ({why})"));
            }
        }
    }
    assert!(disagreements.is_empty(), "{} disagree:\n{}", disagreements.len(), disagreements.join("\n"));
}

/// Every file is what its schema says, so a reader in another language can rely on the schema.
#[test]
fn every_file_fits_the_schema() {
    let schema = jsonschema::validator_for(&read("schema.json")).expect("the schema is one");
    for (name, file) in files() {
        let errors: Vec<_> =
            schema.iter_errors(&file).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{name}:\n{}", errors.join("\n"));
    }
}

/// Every file names the edition, every vector its id, once, and a reason for being there.
#[test]
fn every_vector_has_an_id_of_its_own_and_a_reason() {
    for (name, file) in files() {
        assert_eq!(file["edition"], EDITION, "{name}");
    }
    let mut ids = BTreeSet::new();
    for vector in vectors() {
        let id = text(&vector, "id");
        assert!(!id.is_empty() && ids.insert(id.to_owned()), "missing or repeated id: {vector}");
        assert!(!text(&vector, "why").is_empty(), "{id}: no reason");
        assert!(vector["expect"].as_object().is_some_and(|expect| !expect.is_empty()), "{id}: pins nothing");
    }
}

/// The least that an edition covers, for each kind of question.
#[test]
fn there_are_enough_vectors_of_each_kind() {
    for (operation, least) in [("parse", 180), ("session", 120), ("windows", 40)] {
        let count = vectors().iter().filter(|vector| text(vector, "op") == operation).count();
        assert!(count >= least, "{operation}: expected at least {least} vectors, got {count}");
    }
}

/// The inputs that broke released clients (F01 to F23, F30) are all among the vectors.
#[test]
fn every_fault_that_vectors_can_show_is_cited() {
    let reasons: String = vectors().iter().map(|vector| format!("{}\n", text(vector, "why"))).collect();
    let missing: Vec<_> =
        (1..=23).chain([30]).map(|fault| format!("F{fault:02}")).filter(|id| !reasons.contains(id)).collect();
    assert!(missing.is_empty(), "not cited: {missing:?}");
}
