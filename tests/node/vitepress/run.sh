#!/bin/sh
# Compares dead links with the site builder's: run.sh BINARY. Needs Node 20 or later; exits with its status.
set -eu
BOTMESH_DOCS=$1
export BOTMESH_DOCS
cd "$(dirname "$0")"
[ -d node_modules ] || npm ci --no-audit --no-fund
exec node --test dead-links.test.mjs
