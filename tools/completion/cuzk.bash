# SPDX-License-Identifier: Apache-2.0
# bash completion for cuzk; installed as bash-completion/completions/cuzk

# Files whose name ends in one of the given suffixes, and folders.
_cuzk_files() {
    local suffix
    compopt -o filenames 2>/dev/null
    for suffix in "$@"; do
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -X "!*$suffix" -- "$cur")
    done
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$cur")
}

_cuzk_words() {
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
}

# The argument of the option before the cursor; fails when that is none that takes one.
_cuzk_argument() {
    case $1 in
        --zkey) _cuzk_files .zkey ;;
        --wtns) _cuzk_files .wtns ;;
        --r1cs) _cuzk_files .r1cs ;;
        --vkey | --proof | --public | --trace | --out | -o) _cuzk_files .json ;;
        --cpu) _cuzk_words "portable adx ifma" ;;
        --backend) _cuzk_words "cpu cuda" ;;
        --curve) _cuzk_words "bn254 bls12_381" ;;
        --profile) _cuzk_words "dense sha porep" ;;
        --quotient) _cuzk_words "circom filecoin" ;;
        --threads | -t) _cuzk_words "$(seq "$(nproc 2>/dev/null || echo 1)")" ;;
        --seed | --filter | --min-log-n | --max-log-n | --runs | --device | --vram-budget | --size | \
            --log-constraints) ;;
        *) return 1 ;;
    esac
}

_cuzk() {
    local cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[1]} options='' first=2
    local compute="--threads --cpu --backend --device --vram-budget"
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        _cuzk_words "prove verify inspect export witness setup bench help --help --version -h -V"
        return
    fi
    case $command in
        export | witness | bench) # commands of two words
            if ((COMP_CWORD == 2)); then
                case $command in
                    export) _cuzk_words "vkey --help" ;;
                    witness) _cuzk_words "check --help" ;;
                    bench) _cuzk_words "kernels h2d prove --help" ;;
                esac
                return
            fi
            command+=" ${COMP_WORDS[2]}" first=3
            ;;
        help)
            if ((COMP_CWORD == 2)); then
                _cuzk_words "prove verify inspect export witness setup bench"
            fi
            return
            ;;
    esac
    _cuzk_argument "$previous" && return
    case $command in
        prove)
            options="--zkey --wtns --proof --public --r1cs $compute --trace --json --quiet
                     --no-check --insecure --help" ;;
        verify) options="--vkey --public --proof --cpu --json --quiet --help" ;;
        inspect) options="--check --r1cs --threads --cpu --json --help" ;;
        "export vkey") options="--zkey --out --quiet --help" ;;
        "witness check") options="--r1cs --wtns --threads --cpu --json --quiet --help" ;;
        setup)
            options="--insecure --r1cs --zkey --seed $compute --json --quiet --help" ;;
        "bench kernels")
            options="--filter --min-log-n --max-log-n --runs $compute --json --help" ;;
        "bench h2d") options="--size --runs --device --json --help" ;;
        "bench prove")
            options="--zkey --wtns --synthetic --curve --log-constraints --profile --quotient
                     --runs $compute --trace --json --quiet --help" ;;
    esac
    if [[ $cur == -* ]]; then
        _cuzk_words "$options"
        return
    fi
    case $command:$((COMP_CWORD - first)) in # operands, when no option stands before them
        prove:0) _cuzk_files .zkey ;;
        prove:1) _cuzk_files .wtns ;;
        prove:* | verify:*) _cuzk_files .json ;;
        inspect:*) _cuzk_files .zkey .wtns .r1cs .json ;;
    esac
}

complete -F _cuzk cuzk
