#!/usr/bin/env python3
"""Adds up what was fuzzed, in LEDGER.md: executions by target, mode, commit and machine.

    ledger.py add LOG [COMMIT]   adds the lines `ran` and `guided` of a run's log, of this commit or another
    ledger.py check              says whether the sums are those of the rows

A row grows while commit and machine stay the same. Accepted inputs are counted where the runner counts them.
"""

import platform
import re
import subprocess
import sys
import textwrap
from pathlib import Path

PAGE = Path(__file__).parent / "LEDGER.md"
MARK = "<!-- rows -->"
HEAD = ["target", "mode", "commit", "machine", "executions", "accepted", "seconds", "a second"]
# Valid containers on every tier and in the second reader.
CONTAINERS = ("containers", "containers-briefly")


def commit():
    here = Path(__file__).parent
    command = ["git", "rev-parse", "--short=7", "HEAD"]
    return subprocess.run(command, cwd=here, capture_output=True, text=True, check=True).stdout.strip()


def machine():
    names = [line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    return f"{platform.machine()}, {names[0] if names else 'unknown'}"


def rows(text):
    table = text.split(MARK, 1)[1].strip().splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table if line.startswith("|")]
    number = lambda cell: None if cell == "-" else float(cell.replace(",", ""))
    return {tuple(row[:4]): [number(cell) for cell in row[4:7]] for row in cells}


def grown(table, log, at):
    for line in open(log):
        words = line.rstrip("\n").split("\t")
        if words[0] not in ("ran", "guided") or len(words) != 5:
            continue
        mode = {"ran": "plain", "guided": "guided"}[words[0]]
        key = (words[1], mode, at, machine())
        old = table.get(key, [0, None if words[3] == "-" else 0, 0])
        accepted = None if words[3] == "-" else old[1] + int(words[3])
        table[key] = [old[0] + int(words[2]), accepted, old[2] + round(float(words[4]))]
    return table


def sums(table):
    if not table:
        return ["- **0** executions."]
    total = sum(row[0] for row in table.values())
    guided = sum(row[0] for key, row in table.items() if key[1] == "guided")
    containers = sum(row[0] for key, row in table.items() if key[0] in CONTAINERS)
    by_target = {}
    for key, row in table.items():
        by_target[key[0]] = by_target.get(key[0], 0) + row[0]
    least = min(by_target, key=by_target.get)
    below = sorted(name for name, count in by_target.items() if count < 1e6)
    hours = sum(row[2] for row in table.values()) / 3600
    return [
        f"- **{total:,.0f}** executions of {len(by_target)} targets in {hours:.1f} hours, "
        f"{guided:,.0f} of them guided.",
        f"- **{containers:,.0f}** valid containers that ran on every tier of the machine and in the second reader.",
        f"- Least: `{least}`, {by_target[least]:,.0f}. Below a million: "
        + (", ".join(f"`{name}`" for name in below) if below else "none") + ".",
    ]


def wrapped(line):
    return textwrap.fill(line, 120, subsequent_indent="  ", break_on_hyphens=False)


def page(text, table):
    before = text.split(MARK, 1)[0]
    start = before.index("- **") if "- **" in before else len(before)
    lines = [before[:start].rstrip(), "", *map(wrapped, sums(table)), "", MARK, "", "| " + " | ".join(HEAD) + " |",
             "|---|---|---|---|--:|--:|--:|--:|"]
    for key, (executions, accepted, seconds) in sorted(table.items()):
        shown = "-" if accepted is None else f"{accepted:,.0f}"
        rate = executions / seconds if seconds else 0
        lines.append(f"| {' | '.join(key)} | {executions:,.0f} | {shown} | {seconds:,.0f} | {rate:,.0f} |")
    return "\n".join(lines) + "\n"


def main():
    text = PAGE.read_text()
    if sys.argv[1:2] == ["add"]:
        at = sys.argv[3] if len(sys.argv) > 3 else commit()
        PAGE.write_text(page(text, grown(rows(text), sys.argv[2], at)))
    elif sys.argv[1:] == ["check"]:
        if text != page(text, rows(text)):
            sys.exit("ledger: LEDGER.md's sums are not those of its rows; it is written by ledger.py alone")
    else:
        sys.exit(__doc__)


main()
