#!/usr/bin/env bash
# Installs the clients that have adapters, in the versions of the lock files, beside the adapters.
# What cannot be installed is named and left out; the runner then reports it as a crash, never silently.
set -uo pipefail
cd "$(dirname "$0")"

failed=()
attempt() {
    echo "== $1"
    shift
    "$@" || failed+=("$*")
}

attempt "Node clients" npm ci --prefix node --no-audit --no-fund
attempt "Python" python3 -m venv .installed/python
attempt "Python clients" .installed/python/bin/pip install --quiet --requirement python/requirements.txt
attempt "Rust crates" cargo build --quiet --release --locked --manifest-path rust/Cargo.toml --target-dir .installed/rust

for program in curl wget git aria2c; do
    command -v "$program" >/dev/null || echo "missing: $program (a package of the operating system)"
done
[ -x .installed/go/retryablehttp ] || echo "missing: go-retryablehttp (a recipe only: build a program that reads RAC_URL and RAC_METHOD)"

if [ "${#failed[@]}" -gt 0 ]; then
    printf 'failed: %s\n' "${failed[@]}"
    exit 1
fi
