#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How the program behaves: exit codes, messages, files, streams, signals, help. See cli.py.
set -euo pipefail
exec python3 -B tests/e2e/cli.py
