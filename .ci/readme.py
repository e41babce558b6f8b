"""Runs the commands that the guides show and compares what they print with what is shown.

    python .ci/readme.py GUIDE.md... FOLDER-OF-host-tools

In a ```console block a line that starts with "$ " is run; one that ends in "\\" goes on in the next. A file's commands
run one after the other in a scratch folder of its own, which has the repository's `tests` in it, so that a guide stands
alone. Every line after a command, up to the next one, must be printed, in that order; lines may be left out anywhere,
and "..." says so where it matters to a reader. Runs of spaces count as one: how wide a column is depends on the names
of the tiers that the machine has.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent


def commands(text):
    for block in re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *shown = re.sub(r" *\\\n *", " ", part).splitlines()
            yield command, [line for line in shown if line not in ("", "...")]


def check(guide, environment):
    """Runs one file's commands; gives how many there are."""
    count = 0
    with tempfile.TemporaryDirectory() as scratch:
        (pathlib.Path(scratch) / "tests").symlink_to(REPOSITORY / "tests")
        for command, shown in commands(pathlib.Path(guide).read_text()):
            print("$", command)
            done = subprocess.run(
                command,
                shell=True,
                cwd=scratch,
                env=environment,
                text=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            if done.returncode != 0:
                sys.exit(f"{done.stderr}{guide}: exit status {done.returncode}")
            printed = iter(done.stdout.splitlines())
            for line in shown:
                if not any(line.split() == candidate.split() for candidate in printed):
                    sys.exit(f"{done.stdout}{guide} shows a line that is not printed here: {line!r}")
            count += 1
    if count == 0:
        sys.exit(f"{guide} shows no command")
    return count


def main():
    *guides, programs = sys.argv[1:]
    if not guides:
        sys.exit("usage: readme.py GUIDE.md... FOLDER-OF-host-tools")
    programs = pathlib.Path(programs).resolve()
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    for guide in guides:
        print(f"{check(guide, environment)} commands print what {guide} shows")


main()
