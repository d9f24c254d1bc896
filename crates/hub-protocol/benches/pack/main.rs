//! How long writing and reading a pack takes, against its peer: zstd and SHA-256 by themselves, at the same level
//! and over the same bytes, which is the work that no pack of this format can do without.
//!
//! `cargo bench -p hub-protocol --bench pack`

mod clock;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::io;
use std::time::Duration;

use hub_protocol::{
    Commit, FileEntry, Id, Limits, PackSink, PackWriter, RepositoryPath, Snapshot, Totals, read_pack,
};

use clock::best_of_three;

const MIB: usize = 1 << 20;

fn main() {
    println!("{:28}{:>10}{:>10}{:>22}{:>22}", "", "MiB", "packed", "write (of peer)", "read (of peer)");
    objects("one object, random", &[noise(1, 256 * MIB)]);
    objects("one object, text", &[text(1, 256 * MIB)]);
    objects("100,000 objects of 100 bytes", &(0..100_000).map(|seed| noise(seed, 100)).collect::<Vec<_>>());
    objects("100,000 objects of 2 KiB", &(0..100_000).map(|seed| text(seed, 2_048)).collect::<Vec<_>>());
    snapshots("100 snapshots of 5,000 files", 100, 5_000);
    snapshots("10 snapshots of 50,000 files", 10, 50_000);
}

fn objects(name: &str, objects: &[Vec<u8>]) {
    let bytes = objects.iter().map(Vec::len).sum::<usize>();
    let totals = Totals { objects: objects.len() as u64, bytes: bytes as u64, ..Totals::default() };
    let ids: Vec<Id> = objects.iter().map(Id::of).collect();
    let (write, pack) = best_of_three(|| {
        let mut writer = PackWriter::new(Vec::new(), totals).expect("the totals are within the limits");
        for (id, object) in ids.iter().zip(objects) {
            writer.object(*id, object.len() as u64, &object[..]).expect("the object is what it says");
        }
        writer.finish().expect("the pack is complete").0
    });
    report(name, &objects.concat(), &pack, write);
}

fn snapshots(name: &str, count: u64, files: u64) {
    let path = |number: u64| {
        let path = format!("crates/part-{}/src/module_{}/file_{number}.rs", number % 97, number % 911);
        RepositoryPath::new(path).expect("the path is plain")
    };
    let entry = |content: u64| FileEntry { object: Id::of(content.to_le_bytes()), executable: false };
    let mut state: BTreeMap<_, _> = (0..files).map(|number| (path(number), entry(number))).collect();
    let mut history = Vec::new();
    for change in 0..count {
        state.extend((0..10).map(|number| {
            (path((change * 7_919 + number * 104_729) % files), entry(!(change * 10 + number)))
        }));
        history.push(Snapshot::new(state.clone()).expect("no file is a folder"));
    }
    let (write, pack) = best_of_three(|| {
        let totals = Totals { snapshots: count, ..Totals::default() };
        let mut writer = PackWriter::new(Vec::new(), totals).expect("the totals are within the limits");
        for snapshot in &history {
            writer.snapshot(snapshot).expect("the snapshot is within the limits");
        }
        writer.finish().expect("the pack is complete").0
    });
    let json: Vec<_> =
        history.iter().flat_map(|snapshot| serde_json::to_vec(snapshot).expect("JSON holds it")).collect();
    report(name, &json, &pack, write);
}

fn report(name: &str, plain: &[u8], pack: &[u8], write: Duration) {
    let (read, _) =
        best_of_three(|| read_pack(pack, &Limits::default(), &mut Discard).expect("the pack is sound"));
    let (peer_write, stream) = best_of_three(|| {
        let stream = zstd::encode_all(plain, 1).expect("memory does not fail");
        black_box((Id::of(plain), Id::of(&stream)));
        stream
    });
    let (peer_read, _) = best_of_three(|| {
        let plain = zstd::decode_all(&stream[..]).expect("the stream is sound");
        (Id::of(plain), Id::of(&stream))
    });
    let mib = |bytes: usize| bytes as f64 / MIB as f64;
    let speed = |time: Duration, peer: Duration| {
        let (time, peer) = (time.as_secs_f64(), peer.as_secs_f64());
        format!("{:.0} MiB/s ({:.2})", mib(plain.len()) / time, time / peer)
    };
    let (write, read) = (speed(write, peer_write), speed(read, peer_read));
    println!("{name:28}{:10.1}{:10.1}{write:>22}{read:>22}", mib(plain.len()), mib(pack.len()));
}

struct Discard;

impl PackSink for Discard {
    fn commit(&mut self, _: Id, _: Commit) -> io::Result<()> {
        Ok(())
    }

    fn snapshot(&mut self, _: Id, _: Snapshot) -> io::Result<()> {
        Ok(())
    }

    fn object_begin(&mut self, _: Id, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn object_chunk(&mut self, chunk: &[u8]) -> io::Result<()> {
        black_box(chunk);
        Ok(())
    }

    fn object_done(&mut self, _: Id) -> io::Result<()> {
        Ok(())
    }
}

/// Marsaglia's xorshift: bytes that do not compress.
fn numbers(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    })
}

fn noise(seed: u64, len: usize) -> Vec<u8> {
    numbers(seed).flat_map(u64::to_le_bytes).take(len).collect()
}

/// Words of one to nine letters in random order, which compress about as well as source code does.
fn text(seed: u64, len: usize) -> Vec<u8> {
    const LETTERS: &[u8] = b"etaoinshrdlucmfwypvbgkqjxz";
    let mut text = Vec::with_capacity(len + 10);
    let mut numbers = numbers(seed);
    while text.len() < len {
        // The word is drawn from 2,048, and its letters follow from its number.
        let word = numbers.next().unwrap_or_default() >> 53;
        for letter in 0..=word % 9 {
            text.push(LETTERS[((word * 31) >> letter) as usize % LETTERS.len()]);
        }
        text.push(b' ');
    }
    text.truncate(len);
    text
}
