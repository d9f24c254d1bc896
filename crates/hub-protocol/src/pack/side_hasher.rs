//! The hash of a whole pack, on a thread beside the work.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

use crate::{Id, IdHasher};

/// Up to this length a pack is hashed where it is read or written: a thread would not be worth starting.
const SMALL: u64 = 1 << 20;
/// How much goes to the other thread at once.
const PIECE: usize = 128 * 1024;
/// How many pieces may wait for it.
const PIECES: usize = 4;

/// Hashes a pack. That of a long one goes on beside whatever else is done with its bytes: an object in it is
/// hashed too, and the two are the most part of the work.
pub(super) struct SideHasher {
    place: Place,
    len: u64,
    /// Whether the end is near enough for no other thread to be started.
    is_ending: bool,
}

enum Place {
    Here(IdHasher),
    Beside(Beside),
}

impl SideHasher {
    pub(super) fn new() -> Self {
        Self { place: Place::Here(IdHasher::new()), len: 0, is_ending: false }
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.len += bytes.len() as u64;
        if self.len > SMALL
            && !self.is_ending
            && let Place::Here(hasher) = &mut self.place
        {
            self.place = Place::Beside(Beside::start(std::mem::take(hasher)));
        }
        match &mut self.place {
            Place::Here(hasher) => hasher.update(bytes),
            Place::Beside(beside) => beside.update(bytes),
        }
    }

    /// The id of everything so far; what follows, if anything, is hashed here.
    pub(super) fn id(&mut self) -> Id {
        self.is_ending = true;
        if let Place::Beside(beside) = &mut self.place {
            self.place = Place::Here(beside.finish());
        }
        match &self.place {
            Place::Here(hasher) => hasher.clone().finish(),
            Place::Beside(_) => unreachable!("it was brought back"),
        }
    }
}

/// The other thread. It ends when this is dropped.
struct Beside {
    piece: Vec<u8>,
    pieces: Option<SyncSender<Vec<u8>>>,
    /// Pieces that it is done with.
    emptied: Receiver<Vec<u8>>,
    thread: Option<JoinHandle<IdHasher>>,
}

impl Beside {
    fn start(hasher: IdHasher) -> Self {
        let (pieces, arriving) = sync_channel(PIECES);
        let (done, emptied) = channel();
        let thread = thread::spawn(move || work(hasher, &arriving, &done));
        Self { piece: Vec::with_capacity(PIECE), pieces: Some(pieces), emptied, thread: Some(thread) }
    }

    fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let count = bytes.len().min(PIECE - self.piece.len());
            self.piece.extend_from_slice(&bytes[..count]);
            bytes = &bytes[count..];
            if self.piece.len() == PIECE {
                self.send();
            }
        }
    }

    fn send(&mut self) {
        let next = self.emptied.try_recv().unwrap_or_else(|_| Vec::with_capacity(PIECE));
        let piece = std::mem::replace(&mut self.piece, next);
        let pieces = self.pieces.as_ref().expect("it is there until the end");
        pieces.send(piece).expect("it takes pieces until the end");
    }

    fn finish(&mut self) -> IdHasher {
        self.send();
        self.pieces = None;
        let thread = self.thread.take().expect("it is there until the end");
        thread.join().expect("hashing does not panic")
    }
}

fn work(mut hasher: IdHasher, pieces: &Receiver<Vec<u8>>, done: &Sender<Vec<u8>>) -> IdHasher {
    for mut piece in pieces {
        hasher.update(&piece);
        piece.clear();
        // Nobody takes it back at the end.
        let _ = done.send(piece);
    }
    hasher
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Short of the length from which on another thread hashes, and beyond it; in pieces of odd lengths.
    #[test]
    fn pieces_hash_like_the_whole_here_and_beside() {
        let bytes: Vec<u8> = (0..3 << 20).map(|number: u32| (number % 251) as u8).collect();
        for length in [0, 1, SMALL as usize, SMALL as usize + 1, bytes.len()] {
            let mut hasher = SideHasher::new();
            for piece in bytes[..length].chunks(99_991) {
                hasher.update(piece);
            }
            assert_eq!(hasher.id(), Id::of(&bytes[..length]), "{length}");
            assert_eq!(hasher.len(), length as u64);
            hasher.update(b"more");
            assert_eq!(hasher.id(), Id::of([&bytes[..length], b"more"].concat()), "{length}");
        }
    }
}
