//! What a writer refuses to write.

use std::io::{self, Read, Write};

use hub_protocol::{Id, PackError, PackWriter, Totals};

use crate::sample::{Content, HELLO, SCRIPT};

fn writer_for(objects: u64, bytes: u64) -> PackWriter<Vec<u8>> {
    PackWriter::new(Vec::new(), Totals { objects, bytes, ..Totals::default() }).unwrap()
}

#[test]
fn content_that_is_not_its_id_is_refused() {
    let error = writer_for(1, 6).object(Id::of(SCRIPT), 6, HELLO).unwrap_err();
    assert!(matches!(error, PackError::LyingId { actual, .. } if actual == Id::of(HELLO)), "{error}");
}

#[test]
fn content_of_another_length_is_refused() {
    let length = |len| writer_for(1, 10).object(Id::of(HELLO), len, HELLO).unwrap_err().to_string();
    insta::assert_snapshot!(length(7), @"object sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03 was said to be 7 bytes long, and is 6");
    insta::assert_snapshot!(length(5), @"object sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03 was said to be 5 bytes long, and is longer");
    insta::assert_snapshot!(length(0), @"object sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03 was said to be 0 bytes long, and is longer");
}

#[test]
fn content_that_cannot_be_read_is_named_with_the_cause() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("bad sector"))
        }
    }
    let error = writer_for(1, 6).object(Id::of(HELLO), 6, Broken).unwrap_err();
    insta::assert_snapshot!(error, @"could not read object sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03");
    insta::assert_snapshot!(error.with_causes(), @"could not read object sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03: bad sector");
}

#[test]
fn a_pack_with_half_an_object_in_it_cannot_be_finished() {
    let mut writer = writer_for(2, 27);
    writer.object(Id::of(HELLO), 6, &HELLO[..3]).unwrap_err();
    let again = writer.object(Id::of(SCRIPT), 21, SCRIPT).unwrap_err();
    assert!(matches!(again, PackError::Unusable { .. }), "{again}");
    insta::assert_snapshot!(writer.finish().unwrap_err(), @"the pack cannot be finished, as writing object sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03 failed");
}

#[test]
fn less_than_declared_is_refused_at_the_end() {
    assert!(matches!(writer_for(1, 0).finish(), Err(PackError::Missing { declared: 1, found: 0, .. })));
    let mut writer = writer_for(1, 7);
    writer.object(Id::of(HELLO), 6, HELLO).unwrap();
    assert!(matches!(writer.finish(), Err(PackError::MissingBytes { declared: 7, found: 6 })));
}

#[test]
fn more_than_declared_is_refused_at_once() {
    let mut writer = writer_for(1, 100);
    writer.object(Id::of(HELLO), 6, HELLO).unwrap();
    assert!(matches!(writer.object(Id::of(SCRIPT), 21, SCRIPT), Err(PackError::Surplus { declared: 1, .. })));
    assert!(matches!(
        writer_for(1, 5).object(Id::of(HELLO), 6, HELLO),
        Err(PackError::SurplusBytes { left: 5, .. })
    ));
}

#[test]
fn an_entry_that_comes_twice_is_refused() {
    let mut writer = writer_for(2, 12);
    writer.object(Id::of(HELLO), 6, HELLO).unwrap();
    assert!(matches!(writer.object(Id::of(HELLO), 6, HELLO), Err(PackError::Duplicate { .. })));
}

#[test]
fn kinds_out_of_order_are_refused() {
    let Content { commits, snapshots, .. } = Content::small();
    let mut writer =
        PackWriter::new(Vec::new(), Totals { commits: 1, snapshots: 1, ..Totals::default() }).unwrap();
    writer.snapshot(&snapshots[0]).unwrap();
    assert!(matches!(writer.commit(&commits[0]), Err(PackError::OutOfOrder { .. })));
}

/// A buffered destination that is dropped after the pack is done would lose its last bytes unseen.
#[test]
fn the_destination_is_flushed_at_the_end() {
    struct Unflushed(Vec<u8>, usize);
    impl Write for Unflushed {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            self.1 = self.0.len();
            Ok(())
        }
    }
    let writer = PackWriter::new(Unflushed(Vec::new(), 0), Totals::default()).unwrap();
    let (Unflushed(pack, flushed), _) = writer.finish().unwrap();
    assert_eq!(flushed, pack.len());
}

#[test]
fn a_destination_that_fails_is_named_with_the_place() {
    struct Full(usize);
    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let error = PackWriter::new(Full(3), Totals::default()).err().unwrap();
    insta::assert_snapshot!(error, @"could not write the pack at the header");
    let error = PackWriter::new(Full(20), Totals::default()).unwrap().finish().err().unwrap();
    insta::assert_snapshot!(error, @"could not write the pack at the end of the stream");
    let source = std::error::Error::source(&error).unwrap().downcast_ref::<io::Error>().unwrap();
    assert_eq!(source.kind(), io::ErrorKind::StorageFull);
}
