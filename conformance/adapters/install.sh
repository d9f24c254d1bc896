#!/usr/bin/env bash
# Installs the clients that have adapters, in the versions of the lock files, beside the adapters. May be run
# again: what is there already stays. Says what is missing and how to get it; the runner reports such a client
# as not tested, never silently. Exits with 1 where something could be installed and was not.
set -uo pipefail
cd "$(dirname "$0")"

failed=()
attempt() {
    echo "== $1"
    shift
    "$@" || failed+=("$*")
}
have() { command -v "$1" >/dev/null 2>&1; }
missing() { echo "missing: $1 ($2)"; }

# Each remembers the lock file that it installed, and has nothing to do until that changes.
node_clients() {
    cmp -s node/package-lock.json .installed/node.lock && [ -d node/node_modules ] && return
    npm ci --prefix node --no-audit --no-fund && cp node/package-lock.json .installed/node.lock
}
python_clients() {
    cmp -s python/requirements.txt .installed/python.lock && return
    python3 -m venv --clear .installed/python &&
        .installed/python/bin/pip install --quiet --require-hashes --no-deps --requirement python/requirements.txt &&
        cp python/requirements.txt .installed/python.lock
}
# From Debian's source package, whose version Debian pins: a build that needs no module proxy.
gocode=/usr/share/gocode
go_client() {
    local version
    version=$(dpkg-query --show --showformat '${Version}' golang-github-hashicorp-go-retryablehttp-dev) &&
        GO111MODULE=off GOPATH=$gocode GOFLAGS= go build -trimpath -ldflags "-X main.version=$version" \
            -o .installed/go/retryablehttp go/retryablehttp.go
}

mkdir -p .installed/go
if have npm; then attempt "Node clients" node_clients; else missing "Node clients" "install npm"; fi
if have python3; then attempt "Python clients" python_clients; else missing "Python clients" "install python3"; fi
if have cargo; then
    attempt "Rust clients" cargo build --quiet --release --locked --manifest-path rust/Cargo.toml --target-dir .installed/rust
else
    missing "Rust clients" "install cargo"
fi
if have go && [ -d $gocode/src/github.com/hashicorp/go-retryablehttp ]; then
    attempt "Go client" go_client
else
    missing go-retryablehttp "Debian packages golang-go and golang-github-hashicorp-go-retryablehttp-dev"
fi
for program in curl wget git aria2c; do
    have $program || missing $program "a package of the operating system"
done
have fetch-client || missing fetch-client "cargo build -p fetch-client, and its directory in PATH"

if [ "${#failed[@]}" -gt 0 ]; then
    printf 'failed: %s\n' "${failed[@]}"
    exit 1
fi
