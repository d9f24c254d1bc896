#!/usr/bin/env bash
# Prints what one request costs that is answered with 200 at once: instructions of the client's process, counted
# by callgrind over a real loopback connection, each client beside the one it is built upon, in one run.
set -euo pipefail
cd "$(dirname "$0")"

cargo build -q --release --locked
binary=target/release/instructions

if ! command -v valgrind >/dev/null; then
    echo "valgrind is not installed: no instructions are counted"
    exit 1
fi

coproc responder { exec "$binary" serve; }
trap 'kill "$responder_PID"' EXIT
read -r url <&"${responder[0]}"

# The difference between two runs, so that start-up and the connection do not count.
count() {
    local few=200 many=2200 low high
    low=$(collected "$1" $few)
    high=$(collected "$1" $many)
    echo $(((high - low) / (many - few)))
}
collected() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$binary" "$1" "$url" "$2" 2>&1 | awk '/Collected/ {print $4}'
}

declare -A cost
row() {
    cost[$1]=$(count "$1")
    local base=${2:-$1}
    printf '%-24s %7d' "$1" "${cost[$1]}"
    [ "$base" = "$1" ] || awk "BEGIN {printf \"   %+6.2f %% over $base\", (${cost[$1]} / ${cost[$base]} - 1) * 100}"
    [ -z "${3:-}" ] || awk "BEGIN {printf \", %+6.2f %% over $3\", (${cost[$1]} / ${cost[$3]} - 1) * 100}"
    echo
}

echo "instructions a request"
row reqwest
row reqwest-middleware reqwest
row reqwest-retry reqwest reqwest-middleware
row reessaie reqwest reqwest-middleware
row retry-middleware reqwest reqwest-middleware
echo
row reqwest-0.12
row reqwest-retry-after reqwest-0.12
echo
row hyper
row tower-retry hyper
row tower-retry-timeout hyper
row retry-middleware-tower hyper
