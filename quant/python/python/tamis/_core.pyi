"""The native half."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

def run_command(arguments: list[str]) -> tuple[int, str, list[str]]:
    """Does what `host-tools ARGUMENTS --json` does: the exit status 0 or 1, the JSON object, and warnings."""

def is_text(start: bytes) -> bool:
    """Whether a file of positions that begins so is text, and not BulletFormat."""

def position_lines(bytes: bytes) -> list[str]:
    """The lines of a file of positions that is text."""

def feature_rows(
    bytes: bytes,
) -> tuple[NDArray[np.float64] | None, NDArray[np.uint64], NDArray[np.uint32], NDArray[np.float64]]:
    """Labels, offsets, features and values of a file of libsvm's or of active features alone."""

class Model:
    """A checked network, ready to run. Immutable; any number of threads may call it at once, and the interpreter's lock
    is released while rows run."""

    def __new__(cls, container: bytes, /) -> Model: ...
    def __call__(self, x: Any, /, *, threads: int | None = None) -> NDArray[np.float64]:
        """The outputs of one row, (outputs,), or of rows, (n, outputs), as `host-tools eval` prints them.

        x: (n, …) Real numbers, or the network's own integers as stored, where the array's type is that of
        `input_dtype`; a network of features takes scipy's `csr_matrix`, or `(indptr, indices[, values])` · threads: at
        most so many; one a processor without it. The bits do not depend on it.
        """
    def positions(self, lines: list[str], /, *, threads: int | None = None) -> NDArray[Any]: ...
    def records(self, bytes: bytes, /, *, threads: int | None = None) -> NDArray[Any]: ...
    def trace(self, x: Any, /, *, reals: bool = False) -> dict[str, NDArray[Any]]:
        """Every value that the network computes for one row or position, by its name: the integers as stored, or the
        real numbers that they stand for."""
    @property
    def name(self) -> str: ...
    @property
    def input_kind(self) -> str: ...
    @property
    def input_shape(self) -> list[int]: ...
    @property
    def input_dtype(self) -> str: ...
    @property
    def outputs(self) -> int: ...
    @property
    def container(self) -> bytes: ...
    @property
    def checksum(self) -> int: ...
    @property
    def tier(self) -> str: ...
    def signature(self) -> int:
        """The number that every machine and tier must print."""
    def _seconds_a_row(self, x: Any, repeats: int) -> float: ...
