"""Commands of `host-tools` on what is in memory: a folder for what they read and write, and what they answer."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias, cast

from . import _core
from .errors import TamisError, of_status

PathLike: TypeAlias = "str | os.PathLike[str]"
#: Limits, by name, or a file of them.
Gates: TypeAlias = "PathLike | Mapping[str, float | bool]"
Option: TypeAlias = "str | int | float | bool | os.PathLike[str] | list[str] | tuple[str, ...] | None"


@contextmanager
def place() -> Iterator[Path]:
    """A folder for what the commands read and write, for as long as they do."""
    with tempfile.TemporaryDirectory(prefix="tamis-") as folder:
        yield Path(folder)


def command(place: Path, command: str, subject: PathLike, **options: Option) -> dict[str, Any]:
    """The object that a command prints, options by their names with underscores for dashes."""
    return answer(place, command, subject, **options)[0]


def answer(place: Path, command: str, subject: PathLike, **options: Option) -> tuple[dict[str, Any], list[str]]:
    """What a command says, with the names of what was in memory where it names files of this folder."""
    arguments = [command]
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            arguments.append(option)
        elif isinstance(value, (list, tuple)):
            arguments += [f"{option}={os.fspath(one)}" for one in value]
        elif value is not None and value is not False:
            arguments.append(f"{option}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
    arguments += ["--", os.fspath(subject)]
    inside = f"{place}{os.sep}"
    try:
        _, text, warnings = _core.run_command(arguments)
    except TamisError as error:
        message = error.message.replace(inside, "")
        help = error.help.replace(inside, "") if error.help else None
        raise of_status(error.status, message, help) from None
    warnings = [warning.replace(inside, "") for warning in warnings]
    return cast("dict[str, Any]", json.loads(text.replace(json.dumps(inside)[1:-1], ""))), warnings


def written(place: Path, name: str, content: bytes) -> Path:
    """A file of the folder."""
    path = place / name
    path.write_bytes(content)
    return path


def gates(place: Path, gates: Gates | None) -> PathLike | None:
    """Limits by name as a file of them."""
    if not isinstance(gates, Mapping):
        return gates
    text = "".join(f"{key} = {str(limit).lower()}\n" for key, limit in gates.items())
    return written(place, "gates.toml", text.encode())
