#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/bootstrap without root: names what is missing, prints one apt line, stops with code 5.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# A system where only these commands exist; apt-get must not be run.
for name in bash dirname uname cat sed; do ln -s "$(command -v $name)" "$folder/$name"; done
printf '#!/bin/sh\necho 1000\n' >"$folder/id"
printf '#!/bin/sh\necho "apt-get was run: $*"\nexit 1\n' >"$folder/apt-get"
chmod +x "$folder/id" "$folder/apt-get"

rc=0
said=$(PATH=$folder tools/bootstrap build 2>&1) || rc=$?
[ $rc -eq 5 ] || { echo "code $rc: $said" && exit 1; }
[[ $said == *"missing Debian packages: gcc "*"libjansson-dev"* ]] || { echo "$said" && exit 1; }
[ "$(grep -c 'apt-get install -y' <<<"$said")" -eq 1 ] || { echo "$said" && exit 1; }
[[ $said != *"was run"* ]] || { echo "$said" && exit 1; }

rm "$folder/apt-get" # another distribution
rc=0
said=$(PATH=$folder tools/bootstrap build 2>&1) || rc=$?
[[ $rc == 5 && $said == *"not Debian"* ]] || { echo "code $rc: $said" && exit 1; }

rc=0
tools/bootstrap nonsense >/dev/null 2>&1 || rc=$?
[ $rc -eq 2 ]
