#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every request for memory that a command makes fails once, alone and with all that follow it.
# The program must end with code 0 or 5, never crash, say one line, and leave no file behind
# that is not complete.
set -euo pipefail

failalloc=$CUZK_BUILD/tests/libfailalloc.so
[ -e "$failalloc" ] || { echo "no failalloc library in this build" && exit 77; }

circuit=tests/golden/bn128/two
key=$circuit/circuit_final.zkey
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
out=$folder/out

run() { # name=value..., with the command in $command
    rm -rf "$out"
    mkdir "$out"
    env "$@" FAILALLOC_COUNT_FILE="$folder/count" LD_PRELOAD="$failalloc" "$CUZK" "${command[@]}" \
        >"$folder/stdout" 2>"$folder/stderr"
}

wrong() { # what
    echo "cuzk ${command[*]}: request $n, $mode: $1"
    cat "$folder/stderr"
    ls "$out"
    exit 1
}

check_run() { # exit code, number of output files
    local n_files
    n_files=$(find "$out" -type f | wc -l)
    case $1 in
    0)
        [ "$n_files" -eq "$2" ] || wrong "code 0, but $n_files files instead of $2"
        cmp -s "$folder/stdout" "$folder/expected" || wrong "code 0, but other words than usual"
        ;;
    5)
        [ "$n_files" -eq 0 ] || wrong "code 5, but $n_files files"
        [ "$(grep -c ^ "$folder/stderr")" -eq 1 ] || wrong "code 5, but not one line of text"
        ;;
    *) wrong "code $1" ;;
    esac
}

starve() { # number of output files, command...
    local n_files=$1 n_requests n_refused=0 n mode rc
    shift
    command=("$@")
    run FAILALLOC_N=0 || { cat "$folder/stderr" && exit 1; }
    n_requests=$(cat "$folder/count")
    cp "$folder/stdout" "$folder/expected"
    [ "$n_requests" -gt 5 ] || { echo "$1: only $n_requests requests: is it counting?" && exit 1; }
    for ((n = 1; n <= n_requests; n++)); do
        for mode in FAILALLOC_N FAILALLOC_FROM; do
            rc=0
            run $mode=$n || rc=$?
            check_run $rc "$n_files"
            [ $rc -eq 0 ] || n_refused=$((n_refused + 1))
        done
    done
    echo "$1: $n_requests requests for memory, $n_refused of $((2 * n_requests)) runs refused"
    [ $n_refused -ge "$n_requests" ]
}

starve 3 prove --zkey $key --wtns $circuit/witness.wtns --threads 2 --quiet --backend cpu \
    --proof "$out/proof.json" --public "$out/public.json" --trace "$out/trace.json"
starve 0 witness check --r1cs $circuit/circuit.r1cs --wtns $circuit/witness.wtns
starve 1 export vkey --zkey $key --out "$out/vkey.json"
starve 0 verify --vkey $circuit/verification_key.json --public $circuit/public.json \
    --proof $circuit/proof.json
starve 0 inspect --check --r1cs $circuit/circuit.r1cs $key
