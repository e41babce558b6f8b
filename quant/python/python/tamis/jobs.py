"""Loading, quantising, verifying: commands of `host-tools` on what is in memory."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from . import _core, commands
from .arrays import numpy_of, rows, safetensors_of
from .commands import Gates, Option, PathLike
from .errors import FileError, UsageError
from .model import Model
from .report import Proof, Report, reported

#: A checkpoint: a file or folder of any form that is read, or a dict of tensors, such as torch's `state_dict()`.
Checkpoint: TypeAlias = "PathLike | Mapping[str, Any]"


def load(source: PathLike | bytes | bytearray | memoryview) -> Model:
    """A container, or a `.nnue` file of the Stockfish family, from a path or from bytes; every byte is checked.

    The bytes are copied: a file that is replaced or changed afterwards changes nothing.
    """
    if isinstance(source, (bytes, bytearray, memoryview)):
        return Model(bytes(source))
    path = Path(source)
    with commands.place() as place:
        # Its errors name the file, what it is, and what makes a container of it.
        found = commands.command(place, "inspect", path)
        if found["len_bytes"] != found["container_len_bytes"] or found["text"] is not None:
            packed = place / "packed.bin"
            commands.command(place, "pack", path, out=packed, unproved=True)
            path = packed
        try:
            return Model(path.read_bytes())
        except OSError as error:
            raise FileError(f"{path}: cannot read: {error.strerror}", status=4) from error


def quantise(
    checkpoint: Checkpoint,
    *,
    arch: PathLike | None = None,
    calibrate: Any = None,
    out: PathLike | None = None,
    **options: Option,
) -> Model:
    """A checkpoint in full precision as a checked and proved model of integers.

    arch: a chain such as `784:relu128:linear10`, a file that describes the network, or the description itself ·
    calibrate: (n, …) examples that show which values occur, or a file of them; networks of accumulators need none ·
    out: where to write the container as well, in place of a file that is no input · options: any other option of
    `host-tools quantise`, with underscores for its dashes: `activations="u8"`, `input_unit=1 / 255`,
    `fit="positions.bf"`, `allow_constant=True`.

    Raises `GateError` where no proof holds, and writes nothing then.
    """
    with commands.place() as place:
        # The command refuses to write where it reads; what else is there is replaced, as by `Model.save`.
        target = place / "quantised.bin" if out is None else Path(out).absolute()
        commands.command(
            place,
            "quantise",
            _checkpoint(place, checkpoint),
            out=target,
            force=True,
            arch=_arch(place, arch),
            calibrate=_examples(place, "calibrate", calibrate),
            **_checked(options),
        )
        return Model(target.read_bytes())


def verify(
    model: Model | PathLike,
    checkpoint: Checkpoint | None = None,
    *,
    arch: PathLike | None = None,
    inputs: Any = None,
    labels: Any = None,
    positions: Any = None,
    reference: PathLike | None = None,
    gates: Gates | None = None,
    partial: bool = False,
    **options: Option,
) -> Report:
    """How far a model is from full precision, whether every tier equals the integers, whether nothing can overflow,
    and which fact of a description is wrong. A report also where it failed: ask `passed`.

    checkpoint, arch: as `quantise` takes them · inputs, labels: (n, …) and (n,) examples, or files of them · positions:
    FENs, bytes of BulletFormat's records, or a file · reference: outputs of the training framework, a file ·
    gates: limits, `{"max_error": 5.0}` or a file · partial: keep what was measured, 16 bytes an output, for
    `Report.merge` · options: any other option of `host-tools verify`.
    """
    with commands.place() as place:
        return reported(
            place,
            _model(place, model),
            partial,
            checkpoint=None if checkpoint is None else _checkpoint(place, checkpoint),
            arch=_arch(place, arch),
            inputs=_examples(place, "inputs", inputs),
            labels=_examples(place, "labels", labels),
            positions=_positions(place, positions),
            reference=reference,
            gates=commands.gates(place, gates),
            **_checked(options),
        )


def inspect(model: Model | PathLike) -> dict[str, Any]:
    """What is in a container, or in a `.nnue` file."""
    with commands.place() as place:
        return commands.command(place, "inspect", _model(place, model))


def proof(model: Model | PathLike) -> Proof:
    """The bounds of every sum of a model, derived again from its own integers."""
    return Proof(inspect(model)["proof"])


def _checked(options: Mapping[str, Option]) -> dict[str, Option]:
    for name in options:
        if name in ("json", "quiet", "help", "help_all", "html", "force", "merge", "codegen"):
            raise UsageError(f"{name}: is an option of the command line alone", "leave it out")
    return dict(options)


def _model(place: Path, model: Model | PathLike) -> Path:
    if isinstance(model, _core.Model):
        return commands.written(place, "model.bin", model.container)
    return Path(model)


def _checkpoint(place: Path, checkpoint: Checkpoint) -> Path:
    if isinstance(checkpoint, Mapping):
        if not checkpoint:
            raise UsageError("checkpoint: a dict without tensors", "give net.state_dict()")
        return commands.written(place, "state_dict.safetensors", safetensors_of(checkpoint))
    try:
        return Path(checkpoint)
    except TypeError:
        found = type(checkpoint).__name__
        raise UsageError(f"checkpoint: {found}, expected a path or a dict of tensors", "net.state_dict()") from None


def _arch(place: Path, arch: PathLike | None) -> PathLike | None:
    if isinstance(arch, str) and "\n" in arch:
        return commands.written(place, "arch.toml", arch.encode())
    return arch


def _examples(place: Path, name: str, examples: Any) -> Path | None:
    """A path as it is; arrays as a file of them."""
    if examples is None or isinstance(examples, (str, os.PathLike)):
        return None if examples is None else Path(examples)
    array = numpy_of(examples)
    kept = array if array.dtype.kind in "iu" and name == "labels" else rows(array)
    if not kept.size:
        raise UsageError(f"{name}: an array of shape {list(kept.shape)}, which holds no examples")
    path = place / f"{name}.npy"
    np.save(path, kept, allow_pickle=False)
    return path


def _positions(place: Path, positions: Any) -> Path | None:
    if positions is None or isinstance(positions, (str, os.PathLike)):
        return None if positions is None else Path(positions)
    if isinstance(positions, (bytes, bytearray, memoryview)):
        return commands.written(place, "positions.bf", bytes(positions))
    return commands.written(place, "positions.txt", "".join(f"{line}\n" for line in positions).encode())
