//! Packs that ask for too much: bombs, long records, many entries.

use std::io::{Read, repeat};

use hub_protocol::{Id, IdHasher, LimitExceeded, Limits, PackError, PackWriter, Totals};

use crate::collect::{read_within, refusal};
use crate::forge::{Records, around};
use crate::round_trip::incompressible;
use crate::sample::{Content, HELLO};

const MIB: u64 = 1 << 20;

fn tight() -> Limits {
    Limits { ratio_exempt_bytes: MIB, ..Limits::default() }
}

fn id_of_zeros(len: u64) -> Id {
    let mut hasher = IdHasher::new();
    std::io::copy(&mut repeat(0).take(len), &mut Sink(&mut hasher)).unwrap();
    hasher.finish()
}

struct Sink<'a>(&'a mut IdHasher);

impl std::io::Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// F48: gigabytes of zeros in kilobytes end at the exempt gigabyte, whatever is declared.
#[test]
fn ten_gibibytes_of_zeros_are_refused_at_the_first() {
    let len: u64 = 10 << 30;
    let id = Id::of("nobody will know");
    let start = Records::totals(0, 0, 1, len).head(b'O', id, len);
    // By hand, as RFC 8878 has it: a frame with a window of 128 KiB, one raw block, then blocks that say "this
    // byte, 131,072 times" in four bytes each.
    let mut stream = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38];
    let block_header =
        |last: u32, block_type: u32, size: u32| (last | block_type << 1 | size << 3).to_le_bytes();
    stream.extend(&block_header(0, 0, start.0.len() as u32)[..3]);
    stream.extend(&start.0);
    for _ in 0..len / (128 * 1024) {
        stream.extend(&block_header(0, 1, 128 * 1024)[..3]);
        stream.push(0);
    }

    struct Discard;
    impl hub_protocol::PackSink for Discard {
        fn commit(&mut self, _: Id, _: hub_protocol::Commit) -> std::io::Result<()> {
            Ok(())
        }
        fn snapshot(&mut self, _: Id, _: hub_protocol::Snapshot) -> std::io::Result<()> {
            Ok(())
        }
        fn object_begin(&mut self, _: Id, _: u64) -> std::io::Result<()> {
            Ok(())
        }
        fn object_chunk(&mut self, _: &[u8]) -> std::io::Result<()> {
            Ok(())
        }
        fn object_done(&mut self, _: Id) -> std::io::Result<()> {
            panic!("ten gibibytes were read")
        }
    }
    let error = hub_protocol::read_pack(&around(&stream)[..], &Limits::default(), &mut Discard).unwrap_err();
    insta::assert_snapshot!(error, @"the pack grows from 32863 to 1073872896 bytes by object sha256:205797627b2951185610a4e3f69ef81a1f72a7df2e537968f8d548bbc773a76a, and at most 1000 times are allowed");
}

#[test]
fn a_bomb_is_refused_once_the_exempt_bytes_are_through() {
    let zeros = vec![0; 8 * MIB as usize];
    let pack = Records::totals(0, 0, 1, 8 * MIB).object(&zeros).end().pack();
    assert!(read_within(&pack, &Limits::default()).is_ok());
    let error = read_within(&pack, &tight()).unwrap_err();
    let PackError::Limit(LimitExceeded::Ratio { plain, packed, .. }) = error else { panic!("{error}") };
    assert!(plain <= MIB + 128 * 1024, "{plain} bytes were inflated");
    assert!(plain > 1_000 * packed);
}

/// A bomb in front of what compresses badly is refused though the pack as a whole would pass.
#[test]
fn the_ratio_holds_at_every_point() {
    let random: Vec<u8> = incompressible().take(MIB as usize).collect();
    let zeros = vec![0; 4 * MIB as usize];
    let totals = Records::totals(0, 0, 2, 5 * MIB);
    let late = totals.clone().object(&random).object(&zeros).end().pack();
    assert!(read_within(&late, &tight()).is_ok());
    let early = totals.object(&zeros).object(&random).end().pack();
    assert!(matches!(read_within(&early, &tight()), Err(PackError::Limit(LimitExceeded::Ratio { .. }))));
}

#[test]
fn a_snapshot_that_is_a_bomb_is_refused() {
    let pack =
        Records::totals(0, 1, 0, 0).entry(b'S', Id::of(""), &vec![b' '; 4 * MIB as usize]).end().pack();
    assert!(matches!(read_within(&pack, &tight()), Err(PackError::Limit(LimitExceeded::Ratio { .. }))));
}

#[test]
fn declared_totals_beyond_the_limits_are_refused_before_anything_is_read() {
    let declared = |commits, snapshots, objects, bytes| {
        refusal(&Records::totals(commits, snapshots, objects, bytes).pack()).to_string()
    };
    insta::assert_snapshot!(declared(1_000_001, 0, 0, 0), @"the pack declares 1000001 of the kind commit, and at most 1000000 are allowed");
    insta::assert_snapshot!(declared(0, u64::MAX, 0, 0), @"the pack declares 18446744073709551615 of the kind snapshot, and at most 1000000 are allowed");
    insta::assert_snapshot!(declared(0, 0, 4_000_001, 0), @"the pack declares 4000001 of the kind object, and at most 4000000 are allowed");
    insta::assert_snapshot!(declared(0, 0, 1, 1 << 41), @"the pack holds 2199023255552 bytes or more at the totals, and at most 1099511627776 are allowed");
}

#[test]
fn what_just_keeps_to_the_limits_is_read() {
    let content = Content::small();
    let (pack, _) = content.pack();
    let json = |snapshot| serde_json::to_vec(snapshot).unwrap().len() as u64;
    let limits = Limits {
        commits: 2,
        snapshots: 2,
        objects: 2,
        snapshot_bytes: json(&content.snapshots[1]),
        bytes: crate::forge::records_of(&pack).len() as u64,
        ..Limits::default()
    };
    assert!(read_within(&pack, &limits).is_ok());
    assert!(read_within(&pack, &Limits { bytes: limits.bytes - 1, ..limits.clone() }).is_err());
    assert!(read_within(&pack, &Limits { commits: 1, ..limits }).is_err());
}

#[test]
fn a_record_beyond_its_limit_is_refused_before_it_is_read() {
    let commit = Records::totals(1, 0, 0, 0).head(b'C', Id::of(""), MIB + 1).pack();
    insta::assert_snapshot!(refusal(&commit), @"commit sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 is a record of 1048577 bytes, and at most 1048576 are allowed");
    let snapshot = Records::totals(0, 1, 0, 0).head(b'S', Id::of(""), u64::MAX).pack();
    assert!(matches!(refusal(&snapshot), PackError::Limit(LimitExceeded::Record { len: u64::MAX, .. })));
}

#[test]
fn records_count_towards_the_bytes_of_the_stream() {
    let Content { snapshots, .. } = Content::small();
    let pack = Records::totals(0, 1, 0, 0).snapshot(&snapshots[1]).end().pack();
    let limits = Limits { bytes: 200, ..Limits::default() };
    assert!(matches!(
        read_within(&pack, &limits),
        Err(PackError::Limit(LimitExceeded::Bytes { limit: 200, .. }))
    ));
}

#[test]
fn the_longest_message_fits_its_record_however_it_is_escaped() {
    let message = "\u{1}".repeat(hub_protocol::MAX_MESSAGE_BYTES);
    let parents = (0..hub_protocol::MAX_PARENTS).map(|number| Id::of([number as u8])).collect();
    let commit = hub_protocol::Commit::new(parents, Id::of(""), message, "2026-11-30T15:59:07Z").unwrap();
    let mut writer = PackWriter::new(Vec::new(), Totals { commits: 1, ..Totals::default() }).unwrap();
    writer.commit(&commit).unwrap();
    let (pack, _) = writer.finish().unwrap();
    assert_eq!(crate::collect::read(&pack).unwrap().1.commits[0].1, commit);
}

#[test]
fn the_writer_refuses_totals_beyond_the_limits() {
    let totals = Totals { objects: 4_000_001, ..Totals::default() };
    assert!(matches!(
        PackWriter::new(Vec::new(), totals),
        Err(PackError::Limit(LimitExceeded::Count { .. }))
    ));
}

#[test]
fn the_writer_refuses_a_record_beyond_its_limit() {
    let Content { snapshots, .. } = Content::small();
    let limits = Limits { snapshot_bytes: 10, ..Limits::default() };
    let totals = Totals { snapshots: 1, ..Totals::default() };
    let mut writer = PackWriter::with_limits(Vec::new(), totals, limits).unwrap();
    let error = writer.snapshot(&snapshots[0]).unwrap_err();
    assert!(matches!(error, PackError::Limit(LimitExceeded::Record { limit: 10, .. })), "{error}");
}

#[test]
fn the_writer_refuses_to_make_what_looks_like_a_bomb() {
    let totals = Totals { objects: 1, bytes: 8 * MIB, ..Totals::default() };
    let mut writer = PackWriter::with_limits(Vec::new(), totals, tight()).unwrap();
    let id = id_of_zeros(8 * MIB);
    let error = writer.object(id, 8 * MIB, repeat(0).take(8 * MIB)).unwrap_err();
    assert!(matches!(error, PackError::Limit(LimitExceeded::Ratio { .. })), "{error}");
    assert!(error.to_string().contains(&format!("by object {id}")), "{error}");
}

/// Whatever mix of dense and thin data the writer lets through, a reader with the same limits accepts.
#[test]
fn what_the_writer_lets_through_the_reader_accepts() {
    let limits = Limits { ratio: 20, ratio_exempt_bytes: 300_000, ..Limits::default() };
    let (mut accepted, mut refused) = (0, 0);
    for dense in (0..40_000).step_by(1_000) {
        for thin in [0, 100_000, 200_000, 300_000, 500_000, 800_000] {
            let object: Vec<u8> = incompressible().take(dense).chain(std::iter::repeat_n(0, thin)).collect();
            let totals = Totals { objects: 1, bytes: object.len() as u64, ..Totals::default() };
            let mut writer = PackWriter::with_limits(Vec::new(), totals, limits.clone()).unwrap();
            let written =
                writer.object(Id::of(&object), totals.bytes, &object[..]).and_then(|()| writer.finish());
            match written {
                Ok((pack, _)) => {
                    assert!(read_within(&pack, &limits).is_ok(), "{dense} dense, {thin} thin");
                    accepted += 1;
                }
                Err(PackError::Limit(LimitExceeded::Ratio { .. })) => refused += 1,
                Err(error) => panic!("{error}"),
            }
        }
    }
    assert!(
        accepted > 50 && refused > 50,
        "{accepted} accepted, {refused} refused: the boundary is not probed"
    );
}

#[test]
fn a_small_pack_may_be_as_thin_as_it_likes() {
    let zeros = vec![0; 900_000];
    let content = Content { objects: vec![zeros, HELLO.to_vec()], ..Content::default() };
    assert!(read_within(&content.pack().0, &tight()).is_ok());
}
