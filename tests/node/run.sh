#!/bin/sh
# Compares our answers with independent implementations: run.sh BINARY. Needs Node 20 or later; exits with its status.
set -eu
BOTMESH_DOCS=$1
export BOTMESH_DOCS
cd "$(dirname "$0")"
[ -d node_modules ] || npm ci --no-audit --no-fund
exec node --test ajv.test.mjs mermaid.test.mjs sarif.test.mjs slugs.test.mjs
