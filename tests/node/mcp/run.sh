#!/bin/sh
# Runs the official TypeScript clients against a built binary: tests/node/mcp/run.sh [BINARY] [DOCS_DIR]
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../../.." && pwd)
binary=${1:-"$root/target/release/botmesh-docs"}
docs=${2:-"$root/docs"}
cd "$root/tests/node/mcp"
npm ci --ignore-scripts --silent
exec node client.mjs "$binary" "$docs"
