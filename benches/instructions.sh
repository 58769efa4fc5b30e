#!/bin/sh
# Instructions, counted by valgrind: the same number for the same binary and input, whatever else the machine does.
# Each count is of the whole program less its start, which `flow schema` stands for.
# benches/instructions.sh [BINARY]; needs valgrind.
set -eu
cd "$(dirname "$0")/.."
binary=${1:-target/release/botmesh-docs}
cases=tests/cases/flow/valid
count() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$binary" "$@" 2>&1 >/dev/null |
    sed -n 's/.*Collected : //p'
}
echo "start, flow schema             $(count flow schema)"
echo "validate, 60 steps             $(count flow validate $cases/clinic-booking-60.json)"
echo "validate and analyze, 60 steps $(count flow analyze $cases/clinic-booking-60.json)"
