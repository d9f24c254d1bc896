//! Replays the fuzzer's committed corpus on a stable toolchain.

#[path = "../../../../fuzz/bodies/retry_core.rs"]
mod bodies;

use std::path::Path;

fn replay(target: &str, body: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut replayed = 0;
    for entry in std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.unwrap().path();
        println!("{}", path.display());
        body(&std::fs::read(&path).unwrap());
        replayed += 1;
    }
    assert!(replayed > 0, "no corpus in {}", folder.display());
}

macro_rules! replays {
    ($($target:ident)+) => {$(
        #[test]
        #[cfg_attr(miri, ignore = "takes an hour; the laws do the same on fewer inputs")]
        fn $target() {
            replay(stringify!($target), bodies::$target);
        }
    )+};
}

replays! { parse_lines date_round_trip request_operations window_operations policy_document }
