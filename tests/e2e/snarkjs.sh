#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What snarkjs proves we accept, and what we prove snarkjs accepts: see snarkjs.js.
set -euo pipefail
command -v node >/dev/null || { echo "node is missing" && exit 77; }
node -e 'require("./tests/e2e/node_modules/snarkjs")' 2>/dev/null ||
    { echo "snarkjs is missing: npm ci --prefix tests/e2e" && exit 77; }
exec node tests/e2e/snarkjs.js
