"""A container, ready to run."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

from numpy.typing import NDArray

from . import _core, commands
from .errors import FileError, UsageError
from .report import Proof


class Model(_core.Model):
    """A checked network. `tamis.load` and `tamis.quantise` make one."""

    def evaluate(self, positions: str | Iterable[str] | bytes, *, threads: int | None = None) -> NDArray[Any]:
        """The values of positions for the side to move: int32 of networks whose head is an integer, else float64.

        positions: one FEN, or `startpos`, for (outputs,); several, or the bytes of BulletFormat's records, for
        (n, outputs). A line may also be `FEN | score | result` or EPD.
        """
        if isinstance(positions, (bytes, bytearray, memoryview)):
            return self.records(bytes(positions), threads=threads)
        if isinstance(positions, str):
            return cast("NDArray[Any]", self.positions([positions], threads=threads)[0])
        lines = list(positions)
        for index, line in enumerate(lines):
            if not isinstance(line, str):
                raise UsageError(f"position {index}: {type(line).__name__}, expected text", "give FENs")
        return self.positions(lines, threads=threads)

    def inspect(self) -> dict[str, Any]:
        """What is in the container: the object that `host-tools inspect --json` prints."""
        with commands.place() as place:
            return commands.command(place, "inspect", commands.written(place, "model.bin", self.container))

    def proof(self) -> Proof:
        """The bounds of every sum, derived again from the container's own integers."""
        return Proof(self.inspect()["proof"])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the container, whole or not at all; raises `FileError` where that cannot be."""
        target = Path(path)
        beside = target.with_name(f".{target.name}.{os.getpid()}")
        try:
            beside.write_bytes(self.container)
            beside.replace(target)
        except OSError as error:
            raise FileError(f"{target}: cannot write: {error.strerror}", status=4) from error
        finally:
            beside.unlink(missing_ok=True)

    def __reduce__(self) -> tuple[type[Model], tuple[bytes]]:
        return (Model, (self.container,))

    def __repr__(self) -> str:
        axes = "×".join(str(axis) for axis in self.input_shape)
        return f"<tamis.Model {self.name!r}: {self.input_kind} {axes} -> {self.outputs}, {len(self.container)} bytes>"
