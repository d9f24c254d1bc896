//! The worked example of docs/mpack.md, byte for byte.

use hub_protocol::{Id, Totals};

use crate::collect::read;
use crate::forge::{HEADER, Records, records_of};
use crate::sample::{Content, HELLO, SCRIPT, commit, snapshot};

const DOCUMENT: &str = include_str!("../../../../docs/mpack.md");

fn example() -> Content {
    let files = snapshot(&[("README.md", HELLO, false), ("bin/run", SCRIPT, true)]);
    let root = commit(&[], &files, "first");
    Content { commits: vec![root], snapshots: vec![files], objects: vec![HELLO.to_vec(), SCRIPT.to_vec()] }
}

/// The bytes of the document's hex dump: the lines that begin with eight hex digits of offset.
fn documented_records() -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in DOCUMENT.lines().filter_map(|line| line.strip_prefix("    ")) {
        let Some((offset, rest)) = line.split_once("  ") else { continue };
        if offset.len() != 8 || u32::from_str_radix(offset, 16) != Ok(bytes.len() as u32) {
            continue;
        }
        let hex = rest.split('|').next().unwrap_or_default();
        bytes.extend(hex.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()));
    }
    bytes
}

#[test]
fn the_document_shows_the_records_that_the_writer_writes() {
    let (pack, _) = example().pack();
    assert_eq!(pack[..8], *HEADER);
    assert_eq!(hex_dump(&records_of(&pack)), hex_dump(&documented_records()));
}

#[test]
fn the_documented_records_are_read_whatever_compressed_them() {
    let records = Records(documented_records());
    let (summary, collected) = read(&records.pack()).unwrap();
    let totals = Totals { commits: 1, snapshots: 1, objects: 2, bytes: 27 };
    assert_eq!((summary.commits, summary.snapshots), (totals.commits, totals.snapshots));
    assert_eq!((summary.objects, summary.bytes), (totals.objects, totals.bytes));
    assert_eq!(collected.objects, example().objects_by_id());
}

#[test]
fn the_document_shows_the_ids() {
    let Content { commits, snapshots, .. } = example();
    for id in [commits[0].id(), snapshots[0].id(), Id::of(HELLO), Id::of(SCRIPT)] {
        assert!(DOCUMENT.contains(&id.to_string()), "{id} is missing");
    }
}

fn hex_dump(bytes: &[u8]) -> String {
    let line = |(number, line): (usize, &[u8])| {
        let hex: Vec<String> = line.iter().map(|byte| format!("{byte:02x}")).collect();
        let text: String = line
            .iter()
            .map(|byte| if (0x20..0x7f).contains(byte) { char::from(*byte) } else { '.' })
            .collect();
        format!("    {:08x}  {:<47}  |{text}|\n", number * 16, hex.join(" "))
    };
    bytes.chunks(16).enumerate().map(line).collect()
}
