# What a machine needs for ../run, and how it is had: sourced by it, with `target` for the folder of builds, `targets`
# for the targets that are wanted and `only` for what is asked of it.

say() { printf 'firmware: %s\n' "$*"; }
die() { say "$*" >&2; exit 1; }

# Whether the compiler in the path has core for every target, as `rustup target add` puts it there.
core_is_there() {
    local wanted folder
    for wanted in $targets; do
        folder=$(rustc --print target-libdir --target "$wanted" 2>/dev/null) && [[ -d $folder ]] || return 1
    done
}

# Lines of a Debian package that is missing and what it is for.
missing() {
    lacks() { # command package why
        command -v "$1" >/dev/null || printf '%s\t%s\n' "$2" "$3"
    }
    lacks cargo cargo-web "builds everything"
    lacks cc gcc "links host programs"
    [[ -e /usr/include/stdio.h ]] || printf 'libc6-dev\tlinks host programs\n'
    lacks arm-none-eabi-ld binutils-arm-none-eabi "links and inspects Cortex-M images"
    lacks riscv64-unknown-elf-ld binutils-riscv64-unknown-elf "links and inspects RISC-V images"
    lacks qemu-system-arm qemu-system-arm "runs Cortex-M images"
    lacks qemu-system-riscv32 qemu-system-misc "runs RISC-V images"
    lacks python3 python3 "measures images and writes the table"
    if ! core_is_there; then
        lacks /usr/bin/rustc rustc-web "a stable compiler whose source Debian has"
        lacks /usr/bin/cargo cargo-web "builds core from that source"
        [[ $only != --lint && $only != --missing ]] ||
            lacks /usr/bin/cargo-clippy rust-web-clippy "checks what that compiler builds"
        [[ -d /usr/lib/rustlib/src/rust/library ]] ||
            printf 'rust-web-src\tthe source of core, since no toolchain has it for these targets\n'
    fi
}

# Says what is missing and why, and installs it where that is allowed and possible.
install_missing() { # yes|no
    local list packages as=()
    list=$(missing | sort -u)
    [[ -n $list ]] || return 0
    say "this machine lacks, by the names of Debian's packages:"
    sed 's/^/    /; s/\t/: /' <<<"$list"
    packages=$(cut -f1 <<<"$list" | sort -u)
    [[ $1 == yes ]] || die "nothing is installed, as asked; install them, or leave --no-install out"
    command -v apt-get >/dev/null || die "there is no apt-get; install what has these commands on your system"
    if [[ $(id -u) != 0 ]]; then
        sudo -n true 2>/dev/null ||
            die "not root, and sudo wants a password: sudo apt-get install --no-install-recommends ${packages//$'\n'/ }"
        as=(sudo)
    fi
    say "installing them with apt-get"
    "${as[@]}" apt-get -o DPkg::Lock::Timeout=180 update -qq
    # shellcheck disable=SC2086  # a word a package
    "${as[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=180 install -y -qq \
        --no-install-recommends $packages </dev/null >/dev/null
}

# Sets RUSTC, the compiler of all images, and `sysroots`: a folder with one for each target, or nothing if RUSTC has
# core itself. Without core from rustup, it is built from Debian's source, once a target. Only that build uses
# RUSTC_BOOTSTRAP; the images are built by an ordinary stable compiler, so that an unstable feature anywhere in them
# is refused.
choose_compiler() {
    local wanted stale=() flags=()
    if core_is_there; then
        RUSTC=$(command -v rustc) sysroots=
        say "core comes with $("$RUSTC" --version)"
        return
    fi
    RUSTC=/usr/bin/rustc sysroots=$target/sysroot
    for wanted in $targets; do
        [[ $(cat "$sysroots/$wanted/compiler" 2>/dev/null) == "$("$RUSTC" -vV)" ]] || stale+=("$wanted")
    done
    say "core is built from source by $("$RUSTC" --version), in target/sysroot"
    [[ ${#stale[@]} != 0 ]] || return 0
    say "building it for ${stale[*]}, once"
    rm -rf "$target/core"
    mkdir -p "$target/core/src"
    printf '#![no_std]\n' >"$target/core/src/lib.rs"
    # Its own workspace table, so that cargo does not look for one above it.
    printf '[package]\nname = "nothing"\nversion = "0.0.0"\nedition = "2024"\n[workspace]\n' >"$target/core/Cargo.toml"
    flags=("${stale[@]/#/--target=}")
    # Bitcode is there for images that are linked with LTO. The sources of std's own dependencies come with it, so
    # nothing is downloaded.
    (cd "$target/core" && RUSTC=$RUSTC RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Cembed-bitcode=yes CARGO_HOME="$target/core/home" \
        CARGO_TARGET_DIR="$target/core/target" /usr/bin/cargo build --quiet --release --offline \
        --config 'source.crates-io.replace-with="vendored"' \
        --config "source.vendored.directory=\"$("$RUSTC" --print sysroot)/lib/rustlib/src/rust/library/vendor\"" \
        -Zbuild-std=core "${flags[@]}")
    for wanted in "${stale[@]}"; do
        rm -rf "${sysroots:?}/$wanted"
        mkdir -p "$sysroots/$wanted/lib/rustlib/$wanted/lib"
        cp "$target/core/target/$wanted/release/deps"/lib{core,compiler_builtins}-*.rlib \
            "$sysroots/$wanted/lib/rustlib/$wanted/lib/"
        "$RUSTC" -vV >"$sysroots/$wanted/compiler"
    done
    rm -rf "$target/core"
}
