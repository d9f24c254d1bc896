//! Packs that something happened to on their way.

use std::io::Read;

use hub_protocol::{Limits, PackError, Place, read_pack};

use crate::collect::{Collected, read, refusal};
use crate::forge::{HEADER, Records, around, mended, records_of, stream_of};
use crate::sample::{Content, HELLO};

/// F48: nothing that happens to a byte on its way goes unseen.
#[test]
fn every_flipped_bit_is_refused() {
    let (pack, _) = Content::small().pack();
    for at in 0..pack.len() {
        for flip in (0..8).map(|bit| 1 << bit).chain([0xff]) {
            let mut damaged = pack.clone();
            damaged[at] ^= flip;
            assert!(read(&damaged).is_err(), "byte {at} may be flipped by {flip:#04x}");
        }
    }
}

/// F48: a sender who mends the digest after the flip gains nothing: ids and checksum still hold.
#[test]
fn a_flipped_bit_behind_a_mended_digest_changes_nothing_that_is_read() {
    let (pack, _) = Content::small().pack();
    let (_, original) = read(&pack).unwrap();
    let mut refused = 0;
    for at in 0..pack.len() - 32 {
        for bit in 0..8 {
            let mut damaged = pack.clone();
            damaged[at] ^= 1 << bit;
            match read(&mended(&damaged)) {
                Ok((_, collected)) => assert_eq!(collected, original, "byte {at}, bit {bit}"),
                Err(_) => refused += 1,
            }
        }
    }
    assert!(refused > pack.len(), "flips are hardly ever noticed: {refused}");
}

/// F48: wherever the file ends early, that is what the error says.
#[test]
fn every_truncation_is_refused_as_cut_off() {
    let (pack, _) = Content::small().pack();
    for len in 0..pack.len() {
        assert!(
            matches!(refusal(&pack[..len]), PackError::CutOff { .. }),
            "cut at {len}: {}",
            refusal(&pack[..len])
        );
    }
}

#[test]
fn a_cut_names_the_place() {
    let (pack, _) = Content::small().pack();
    let whole = records_of(&pack);
    let place = |records: &[u8]| refusal(&Records(records.to_vec()).pack()).to_string();

    insta::assert_snapshot!(refusal(b""), @"the pack is cut off in the header");
    insta::assert_snapshot!(refusal(HEADER), @"the pack is cut off in the totals");
    insta::assert_snapshot!(place(&whole[..20]), @"the pack is cut off in the totals");
    insta::assert_snapshot!(place(&whole[..33]), @"the pack is cut off in record 2");
    insta::assert_snapshot!(place(&whole[..70]), @"the pack is cut off in record 2");
    insta::assert_snapshot!(place(&whole[..80]), @"the pack is cut off in commit sha256:6f98c944a4156961ef5b4e143cd8783d133ce45ce0a4f66ac980ceab9e25fc08");
    insta::assert_snapshot!(place(&whole[..whole.len() - 2]), @"the pack is cut off in object sha256:888c968858ae9a033f633a1aac7fa54d9b82151ac28ba5a211f0d58f2419af59");
    insta::assert_snapshot!(place(&whole[..whole.len() - 1]), @"the pack is cut off in record 8");
    insta::assert_snapshot!(refusal(&pack[..pack.len() - 33]), @"the pack is cut off in the end of the stream");
    insta::assert_snapshot!(refusal(&pack[..pack.len() - 1]), @"the pack is cut off in the closing digest");
}

#[test]
fn a_file_of_another_kind_is_refused() {
    insta::assert_snapshot!(refusal(b"PK\x03\x04 is a zip"), @r#"expected a pack, which begins with "\x89mpack\n", and got "PK\x03\x04 is""#);
}

#[test]
fn a_pack_that_was_transferred_as_text_is_refused() {
    let (mut pack, _) = Content::small().pack();
    pack.splice(6..7, *b"\r\n");
    assert!(matches!(refusal(&pack), PackError::NotAPack { .. }));
}

#[test]
fn a_later_version_is_refused() {
    let (mut pack, _) = Content::small().pack();
    pack[7] = 2;
    insta::assert_snapshot!(refusal(&mended(&pack)), @"expected a pack of version 1, and got version 2");
}

#[test]
fn bytes_after_the_digest_are_refused() {
    let (pack, _) = Content::small().pack();
    insta::assert_snapshot!(refusal(&[&pack[..], b"\n"].concat()), @"bytes follow the closing digest");
    let late = pack[..].chain(&b"\n"[..]);
    let error = read_pack(late, &Limits::default(), &mut Collected::default()).unwrap_err();
    assert!(matches!(error, PackError::TrailingBytes { at: Place::Digest }), "{error}");
}

#[test]
fn records_after_the_end_record_are_refused() {
    let pack = Records::totals(0, 0, 0, 0).end().end().pack();
    insta::assert_snapshot!(refusal(&pack), @"bytes follow the end of the stream");
}

#[test]
fn a_second_zstd_frame_is_not_read() {
    let (pack, _) = Content::small().pack();
    let stream = stream_of(&pack);
    assert!(matches!(refusal(&around(&[stream, stream].concat())), PackError::Digest { .. }));
}

#[test]
fn a_stream_that_does_not_decompress_is_refused_where_it_breaks() {
    insta::assert_snapshot!(refusal(&around(b"no zstd frame")), @"the pack is damaged in or after the totals: Unknown frame descriptor");
}

#[test]
fn a_wrong_checksum_of_the_stream_is_refused() {
    let (mut pack, _) = Content::small().pack();
    let last_of_stream = pack.len() - 33;
    pack[last_of_stream] ^= 1;
    insta::assert_snapshot!(refusal(&mended(&pack)), @"the pack is damaged in or after the totals: Restored data doesn't match checksum");
}

#[test]
fn a_wrong_digest_is_refused() {
    let (mut pack, _) = Content::small().pack();
    *pack.last_mut().unwrap() ^= 1;
    let PackError::Digest { declared, actual } = refusal(&pack) else {
        panic!("the digest is not looked at")
    };
    assert_ne!(declared, actual);
}

/// A frame that asks for more memory than 8 MiB is refused by its header, whatever is in it.
#[test]
fn a_wide_window_is_refused() {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.set_parameter(zstd::zstd_safe::CParameter::WindowLog(24)).unwrap();
    std::io::Write::write_all(&mut encoder, &Records::totals(0, 0, 0, 0).end().0).unwrap();
    let pack = around(&encoder.finish().unwrap());
    insta::assert_snapshot!(refusal(&pack), @"the pack is damaged in or after the totals: Frame requires too much memory for decoding");
}

#[test]
fn a_source_that_fails_is_named_with_the_place() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the line is dead"))
        }
    }
    let (pack, _) = Content { objects: vec![HELLO.to_vec()], ..Content::default() }.pack();
    let source = pack[..pack.len() - 1].chain(Broken);
    let error = read_pack(source, &Limits::default(), &mut Collected::default()).unwrap_err();
    assert!(matches!(error, PackError::Read { at: Place::Digest, .. }), "{error}");
    insta::assert_snapshot!(std::error::Error::source(&error).unwrap(), @"the line is dead");
}
