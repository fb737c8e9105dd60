#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/check_layers accepts a well-layered tree and names each kind of fault.
set -euo pipefail
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT

fresh_tree() {
    rm -rf "${top:?}"/*
    mkdir -p "$top"/{include/cuzk,src/{base,math/limb,math/field,format/circom,backend/cpu,prover,cli},examples}
    echo '' >"$top/include/cuzk/status.h"
    echo '#include "cuzk/status.h"' >"$top/include/cuzk/cuzk.h"
    echo '#include "cuzk/status.h"' >"$top/src/base/status.h"
    echo '#include "base/status.h"' >"$top/src/math/limb/limb.h"
    echo '#include "math/limb/limb.h"' >"$top/src/math/field/field.h"
    echo '#include "base/status.h"' >"$top/src/format/circom/zkey.h"
    echo '#include "math/field/field.h"' >"$top/src/backend/cpu/cpu.h"
    printf '#include "format/circom/zkey.h"\n#include "cuzk/cuzk.h"\n' >"$top/src/prover/prover.c"
    echo '' >"$top/src/cli/command.h"
    printf '#include "command.h"\n#include "cuzk/cuzk.h"\n' >"$top/src/cli/main.c"
    echo '#include "cuzk/cuzk.h"' >"$top/examples/embed.c"
}

expect_fault() { # file, line to add, words of the message
    fresh_tree
    mkdir -p "$(dirname "$top/$1")"
    echo "$2" >>"$top/$1"
    local said
    if said=$(tools/check_layers "$top"); then
        echo "accepted in $1: $2"
        exit 1
    fi
    case $said in
    *"$3"*) ;;
    *) echo "in $1: $2: expected \"$3\", got: $said" && exit 1 ;;
    esac
}

fresh_tree
tools/check_layers "$top"
expect_fault src/base/status.h '#include "math/limb/limb.h"' 'wrong way'
expect_fault src/math/limb/limb.h '#  include "math/field/field.h"' 'wrong way'
expect_fault src/format/circom/zkey.h '#include "backend/cpu/cpu.h"' 'may not see each other'
expect_fault src/backend/cpu/cpu.h '#include "format/circom/zkey.h"' 'may not see each other'
expect_fault src/cli/main.c '#include "base/status.h"' 'cli may include only'
expect_fault src/cli/main.c '#include "../base/status.h"' 'cli may include only'
expect_fault examples/embed.c '#include "base/status.h"' 'examples may include only'
expect_fault include/cuzk/cuzk.h '#include "base/status.h"' 'include may include only'
expect_fault src/base/status.h '#include "cuzk/cuzk.h"' 'below the API'
expect_fault src/base/status.h '#include "alloc.h"' 'is not a file of src/'
expect_fault src/base/status.h '#include "math/../base/../prover/prover.h"' 'is not a file of src/'
expect_fault src/elsewhere/x.c '#include "base/status.h"' 'does not know'
fresh_tree
echo '#include "base/b.h"' >"$top/src/base/a.h"
echo '#include "base/c.h"' >"$top/src/base/b.h"
echo '#include "base/a.h"' >"$top/src/base/c.h"
said=$(tools/check_layers "$top") && echo "accepted a cycle" && exit 1
[[ $said == *"base/a.h -> base/b.h -> base/c.h -> base/a.h"* ]] || { echo "cycle: $said" && exit 1; }
