#!/usr/bin/env bash
# The settings page in a real browser. usage: tests/browser/run.sh BINARY
set -euo pipefail
binary=$(realpath "$1")
cd "$(dirname "$0")"
export CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || true)}
if [ -z "$CHROMIUM" ]; then
  echo "chromium is not installed: skipped"
  exit 0
fi
npm ci --silent --no-audit --no-fund
export BINARY=$binary
exec timeout 300 node --test --test-timeout 240000 settings.test.mjs
