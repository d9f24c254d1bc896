#![no_main]

#[path = "../bodies/hub_protocol.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bodies::pack_records(data));
