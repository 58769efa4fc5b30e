#!/bin/sh
# Compares our answers with independent implementations. Needs Node 20 or later; exits with its status.
set -eu
cd "$(dirname "$0")"
[ -d node_modules ] || npm ci --no-audit --no-fund
exec node --test ajv.test.mjs mermaid.test.mjs
