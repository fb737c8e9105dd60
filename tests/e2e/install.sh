#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An installed tree is complete: a program outside finds headers and both libraries by
# pkg-config alone, and proves.
set -euo pipefail

prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install "$CUZK_BUILD" --prefix "$prefix" >"$prefix/log"

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name cuzk.pc)")
export PKG_CONFIG_PATH
package=(pkg-config --define-variable=prefix="$prefix")
library=$("${package[@]}" --variable=libdir cuzk)
read -ra compile_flags < <("${package[@]}" --cflags cuzk)
read -ra shared_flags < <("${package[@]}" --libs cuzk)
read -ra static_flags < <("${package[@]}" --static --libs cuzk | sed "s|-lcuzk|$library/libcuzk.a|")
circuit=examples/circuit

link() { # name, flags...
    "${CC:-cc}" -std=c99 -Wall -Wextra -Werror "${compile_flags[@]}" examples/embed.c \
        -o "$prefix/$1" "${@:2}"
}

needs_library() { # program
    readelf -d "$prefix/$1" | grep -q 'NEEDED.*libcuzk\.so\.[0-9]'
}

link with_shared "${shared_flags[@]}"
link with_static "${static_flags[@]}"
needs_library with_shared
if needs_library with_static; then exit 1; fi

LD_LIBRARY_PATH=$library "$prefix/with_shared" $circuit/circuit.zkey $circuit/witness.wtns
"$prefix/with_static" $circuit/circuit.zkey $circuit/witness.wtns
[ "$("${package[@]}" --modversion cuzk)" = "$("$prefix/bin/cuzk" --version | grep -o '[0-9][0-9.]*' | head -n 1)" ]
[ -s "$prefix/share/bash-completion/completions/cuzk" ]
[ -n "$(find "$prefix/share/man" -name 'cuzk*.1')" ]
