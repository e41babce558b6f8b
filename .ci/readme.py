"""Runs the README's tour and compares what it shows with what is printed.

    python .ci/readme.py README.md FOLDER-OF-host-tools

In a ```console block a line that starts with "$ " is run, in a scratch folder that has the repository's `tests` in it.
Every line after it, up to the next command, must be printed, in that order; lines may be left out anywhere, and "..."
says so where it matters to a reader. Runs of spaces count as one: how wide a column is depends on the names of the tiers that
the machine has.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile


def commands(text):
    for block in re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        for part in block.split("$ ")[1:]:
            command, *shown = part.splitlines()
            yield command, [line for line in shown if line not in ("", "...")]


def main():
    readme, programs = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    count = 0
    with tempfile.TemporaryDirectory() as scratch:
        (pathlib.Path(scratch) / "tests").symlink_to(readme.parent / "tests")
        for command, shown in commands(readme.read_text()):
            print("$", command)
            done = subprocess.run(command, shell=True, cwd=scratch, env=environment, text=True, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            if done.returncode != 0:
                sys.exit(f"{done.stderr}exit status {done.returncode}")
            printed = iter(done.stdout.splitlines())
            for line in shown:
                if not any(line.split() == candidate.split() for candidate in printed):
                    sys.exit(f"{done.stdout}README.md shows a line that is not printed here: {line!r}")
            count += 1
    if count == 0:
        sys.exit("README.md shows no command")
    print(f"{count} commands print what README.md shows")


main()
