#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/check_exports accepts exactly the declared functions, no more and no fewer.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cat >"$folder/api.h" <<'END'
#define CUZK_API
/* CUZK_API void cuzk_only_in_a_comment(void); */
CUZK_API int cuzk_one(void);
CUZK_API const char *
cuzk_two(int (*callback)(void *), int n);
END

link() { # code
    "${CC:-cc}" -x c -shared -fPIC -o "$folder/x.so" - <<<"$1"
}

expect_fault() { # words of the message, code
    link "$2"
    local said
    said=$(tools/check_exports "$folder/x.so" "$folder/api.h") && echo "accepted: $2" && exit 1
    [[ $said == *"$1"* ]] || { echo "for $2 expected \"$1\", got: $said" && exit 1; }
}

both='int cuzk_one(void) { return 1; } const char *cuzk_two(int (*c)(void *), int n) { return c && n ? "" : 0; }'
link "$both"
tools/check_exports "$folder/x.so" "$folder/api.h"
expect_fault 'exports helper' "$both int helper(void) { return 2; }"
expect_fault 'exports cuzk_internal' "$both int cuzk_internal(void) { return 2; }"
expect_fault 'lacks cuzk_two' 'int cuzk_one(void) { return 1; }'
echo 'CUZK_API int stray(void);' >>"$folder/api.h"
expect_fault 'not called cuzk_*' "$both int stray(void) { return 2; }"
