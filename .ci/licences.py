"""Refuses a crate whose licence does not allow what MIT OR Apache-2.0 promises.

Reads `cargo metadata` from standard input; the argument names the manifest in messages. A licence is an SPDX
expression: OR needs one side, AND both.
"""

import json
import re
import sys

ALLOWED = {
    "0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0",
    "ISC", "MIT", "MIT-0", "NCSA", "Unicode-3.0", "Unlicense", "Zlib",
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
    refused = [package for package in packages if not allowed(package["license"] or "none")]
    for package in refused:
        print(f"{sys.argv[1]}: {package['name']} {package['version']}: {package['license']}")
    if refused:
        sys.exit(1)
    print(f"{sys.argv[1]}: {len(packages)} packages, every licence is permissive")


main()
