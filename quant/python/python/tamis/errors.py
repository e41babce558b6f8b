"""What goes wrong, as the command line says it: whose fault it is, which place, what was found and expected, and the
next step."""

from __future__ import annotations


class TamisError(Exception):
    """Any error of this package.

    kind: `gate`, `usage`, `malformed`, `io` or `unsupported` · status: the exit status of the command line, 1 to 5 ·
    message: what was found and expected · place: what stands in front of the message's first colon, a file or a row,
    where it names one · help: the next step, or None
    """

    kind = "error"

    def __init__(self, message: str, help: str | None = None, status: int = 2) -> None:
        super().__init__(message if help is None else f"{message}\nhelp: {help}")
        self.message = message
        self.help = help
        self.status = status
        head, colon, _ = message.partition(": ")
        self.place: str | None = head if colon else None


class GateError(TamisError):
    """Done, but what was checked does not hold: an overflow proof, a limit."""

    kind = "gate"


class UsageError(TamisError, ValueError):
    """What was asked for does not fit together."""

    kind = "usage"


class MalformedError(TamisError, ValueError):
    """A file is not what it has to be."""

    kind = "malformed"


class FileError(TamisError, OSError):
    """The file system refused."""

    kind = "io"


class UnsupportedError(TamisError, NotImplementedError):
    """Well formed, but not something that this version can do."""

    kind = "unsupported"


_OF_STATUS: dict[int, type[TamisError]] = {
    1: GateError,
    2: UsageError,
    3: MalformedError,
    4: FileError,
    5: UnsupportedError,
}


def of_status(status: int, message: str, help: str | None) -> TamisError:
    """The exception for an exit status of the command line."""
    return _OF_STATUS.get(status, TamisError)(message, help, status)
