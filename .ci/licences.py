"""Refuses a crate whose licence does not allow what MIT OR Apache-2.0 promises, one that is banned, one that comes from
elsewhere than crates.io, and a second version of one that has no reason.

Reads `cargo metadata` from standard input; the argument names the manifest in messages. A licence is an SPDX
expression: OR needs one side, AND both.
"""

import collections
import json
import re
import sys

ALLOWED = {
    "0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0",
    "ISC", "MIT", "MIT-0", "NCSA", "Unicode-3.0", "Unlicense", "Zlib",
}

REGISTRY = "registry+https://github.com/rust-lang/crates.io-index"

# What ARCHITECTURE.md calls absent on purpose, and what would bring a C library or a network into the build.
BANNED = {
    "cbindgen": "MPL-2.0, and the header's generator is ours",
    "defmt-decoder": "MPL-2.0 beneath it",
    "ndarray-linalg": "BLAS",
    "openssl-sys": "a C library",
    "rand": "SplitMix64 is three lines",
    "tokio": "nothing waits",
    "log": "nothing logs",
}
# Where a ban does not hold, and for whom.
UNBANNED = {
    ("log", "runtime/wasm/Cargo.toml"): "wasm-bindgen's tool",
    ("rand", "Cargo.toml"): "proptest's, in tests",
    ("rand", "benches/baselines/nnue-rs/Cargo.toml"): "the same",
    ("rand", "tests/fuzz/Cargo.toml"): "the same",
}

# Crates that are there in several versions, and whose they are.
DUPLICATES = {
    "bitflags": "defmt 1 wants 1, all others 2",
    "cpufeatures": "sha2 0.10 wants 0.2, chacha20 of proptest's rand 0.3",
    "embedded-hal": "cortex-m wants 0.2, riscv 1",
    "hashbrown": "toml's and serde's maps differ by a version",
    "nb": "embedded-hal 0.2 wants 0.1, which is a name for 1",
    "syn": "macros move from 2 to 3 one by one",
}


def allowed(expression):
    """Whether an SPDX expression is satisfied by ALLOWED; "/" is the old way to write OR."""
    tokens = re.findall(r"\(|\)|[^\s()]+", expression.replace("/", " OR "))

    def alternatives():
        holds = conjunction()
        while tokens and tokens[0] == "OR":
            tokens.pop(0)
            holds = conjunction() or holds
        return holds

    def conjunction():
        holds = licence()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            holds = licence() and holds
        return holds

    def licence():
        name = tokens.pop(0)
        if name == "(":
            holds = alternatives()
            tokens.pop(0)
            return holds
        if tokens and tokens[0] == "WITH":
            name += " WITH " + tokens[1]
            del tokens[:2]
        return name in ALLOWED

    return alternatives() and not tokens


def main():
    assert allowed("(MIT OR GPL-3.0) AND Unicode-3.0") and allowed("Apache-2.0 WITH LLVM-exception")
    assert not allowed("MIT AND GPL-3.0-only") and not allowed("AGPL-3.0") and not allowed("MPL-2.0")
    # The project's own packages have no source.
    packages = [package for package in json.load(sys.stdin)["packages"] if package["source"]]
    name, problems, versions = sys.argv[1], [], collections.defaultdict(set)
    for package in packages:
        crate, licence = package["name"], package["license"]
        if not allowed(licence or "none"):
            problems.append(f"{crate} {package['version']}: {licence}")
        if crate in BANNED and (crate, name) not in UNBANNED:
            problems.append(f"{crate} is banned: {BANNED[crate]}")
        if package["source"] != REGISTRY:
            problems.append(f"{crate} comes from {package['source']}, not from crates.io")
        versions[crate].add(package["version"])
    for crate, found in versions.items():
        if len(found) > 1 and crate not in DUPLICATES:
            listed = ", ".join(sorted(found))
            problems.append(f"{crate} in versions {listed}: say in DUPLICATES why, or bring them together")
    for problem in problems:
        print(f"{name}: {problem}")
    if problems:
        sys.exit(1)
    twice = sum(len(found) > 1 for found in versions.values())
    print(f"{name}: {len(packages)} packages, every licence is permissive, {twice} in several versions")


main()
