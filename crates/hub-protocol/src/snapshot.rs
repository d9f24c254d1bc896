//! All files of one state, and how an id is made of them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::io::Read;

use serde::de::{self, DeserializeSeed, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::quoted::quoted;
use crate::{Id, IdHasher, RepositoryPath};

/// One file of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// The id of the content.
    pub object: Id,
    /// Whether the owner may execute the file; left out of the JSON where it is false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub executable: bool,
}

/// All files of one state of a repository, by path.
///
/// The canonical JSON is what [`serde_json::to_vec`] makes of it: `{"files":{PATH:{"object":ID}}}`, no white
/// space, paths in ascending byte order, and `,"executable":true` after the id where it holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Snapshot {
    files: BTreeMap<RepositoryPath, FileEntry>,
}

impl Snapshot {
    /// Checks `files`.
    ///
    /// # Errors
    ///
    /// [`SnapshotError`] where one path is both a file and the folder of another.
    pub fn new(files: BTreeMap<RepositoryPath, FileEntry>) -> Result<Self, SnapshotError> {
        // Neighbours in the map share most of their folders: only what differs from the last path is looked up.
        let mut previous = "";
        for path in files.keys() {
            let path = path.as_str();
            let same = path.bytes().zip(previous.bytes()).take_while(|(left, right)| left == right).count();
            for (end, _) in path.match_indices('/').filter(|(end, _)| *end >= same) {
                if let Some((file, _)) = files.get_key_value(&path[..end]) {
                    return Err(SnapshotError { file: file.to_string(), below: path.to_owned() });
                }
            }
            previous = path;
        }
        Ok(Self { files })
    }

    /// The files, in the byte order of their paths.
    #[must_use]
    pub fn files(&self) -> &BTreeMap<RepositoryPath, FileEntry> {
        &self.files
    }

    /// Gives the files away.
    #[must_use]
    pub fn into_files(self) -> BTreeMap<RepositoryPath, FileEntry> {
        self.files
    }

    /// The ids of the contents; one that is used twice comes twice.
    pub fn objects(&self) -> impl Iterator<Item = Id> {
        self.files.values().map(|entry| entry.object)
    }

    /// The SHA-256 over the sorted strings `path NUL object`, joined by NUL.
    ///
    /// An executable file's string is `path NUL object NUL x` (ours), so that the bit cannot change under an
    /// id. A path holds neither NUL nor colon, so no two snapshots hash the same bytes.
    #[must_use]
    pub fn id(&self) -> Id {
        let mut hasher = IdHasher::new();
        // The order of the map is that of the strings, as NUL sorts before whatever a path can hold.
        for (number, (path, entry)) in self.files.iter().enumerate() {
            if number > 0 {
                hasher.update("\0");
            }
            hasher.update(path.as_str());
            hasher.update("\0");
            entry.object.with_text(|text| hasher.update(text));
            if entry.executable {
                hasher.update("\0x");
            }
        }
        hasher.finish()
    }
}

/// Hands over the id of each file's content in a snapshot's JSON, and never holds the snapshot.
///
/// For JSON that was a [`Snapshot`] before: neither paths nor their order are looked at.
///
/// # Errors
///
/// What is wrong with the JSON, or with reading it. What was handed over before is to be thrown away.
pub fn objects_in(json: impl Read, visit: impl FnMut(Id)) -> serde_json::Result<()> {
    struct Fields<F>(F);
    struct Files<'f, F>(&'f mut F);

    impl<'de, F: FnMut(Id)> Visitor<'de> for Fields<F> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a snapshot")
        }

        fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
            while map.next_key::<IgnoredAny>()?.is_some() {
                map.next_value_seed(Files(&mut self.0))?;
            }
            Ok(())
        }
    }

    impl<'de, F: FnMut(Id)> DeserializeSeed<'de> for Files<'_, F> {
        type Value = ();

        fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
            deserializer.deserialize_map(self)
        }
    }

    impl<'de, F: FnMut(Id)> Visitor<'de> for Files<'_, F> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a map of paths to files")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            while map.next_key::<IgnoredAny>()?.is_some() {
                (self.0)(map.next_value::<FileEntry>()?.object);
            }
            Ok(())
        }
    }

    let mut deserializer = serde_json::Deserializer::from_reader(json);
    deserializer.deserialize_map(Fields(visit))?;
    deserializer.end()
}

/// Two files of which one would have to be the folder of the other.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the path {} is a file, and {} lies below it", quoted(.file), quoted(.below))]
pub struct SnapshotError {
    file: String,
    below: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    #[serde(deserialize_with = "distinct_files")]
    files: BTreeMap<RepositoryPath, FileEntry>,
}

impl TryFrom<Unchecked> for Snapshot {
    type Error = SnapshotError;

    fn try_from(unchecked: Unchecked) -> Result<Self, SnapshotError> {
        Self::new(unchecked.files)
    }
}

/// A map in which a repeated path is an error, where serde's own would let the last one win.
fn distinct_files<'de, D>(deserializer: D) -> Result<BTreeMap<RepositoryPath, FileEntry>, D::Error>
where
    D: Deserializer<'de>,
{
    struct Files;

    impl<'de> Visitor<'de> for Files {
        type Value = BTreeMap<RepositoryPath, FileEntry>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a map of paths to files")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut files = BTreeMap::new();
            while let Some((path, entry)) = map.next_entry::<RepositoryPath, FileEntry>()? {
                match files.entry(path) {
                    Entry::Vacant(vacant) => vacant.insert(entry),
                    Entry::Occupied(first) => {
                        let path = quoted(first.key().as_str());
                        return Err(de::Error::custom(format_args!("the path {path} comes twice")));
                    }
                };
            }
            Ok(files)
        }
    }

    deserializer.deserialize_map(Files)
}
