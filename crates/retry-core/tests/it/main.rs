//! What retry-core promises, by room. One binary: it is linked once.

mod decisions;
mod documents;
mod fuzz_corpus;
mod held;
mod laws;
mod parse;
mod policies;
mod windows;
mod words;
