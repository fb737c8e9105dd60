#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Damaged files of every format are refused, each with its exit code and place. See damaged.py.
set -euo pipefail
exec python3 -B tests/e2e/damaged.py
