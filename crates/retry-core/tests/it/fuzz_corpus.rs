//! Replays the fuzzer's committed corpus on a stable toolchain.

#[path = "../../../../fuzz/bodies/retry_core.rs"]
mod bodies;
#[path = "../../../../fuzz/replay.rs"]
mod replay;

replay::replays! { parse_lines date_round_trip request_operations window_operations policy_document }
