//! What is written comes back as it was.

use std::io::{self, Read};

use hub_protocol::{
    Commit, Id, Limits, PackSink, PackWriter, RepositoryPath, Snapshot, Summary, Totals, read_pack,
};
use proptest::prelude::*;

use crate::collect::{Collected, read};
use crate::forge::Records;
use crate::sample::{Content, HELLO, commit, snapshot};

fn assert_comes_back(content: &Content) -> (Summary, Collected) {
    let (pack, written) = content.pack();
    let (summary, collected) = read(&pack).unwrap();

    assert_eq!(summary, written);
    assert_eq!((summary.mpack_id, summary.size), (Id::of(&pack), pack.len() as u64));
    let totals = content.totals();
    assert_eq!((summary.commits, summary.snapshots), (totals.commits, totals.snapshots));
    assert_eq!((summary.objects, summary.bytes), (totals.objects, totals.bytes));

    assert!(
        collected.commits.iter().eq(&content
            .commits
            .iter()
            .map(|it| (it.id(), it.clone()))
            .collect::<Vec<_>>())
    );
    assert!(
        collected.snapshots.iter().eq(&content
            .snapshots
            .iter()
            .map(|it| (it.id(), it.clone()))
            .collect::<Vec<_>>())
    );
    assert_eq!(collected.objects, content.objects_by_id());
    (summary, collected)
}

#[test]
fn an_empty_pack_comes_back() {
    assert_comes_back(&Content::default());
}

#[test]
fn every_kind_of_entry_comes_back() {
    assert_comes_back(&Content::small());
}

#[test]
fn an_empty_object_comes_back() {
    let files = snapshot(&[("empty", b"", false)]);
    let root = commit(&[], &files, "");
    assert_comes_back(&Content { commits: vec![root], snapshots: vec![files], objects: vec![Vec::new()] });
}

#[test]
fn names_and_messages_outside_ascii_come_back() {
    let files = snapshot(&[("über/日本.txt", HELLO, false), ("🎼/‍.mscz", HELLO, true)]);
    let root = commit(&[], &files, "später\n\n\u{1}\u{7f}\"\\ 🎵");
    assert_comes_back(&Content {
        commits: vec![root],
        snapshots: vec![files],
        objects: vec![HELLO.to_vec()],
    });
}

#[test]
fn a_snapshot_without_files_comes_back() {
    assert_comes_back(&Content { snapshots: vec![snapshot(&[])], ..Content::default() });
}

#[test]
fn an_object_beyond_every_buffer_comes_back_in_bounded_pieces() {
    let object: Vec<u8> = incompressible().take(5_000_001).collect();
    let content =
        Content { objects: vec![b"before".to_vec(), object, b"after".to_vec()], ..Content::default() };
    let (_, collected) = assert_comes_back(&content);
    assert!(collected.largest_chunk <= 128 * 1024);
}

#[test]
fn objects_around_the_size_of_a_buffer_come_back() {
    for len in [131_071, 131_072, 131_073, 262_144, 131_072 - 33 - 41] {
        let object: Vec<u8> = incompressible().take(len).collect();
        assert_comes_back(&Content { objects: vec![object, HELLO.to_vec()], ..Content::default() });
    }
}

#[test]
fn a_snapshot_beyond_every_buffer_comes_back() {
    let names: Vec<String> =
        (0..5_000).map(|number| format!("folder {}/file {number}", number % 71)).collect();
    let files: Vec<_> = names.iter().map(|name| (&name[..], name.as_bytes(), false)).collect();
    assert_comes_back(&Content { snapshots: vec![snapshot(&files)], ..Content::default() });
}

#[test]
fn a_pack_comes_back_from_a_source_that_gives_a_byte_at_a_time() {
    struct Trickle<'a>(&'a [u8]);
    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = buffer.len().min(1);
            self.0.read(&mut buffer[..count])
        }
    }
    let content = Content::small();
    let (pack, written) = content.pack();
    let mut collected = Collected::default();
    let summary = read_pack(Trickle(&pack), &Limits::default(), &mut collected).unwrap();
    assert_eq!(summary, written);
    assert_eq!(collected.objects, content.objects_by_id());
}

#[test]
fn a_pack_may_lack_what_the_receiver_is_meant_to_hold() {
    let files = snapshot(&[("README.md", HELLO, false)]);
    let child = commit(&[Id::of("a commit that the receiver has")], &files, "incremental");
    assert_comes_back(&Content { commits: vec![child], snapshots: vec![files], objects: vec![] });
}

/// A second implementation need not write the canonical JSON: the id covers what it says, not how.
#[test]
fn json_of_another_layout_is_read() {
    let files = snapshot(&[("README.md", HELLO, false)]);
    let json = format!(
        r#" {{ "files": {{ "\u0052EADME.md": {{ "executable": false, "object": "{}" }} }} }}"#,
        Id::of(HELLO)
    );
    let pack = Records::totals(0, 1, 0, 0).entry(b'S', files.id(), json.as_bytes()).end().pack();
    assert_eq!(read(&pack).unwrap().1.snapshots, [(files.id(), files)]);
}

#[test]
fn two_writers_of_the_same_content_write_the_same_pack() {
    assert_eq!(Content::small().pack(), Content::small().pack());
}

#[test]
fn content_that_arrives_in_small_reads_is_packed_whole() {
    let object: Vec<u8> = incompressible().take(300_000).collect();
    let (front, back) = object.split_at(7);
    let mut writer =
        PackWriter::new(Vec::new(), Totals { objects: 1, bytes: 300_000, ..Totals::default() }).unwrap();
    writer.object(Id::of(&object), 300_000, front.chain(back)).unwrap();
    let (pack, _) = writer.finish().unwrap();
    assert_eq!(read(&pack).unwrap().1.objects[&Id::of(&object)], object);
}

/// Sources are interrupted by signals: that is not the end of them.
#[test]
fn interrupted_reads_are_taken_up_again() {
    struct Interrupted<'a>(&'a [u8], bool);
    impl Read for Interrupted<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 { Err(io::ErrorKind::Interrupted.into()) } else { self.0.read(buffer) }
        }
    }
    let totals = Totals { objects: 1, bytes: HELLO.len() as u64, ..Totals::default() };
    let mut writer = PackWriter::new(Vec::new(), totals).unwrap();
    writer.object(Id::of(HELLO), totals.bytes, Interrupted(HELLO, false)).unwrap();
    let (pack, written) = writer.finish().unwrap();
    let read = read_pack(Interrupted(&pack, false), &Limits::default(), &mut Collected::default()).unwrap();
    assert_eq!(read, written);
}

/// A history of snapshots is the same list of files again and again, and is packed as if it were there once.
#[test]
fn a_second_snapshot_of_many_files_costs_little() {
    let names: Vec<String> =
        (0..20_000).map(|number| format!("folder {}/file {number}", number % 71)).collect();
    let mut files: Vec<_> = names.iter().map(|name| (&name[..], name.as_bytes(), false)).collect();
    let first = snapshot(&files);
    files[7_000].1 = HELLO;
    let second = snapshot(&files);
    let alone = Content { snapshots: vec![first.clone()], ..Content::default() }.pack().1.size;
    let both = Content { snapshots: vec![first, second], ..Content::default() }.pack().1.size;
    assert!(both < alone + alone / 10, "one snapshot takes {alone} bytes, two take {both}");
}

/// A multiplicative congruence: nothing that zstd could make shorter.
pub(crate) fn incompressible() -> impl Iterator<Item = u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_packed_comes_back(
        objects in prop::collection::btree_set(prop::collection::vec(any::<u8>(), 0..3_000), 0..20),
        names in prop::collection::btree_set("[a-zé]{1,9}(/[a-z]{1,5}){0,3}\\.txt", 0..20),
        messages in prop::collection::btree_set("[^\0]{0,40}", 0..8),
        executable in any::<bool>(),
    ) {
        // A device of Windows, such as `nul.txt`, is drawn now and then.
        let plain = names.iter().filter(|name| RepositoryPath::new(&name[..]).is_ok());
        let files: Vec<_> = plain.map(|name| (&name[..], name.as_bytes(), executable)).collect();
        let files = snapshot(&files);
        let mut commits = Vec::new();
        for message in &messages {
            let parents: Vec<Id> = commits.iter().map(Commit::id).collect();
            commits.push(commit(&parents, &files, message));
        }
        assert_comes_back(&Content { commits, snapshots: vec![files], objects: objects.into_iter().collect() });
    }

    #[test]
    fn no_input_makes_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(read(&bytes).is_err());
        prop_assert!(read(&crate::forge::around(&bytes)).is_err());
        let records = Records(bytes);
        // An empty pack could be drawn by chance, were it not 34 bytes long.
        prop_assert!(read(&records.pack()).is_err());
        prop_assert!(read(&Records::totals(1, 1, 1, 50).bytes(&records.0).pack()).is_err());
    }
}

/// A receiver that has read the pack before takes the objects alone, and the same account of the whole.
#[test]
fn a_sink_that_wants_no_history_gets_the_objects_alone() {
    struct Objects(Collected);

    impl PackSink for Objects {
        fn wants_history(&self) -> bool {
            false
        }
        fn commit(&mut self, id: Id, _: Commit) -> io::Result<()> {
            panic!("the commit {id} was not wanted");
        }
        fn snapshot(&mut self, id: Id, _: Snapshot) -> io::Result<()> {
            panic!("the snapshot {id} was not wanted");
        }
        fn object_begin(&mut self, id: Id, len: u64) -> io::Result<()> {
            self.0.object_begin(id, len)
        }
        fn object_chunk(&mut self, chunk: &[u8]) -> io::Result<()> {
            self.0.object_chunk(chunk)
        }
        fn object_done(&mut self, id: Id) -> io::Result<()> {
            self.0.object_done(id)
        }
    }

    let (pack, written) = Content::small().pack();
    let mut objects = Objects(Collected::default());
    assert_eq!(read_pack(&pack[..], &Limits::default(), &mut objects).unwrap(), written);
    assert_eq!(objects.0.objects, Content::small().objects_by_id());
}
