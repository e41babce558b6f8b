# What was linked into an image: sourced by ../run.

# The prefix of binutils' commands for a target.
binutils() { # target
    case $1 in
    riscv*) echo riscv64-unknown-elf- ;;
    *) echo arm-none-eabi- ;;
    esac
}

# Nothing of std, no allocator; how many functions can still panic is told, not judged.
look() { # image prefix
    local names panics
    names=$("$2nm" --demangle "$1")
    if grep -E '(^| |<)(std|alloc)::|__rust_alloc' <<<"$names"; then
        die "$1 contains std or alloc"
    fi
    grep -q 'tamis_runtime::' <<<"$names" || die "$1 does not contain the runtime"
    panics=$("$2objdump" --disassemble --demangle --no-show-raw-insn "$1" |
        awk '/^[0-9a-f]+ </ { here = $0 }
             /<core::panicking::/ && here !~ /<core::panicking/ { seen[here] = 1 }
             END { for (name in seen) count++; print count + 0 }')
    say "${1##*/images/}: no std, no alloc; functions that call core::panicking: $panics"
}

# For an image without a log, whose stack nothing paints: the counter watches it, ",low=ADDRESS,high=ADDRESS".
stack_range() { # image
    local symbols
    symbols=$(arm-none-eabi-nm "$1")
    if ! grep -q ' _defmt_acquire$\| __DEFMT_MARKER_END$' <<<"$symbols"; then
        awk '$3 == "__ebss" { low = $1 } $3 == "_stack_start" { high = $1 }
             END { printf ",low=0x%s,high=0x%s", low, high }' <<<"$symbols"
    fi
}
