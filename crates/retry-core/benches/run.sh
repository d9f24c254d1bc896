#!/usr/bin/env bash
# Prints what retry-core costs beside its peers, all measured in this run: instructions by callgrind (the same
# on every run of one binary), seconds of a processor by the shell, nanoseconds by criterion.
set -euo pipefail
cd "$(dirname "$0")"

cargo build -q --release --bin repeat
binary=target/release/repeat

# The difference between two runs, so that start-up does not count.
count() {
    local few=2000 many=12000 low high
    low=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null "$binary" "$1" $few 2>&1 | awk '/Collected/ {print $4}')
    high=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null "$binary" "$1" $many 2>&1 | awk '/Collected/ {print $4}')
    echo $(((high - low) / (many - few)))
}

if command -v valgrind >/dev/null; then
    loop=$(count nothing)
    declare -A cost
    for case in parse-seconds parse-seconds-headers parse-date parse-date-httpdate parse-date-headers \
        decide decide-without-jitter decide-retry-policies decide-backon windows windows-map; do
        cost[$case]=$(($(count "$case") - loop))
    done
    row() { printf '%-34s %6s   %5.2f times %s (%s)\n' "$1" "${cost[$2]}" \
        "$(awk "BEGIN {print ${cost[$2]} / ${cost[$3]}}")" "$4" "${cost[$3]}"; }
    echo "instructions"
    row 'parse 120' parse-seconds parse-seconds-headers headers
    row 'parse an IMF date' parse-date parse-date-httpdate httpdate
    row 'parse an IMF date' parse-date parse-date-headers headers
    row 'decide, with jitter' decide decide-backon backon
    row 'decide, with jitter' decide decide-retry-policies retry-policies
    row 'decide, without jitter' decide-without-jitter decide-backon backon
    row 'windows, a thousand keys' windows windows-map 'RwLock<HashMap<Url, SystemTime>>'
else
    echo "valgrind is not installed: no instructions are counted"
fi

# Seconds of a processor that a case takes, less those that its preparation takes.
seconds() {
    local TIMEFORMAT='%U %S'
    awk "BEGIN {print $( { time "$binary" "$1" $2 1000000; } 2>&1 | awk '{print $1 + $2}') - $( { time "$binary" "$1" 0 1000000; } 2>&1 | awk '{print $1 + $2}')}"
}

echo
echo "windows, a million keys, nine in ten read: nanoseconds of a processor, without fetching the URL itself"
accesses=10000000
both=$(seconds windows-nothing $accesses) ours=$(seconds windows $accesses) theirs=$(seconds windows-map $accesses)
awk "BEGIN {printf \"%.0f   %.2f times RwLock<HashMap<Url, SystemTime>> (%.0f)\n\", ($ours - $both) * 1e9 / $accesses, ($ours - $both) / ($theirs - $both), ($theirs - $both) * 1e9 / $accesses}"

echo
echo "nanoseconds"
cargo bench -q --bench core -- --noplot --warm-up-time 1 --measurement-time 3 2>/dev/null |
    # The name stands before the time, or on a line of its own where it is long.
    awk 'NF == 1 {name = $1} /time:/ {if ($1 != "time:") name = $1; sub(/.*\[/, ""); printf "%-24s %s %s\n", name, $3, $4}'
