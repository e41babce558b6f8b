"""`python -m tamis COMMAND …`: a command of `host-tools`, whose report is printed as JSON."""

from __future__ import annotations

import sys

from . import _core
from .errors import TamisError


def main() -> int:
    """Does what the arguments say; the exit status is that of the command line."""
    try:
        status, text, warnings = _core.run_command([argument for argument in sys.argv[1:] if argument != "--json"])
    except TamisError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.status
    for warning in warnings:
        print(f"warning: {warning}", file=sys.stderr)
    sys.stdout.write(text)
    return status


if __name__ == "__main__":
    sys.exit(main())
