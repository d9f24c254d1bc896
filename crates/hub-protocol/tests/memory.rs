//! Memory stays bounded, whatever the size of an object. Alone in its process, so that nothing else is measured.
#![cfg(target_os = "linux")]

use std::io::{self, Read};
use std::thread;

use hub_protocol::{Commit, Id, IdHasher, Limits, PackSink, PackWriter, Snapshot, Totals, read_pack};

const OBJECT: u64 = 128 << 20;
/// Two zstd contexts with windows of 8 MiB, their tables and all buffers stay below.
const ALLOWANCE_KIB: u64 = 64 << 10;

/// The bytes of an object that exists nowhere: it is made as it is read.
struct Noise(u64);

impl Read for Noise {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        for byte in &mut *buffer {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *byte = (self.0 >> 56) as u8;
        }
        Ok(buffer.len())
    }
}

struct Count(u64);

impl PackSink for Count {
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
        self.0 += chunk.len() as u64;
        Ok(())
    }

    fn object_done(&mut self, _: Id) -> io::Result<()> {
        Ok(())
    }
}

fn noise() -> impl Read {
    Noise(1).take(OBJECT)
}

/// The most memory that this process ever held, in KiB.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("Linux reports the peak");
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn an_object_streams_from_end_to_end_in_bounded_memory() {
    let mut hasher = IdHasher::new();
    let mut buffer = [0; 64 * 1024];
    let mut source = noise();
    loop {
        match source.read(&mut buffer).unwrap() {
            0 => break,
            count => hasher.update(&buffer[..count]),
        }
    }
    let id = hasher.finish();

    let before = peak_kib();
    let (receiver, sender) = io::pipe().unwrap();
    let writing = thread::spawn(move || {
        let mut writer = PackWriter::new(sender, Totals { objects: 1, bytes: OBJECT, ..Totals::default() })?;
        writer.object(id, OBJECT, noise())?;
        writer.finish().map(|(_, summary)| summary)
    });
    let mut count = Count(0);
    let read = read_pack(receiver, &Limits::default(), &mut count).unwrap();
    assert_eq!(read, writing.join().unwrap().unwrap());
    assert_eq!(count.0, OBJECT);

    let grown = peak_kib() - before;
    assert!(grown < ALLOWANCE_KIB, "memory grew by {grown} KiB");
}
