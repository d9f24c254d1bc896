# Every task of this repository. `just` lists them.

_list:
    @just --list --unsorted

# The main job: push, be refused, wait, clone.
demo *arguments:
    cargo run --release -p e2e --bin demo -- {{ arguments }}

# The inner loop.
test *arguments:
    cargo nextest run {{ arguments }}

fmt:
    cargo fmt --all

clippy:
    cargo clippy --workspace --all-targets -- -D warnings

doc:
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

# What runs on a clean checkout.
ci:
    bash .ci/run

# Licences, sources and duplicate versions of what we depend on.
deny:
    cargo deny check bans licenses sources

# Every law with ten thousand cases.
laws:
    PROPTEST_CASES=10000 cargo nextest run -p retry-core --all-features
