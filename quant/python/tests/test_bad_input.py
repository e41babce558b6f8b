"""Whatever comes in, an exception comes out, with a kind, a place and a next step where there is one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tamis
from conftest import CHAIN, ROOT, examples, state_dict
from tamis.arrays import safetensors_of


@pytest.mark.parametrize(
    ("x", "says"),
    [
        (np.zeros(11, np.float32), r"expected one row, \(12,\), or rows, \(n, 12\)"),
        (np.zeros((4, 13), np.float32), r"\(n, 12\)"),
        (np.zeros((2, 2, 12), np.float32), r"\(n, 12\)"),
        (np.float32(1.0), r"\(n, 12\)"),
        (np.zeros((0,), np.float32), r"\(n, 12\)"),
        (np.zeros((3, 12), np.complex64), "complex64"),
        (np.array(["a"] * 12), "expected numbers"),
        (np.array([object()] * 12), "expected numbers"),
        (np.zeros(12, "datetime64[s]"), "expected numbers"),
        ([[1.0] * 12, [1.0] * 11], "no array"),
        ("startpos", "expected numbers"),
        (None, "expected numbers"),
        ({"a": 1}, "expected numbers"),
    ],
)
def test_what_is_no_row_is_refused(small: tamis.Model, x: Any, says: str) -> None:
    with pytest.raises(tamis.UsageError, match=says) as caught:
        small(x)
    assert caught.value.kind == "usage" and caught.value.status == 2
    with pytest.raises((tamis.UsageError, TypeError)):
        small.trace(x)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_not_finite_is_named(small: tamis.Model, bad: float, dtype: type) -> None:
    x = examples(200).astype(dtype)
    x[130, 7] = bad
    with pytest.raises(tamis.UsageError, match="row 130, column 7") as caught:
        small(x)
    assert caught.value.place == "row 130, column 7"
    with pytest.raises(tamis.UsageError, match="row 0, column 7"):
        small(x[130])
    with pytest.raises(tamis.TamisError):
        tamis.quantise(state_dict(), arch=CHAIN, calibrate=x)


def test_threads_are_counted(small: tamis.Model) -> None:
    with pytest.raises(tamis.UsageError, match="threads=0"):
        small(examples(3), threads=0)
    with pytest.raises((OverflowError, TypeError)):
        small(examples(3), threads=-1)
    with pytest.raises(TypeError):
        small(examples(3), threads="two")  # type: ignore[arg-type]


def test_positions_are_looked_at(chess: tamis.Model, small: tamis.Model) -> None:
    for bad in ("", "no position", "8/8/8/8/8/8/8/8 w - - 0 1", "rnbqkbnr/ppp w KQkq - 0 1"):
        with pytest.raises(tamis.TamisError, match="position 1"):
            chess.evaluate(["startpos", bad])
        with pytest.raises(tamis.TamisError):
            chess.evaluate(bad)
    with pytest.raises(tamis.TamisError, match="32"):
        chess.evaluate(b"x" * 33)
    with pytest.raises(tamis.TamisError):
        chess.evaluate(b"\xff" * 32)
    with pytest.raises(tamis.UsageError, match="position 0: int"):
        chess.evaluate([1])  # type: ignore[list-item]
    with pytest.raises(tamis.UsageError, match="takes vectors, found positions"):
        small.evaluate(["startpos"])
    with pytest.raises(tamis.UsageError, match="takes positions"):
        chess(examples(1))
    with pytest.raises(tamis.UsageError, match="takes positions"):
        chess.trace(3)


def test_lists_of_features_are_looked_at(clicks: tamis.Model) -> None:
    for given, says in [
        (([0, 2], [4, 3]), "row 0"),
        (([0, 2], [3, 3]), "row 0"),
        (([0, 1], [50]), "row 0"),
        (([0, 9], list(range(9))), "row 0"),
        (([0, 3], [1, 2]), "row 0"),
        (([1, 2], [1, 2]), "row 0"),
        (([0, 2, 1], [1, 2]), "row 1"),
        (([0, 1], [1, 2]), "row 0"),
        (([], [1]), "offsets"),
        (([0, 1], [-1]), "0 or more"),
        (([0, 1], [1], [1.0, 2.0]), "expected rows of 1"),
        (([0, 1], [1], [np.nan]), "row 0, column 0"),
        (([0.5, 1], [1]), "expected integers"),
        (([0, 1], [2**40]), "so many features"),
        (np.zeros((2, 49)), r"\(n, 50\)"),
    ]:
        with pytest.raises(tamis.UsageError, match=says):
            clicks(given)
    assert clicks(([0], np.zeros(0, np.int64))).shape == (0, 1)
    assert clicks(([0, 0], np.zeros(0, np.int64))).shape == (1, 1), "a row without features"


def test_damaged_containers_are_refused(small: tamis.Model, tmp_path: Path) -> None:
    whole = small.container
    for length in [0, 1, 7, 63, 64, 127, 128, len(whole) // 2, len(whole) - 1]:
        with pytest.raises(tamis.MalformedError):
            tamis.load(whole[:length])
    random = np.random.default_rng(1)
    for _ in range(200):
        damaged = bytearray(whole)
        damaged[random.integers(len(whole))] ^= 1 << random.integers(8)
        with pytest.raises(tamis.TamisError):
            tamis.load(damaged)
    path = tmp_path / "cut.bin"
    path.write_bytes(whole[:200])
    with pytest.raises(tamis.MalformedError, match="cut.bin") as caught:
        tamis.load(path)
    assert caught.value.help and caught.value.place == str(path)


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(tamis.FileError, match="nothing-here") as caught:
        tamis.load(tmp_path / "nothing-here.bin")
    assert caught.value.kind == "io" and isinstance(caught.value, OSError)
    with pytest.raises(tamis.UsageError, match="not a file"):
        tamis.load(tmp_path)
    (tmp_path / "net.onnx").write_bytes(b"PK\x03\x04")
    with pytest.raises(tamis.TamisError, match="net.onnx"):
        tamis.load(tmp_path / "net.onnx")
    with pytest.raises(tamis.TamisError, match="nnue.weights.bin"):
        tamis.load(ROOT / "tests/reference/nnue.weights.bin")


def test_checkpoints_that_are_none(tmp_path: Path) -> None:
    x = examples(50)
    for tensors, says in [
        ({}, "without tensors"),
        ({"0.weight": np.zeros((3, 12), np.complex64)}, "0.weight: a tensor of complex64"),
        ({"0.weight": "text"}, "0.weight"),
        ({"0.weight": np.zeros((3, 11), np.float32), "0.bias": np.zeros(3, np.float32)}, "0.weight"),
        ({**state_dict(), "0.bias": np.full(16, np.nan, np.float32)}, "the bias is NaN"),
    ]:
        with pytest.raises(tamis.TamisError, match=says) as caught:
            tamis.quantise(tensors, arch=CHAIN, calibrate=x)
        assert "/tamis-" not in str(caught.value), "no path of a temporary folder"
    with pytest.raises(tamis.UsageError):
        tamis.quantise(7, arch=CHAIN)  # type: ignore[arg-type]
    with pytest.raises(tamis.UsageError, match="holds no examples"):
        tamis.quantise(state_dict(), arch=CHAIN, calibrate=np.zeros((0, 12)))
    with pytest.raises(tamis.TamisError):
        tamis.quantise(state_dict(), arch=CHAIN)
    with pytest.raises(tamis.TamisError, match="cubic"):
        tamis.quantise(state_dict(), arch="12:cubic16:linear3", calibrate=x)
    with pytest.raises(tamis.TamisError, match="arch.toml:2"):
        tamis.quantise(state_dict(), arch="graph = 1\nnme = 1\n", calibrate=x)
    assert not list(tmp_path.iterdir())


def test_an_output_that_has_no_place(small: tamis.Model, tmp_path: Path) -> None:
    with pytest.raises(tamis.FileError, match="net.bin: cannot write"):
        small.save(tmp_path / "no" / "net.bin")
    with pytest.raises(tamis.FileError, match="net.bin"):
        tamis.quantise(state_dict(), arch=CHAIN, calibrate=examples(20), out=tmp_path / "no" / "net.bin")
    assert not list(tmp_path.iterdir())


def test_what_is_read_is_not_written(tmp_path: Path) -> None:
    checkpoint, data = tmp_path / "state_dict.safetensors", tmp_path / "calibrate.npy"
    checkpoint.write_bytes(safetensors_of(state_dict()))
    np.save(data, examples(20))
    before = [checkpoint.read_bytes(), data.read_bytes()]
    for out in (checkpoint, data):
        with pytest.raises(tamis.UsageError, match="is an input"):
            tamis.quantise(checkpoint, arch=CHAIN, calibrate=data, out=out)
    assert [checkpoint.read_bytes(), data.read_bytes()] == before


def test_labels_that_do_not_fit(small: tamis.Model) -> None:
    with pytest.raises(tamis.TamisError, match="labels"):
        tamis.verify(small, state_dict(), arch=CHAIN, inputs=examples(10), labels=np.zeros(9, np.int64))
    with pytest.raises(tamis.TamisError, match="nothing to hold"):
        tamis.verify(small, inputs=None)


def test_the_interpreter_ends_well_after_all_of_it() -> None:
    """In a process of its own: an abort would be its status."""
    code = (
        "import numpy as np, tamis\n"
        "for bad in (b'', b'x' * 4096, bytes(range(256)) * 64):\n"
        "    try:\n        tamis.load(bad)\n    except tamis.TamisError:\n        pass\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
