#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/check_globals accepts constants and names every kind of mutable object.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

compile() { # flags..., code on standard input
    "${CC:-cc}" -x c -c -o "$folder/x.o" "$@" -
}

expect_fault() { # section, name, code
    compile <<<"$3"
    local said
    said=$(tools/check_globals "$folder/x.o") && echo "accepted: $3" && exit 1
    [[ $said == *"$1"*"$2"* ]] || { echo "for $3 expected $1 $2, got: $said" && exit 1; }
}

compile -fPIC <<<'static const int t[] = {1, 2}; extern const char *const names[];
    const char *const names[] = {"a", "b"}; int f(int i) { return t[i] + names[i][0]; }'
tools/check_globals "$folder/x.o"

expect_fault .data counter 'int counter = 1;'
expect_fault .bss counter 'int counter;'
expect_fault .bss hidden 'int f(void) { static int hidden; return hidden++; }'
expect_fault .bss secret '__attribute__((visibility("hidden"))) int secret;'
expect_fault .tbss mine '_Thread_local int mine;'
expect_fault .tdata mine '_Thread_local int mine = 2;'
expect_fault .data.special odd '__attribute__((section(".data.special"))) int odd = 3;'
expect_fault .data '(no name)' '__asm__(".data\n.quad 5\n.text");'
expect_fault '*COM*' common '__asm__(".comm common,8,8");'

compile <<<'int counter = 1;'
cp "$folder/x.o" "$folder/bad.o"
compile <<<'int f(void) { return 1; }'
ar rc "$folder/all.a" "$folder/x.o" "$folder/bad.o"
said=$(tools/check_globals "$folder/all.a") && echo "accepted an archive" && exit 1
[[ $said == *"bad.o: .data: counter"* ]] || { echo "archive: $said" && exit 1; }
