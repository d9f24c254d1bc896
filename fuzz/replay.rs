//! Replays a target's committed corpus through its body, for the tests that do so on a stable toolchain.

use std::path::Path;

/// Runs `body` on every file of the target's corpus, each named before, so that a panic tells which it was.
pub(crate) fn replay(target: &str, body: fn(&[u8])) {
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

/// A test for each target, of the same name.
macro_rules! replays {
    ($($target:ident)+) => {$(
        #[test]
        #[cfg_attr(miri, ignore = "takes an hour; the laws do the same on fewer inputs")]
        fn $target() {
            replay::replay(stringify!($target), bodies::$target);
        }
    )+};
}

pub(crate) use replays;
