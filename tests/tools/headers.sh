#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every header compiles alone, as C and as C++ (device code will include the inner ones, too),
# and the installed ones in the oldest dialects that users may choose. Templates
# (.tmpl.h) and fragments (.inc.h) are meant for one place and need what stands there.
set -euo pipefail

warnings=(-Wall -Wextra -Wpedantic -Werror)
n_failed=0

compile() { # header, flags...
    local header=$1
    shift
    if ! "$@" "${warnings[@]}" -fsyntax-only -Iinclude - <<<"#include \"$header\""; then
        echo "$header does not compile alone with: $*"
        n_failed=$((n_failed + 1))
    fi
}

mapfile -t installed < <(cd include && find . -name '*.h' -printf '%P\n' | sort)
mapfile -t inner < <(cd src && find . -name '*.h' ! -name '*.tmpl.h' ! -name '*.inc.h' ! -path './cli/*' ! -path './backend/cuda/*' -printf '%P\n' | sort)
[ ${#installed[@]} -gt 0 ] && [ ${#inner[@]} -gt 0 ]

for header in "${installed[@]}"; do
    compile "$header" clang -x c -std=c99
    compile "$header" clang -x c++ -std=c++11
done
for header in "${inner[@]}"; do
    compile "$header" "${CC:-cc}" -x c -std=c17 -Isrc
    compile "$header" clang -x c++ -std=c++17 -Isrc
done
[ $n_failed -eq 0 ]
