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

# Fuzzes each target for half a minute. Needs a nightly toolchain and `cargo install cargo-fuzz`.
fuzz-smoke seconds="30":
    #!/usr/bin/env bash
    set -euo pipefail
    for target in $(cargo +nightly fuzz list); do
        cargo +nightly fuzz run "$target" -- -max_total_time={{ seconds }} -rss_limit_mb=2048
    done

# Undefined behaviour, on fewer cases (what leaks is proptest's). Needs a nightly toolchain with miri and rust-src.
miri:
    INSTA_WORKSPACE_ROOT={{ justfile_directory() }} PROPTEST_CASES=4 MIRIFLAGS='-Zmiri-disable-isolation -Zmiri-ignore-leaks' cargo +nightly miri test -p retry-core

# Mutates retry-core; survivors belong into docs/mutants.md with their reason.
mutants *arguments:
    cargo mutants -p retry-core {{ arguments }}

# Flips each comparison and operator of the judge; one survives: two answers with one stamp are the same answer.
mutants-judge:
    cargo mutants --no-config -p refusal-script -f '*judge*' --re 'replace [<>=!+*&|/-]+ with' --timeout 90 -- --test verdicts --test reasons --test boundaries

# What retry-core costs beside its peers: instructions and nanoseconds.
bench-core:
    bash crates/retry-core/benches/run.sh

# What a request that is answered at once costs through each face, beside its peers: instructions.
bench-middleware:
    bash crates/retry-middleware/benches/run.sh

# Validates the served OpenAPI document, and fuzzes the server by it. Installs its tools from PyPI below target/.
openapi:
    #!/usr/bin/env bash
    set -euo pipefail
    python3 -m venv target/openapi
    target/openapi/bin/pip install -q openapi-spec-validator schemathesis
    cargo build -p refusal-server
    data=$(mktemp -d)
    target/debug/refusal-server --listen 127.0.0.1:8791 --data "$data" --dev-token secret --release-delay 0.2 --start-delay 0 2>"$data/log" &
    trap 'kill %1' EXIT
    until curl -sf http://127.0.0.1:8791/openapi.json -o target/openapi.json; do sleep 0.1; done
    target/openapi/bin/openapi-spec-validator target/openapi.json
    token=$(curl -s http://127.0.0.1:8791/auth -d '{"namespace":"t","key":"secret"}' | python3 -c 'import json,sys;print(json.load(sys.stdin)["access_token"])')
    target/openapi/bin/schemathesis run http://127.0.0.1:8791/openapi.json --include-path-regex '^/(instances|nodes|auth)' -H "Authorization: Bearer $token" --max-examples 40
    target/openapi/bin/schemathesis run http://127.0.0.1:8791/openapi.json --exclude-path-regex '^/(instances|nodes|auth)' -H "Authorization: Bearer secret" --max-examples 25 --phases examples,coverage,fuzzing
    ! grep ERROR "$data/log"

# What a refusal costs the server beside nginx, which says the same. Needs nginx and wrk.
bench-refusals *arguments:
    cargo build --release -p fetch-client -p refusal-server
    python3 crates/e2e/benches/refusals.py {{ arguments }}

# What a push and a clone cost beside curl with openssl, and beside git; see docs/benchmarks.md.
bench-transfer *arguments:
    cargo build --release -p fetch-client -p refusal-server
    python3 crates/e2e/benches/transfer.py {{ arguments }}

# Everything that is measured, into target/benchmarks.md with the machine. Wants it quiet, for a quarter of an hour.
bench:
    #!/usr/bin/env bash
    set -euo pipefail
    mkdir -p target
    {
        model=$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)
        echo "Measured on $(date -u '+%-d %B %Y') on $(nproc) cores of ${model:-an unnamed processor}, load $(cut -d' ' -f1 /proc/loadavg)."
        for recipe in bench-core bench-middleware bench-refusals bench-transfer; do
            printf '\n## `just %s`\n\n' "$recipe"
            # Two print lines for a terminal, two print tables.
            case $recipe in *core | *middleware) fence='```' ;; *) fence= ;; esac
            printf '%s\n' "$fence"
            just "$recipe"
            printf '%s\n' "$fence"
        done
    } | tee target/benchmarks.md

# Kills the programs in the middle of their work, again and again; the first failure ends it.
crash-soak rounds="20":
    #!/usr/bin/env bash
    set -euo pipefail
    packages=(-p e2e -p fetch-client -p refusal-server)
    cargo nextest run "${packages[@]}" --no-run
    for round in $(seq {{ rounds }}); do
        echo "round $round of {{ rounds }}"
        cargo nextest run "${packages[@]}" -E 'test(kill)' --retries 0 --fail-fast
    done

# The driver's tests while another program keeps one core busy: no test may lean on an idle machine.
soak-middleware rounds="50":
    #!/usr/bin/env bash
    set -euo pipefail
    cargo nextest run -p retry-middleware --no-run
    timeout 1h sh -c 'while :; do :; done' &
    busy=$!
    trap 'kill "$busy"' EXIT
    for round in $(seq {{ rounds }}); do
        echo "round $round of {{ rounds }}"
        cargo nextest run -p retry-middleware --retries 0 --fail-fast
    done

# The conformance suite gives the same verdicts, run after run, also while another program keeps a core busy.
soak-conformance rounds="100":
    #!/usr/bin/env bash
    set -euo pipefail
    cargo build -p conformance -p fetch-client
    export PATH="$PWD/target/debug:$PATH"
    results=$(mktemp -d)
    trap 'rm -r "$results"; kill "${busy:-}" 2>/dev/null || true' EXIT
    for round in $(seq {{ rounds }}); do
        # Every second round has a core less.
        if [ $((round % 2)) -eq 0 ]; then timeout 5m sh -c 'while :; do :; done' & busy=$!; fi
        conformance run --adapter fetch-client --jsonl "$results/now.jsonl" >"$results/tree"
        if [ $((round % 2)) -eq 0 ]; then kill "$busy"; wait "$busy" 2>/dev/null || true; fi
        if [ "$round" -eq 1 ]; then cp "$results/now.jsonl" "$results/first.jsonl"; fi
        differences=$(conformance diff "$results/first.jsonl" "$results/now.jsonl") || true
        if [ "$differences" != "no difference" ]; then echo "$differences"; exit 1; fi
        echo "round $round of {{ rounds }}: the same verdicts"
    done

# Every installed client before every case: docs/matrix.md, and target/matrix.html with the timelines. Ten quiet minutes.
conformance-matrix jobs="16":
    #!/usr/bin/env bash
    set -euo pipefail
    cargo build --release -p conformance -p fetch-client
    export PATH="$PWD/target/release:$PATH"
    bash conformance/adapters/install.sh
    # Exits with 1 where a client fails a case, and with 2 where one is not installed; the report says which.
    conformance run --adapter all --profile full --jobs {{ jobs }} --jsonl target/matrix.jsonl \
        --markdown docs/matrix.md --html target/matrix.html || [ $? -lt 3 ]

# Opens the HTML report (or CONFORMANCE_REPORT) in Chromium, wide and narrow, and leaves screenshots in target/tmp.
browser-test:
    cargo nextest run -p conformance --test browser --run-ignored only
