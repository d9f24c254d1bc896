//! Replays the fuzzer's committed corpus on a stable toolchain.

#[path = "../../../fuzz/bodies/hub_protocol.rs"]
mod bodies;
#[path = "../../../fuzz/replay.rs"]
mod replay;

replay::replays! { pack pack_records }
