#![no_main]

#[path = "../bodies/retry_core.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bodies::request_operations(data));
