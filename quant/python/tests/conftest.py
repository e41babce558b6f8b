"""Networks that the tests make themselves, and those of the repository."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tamis
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[3]
CHAIN = "12:relu16:linear3"


def state_dict(seed: int = 1, sizes: tuple[int, ...] = (12, 16, 3)) -> dict[str, NDArray[np.float32]]:
    """Weights and biases of dense layers, named as torch names those of a `Sequential`."""
    random = np.random.default_rng(seed)
    tensors: dict[str, NDArray[np.float32]] = {}
    for layer, (inputs, outputs) in enumerate(zip(sizes, sizes[1:])):
        tensors[f"{2 * layer}.weight"] = (random.normal(size=(outputs, inputs)) / inputs**0.5).astype(np.float32)
        tensors[f"{2 * layer}.bias"] = random.normal(size=outputs).astype(np.float32)
    return tensors


def examples(count: int, columns: int = 12, seed: int = 2) -> NDArray[np.float32]:
    return np.random.default_rng(seed).normal(size=(count, columns)).astype(np.float32)


@pytest.fixture(scope="session")
def small() -> tamis.Model:
    return tamis.quantise(state_dict(), arch=CHAIN, calibrate=examples(200))


@pytest.fixture(scope="session")
def bytes_in() -> tamis.Model:
    """Of which the input is u8."""
    pixels = np.random.default_rng(3).integers(0, 256, (200, 12)).astype(np.uint8)
    return tamis.quantise(
        state_dict(), arch=CHAIN, calibrate=pixels, input_unit=1 / 255, activations="u8", sqnr_budget=None
    )


@pytest.fixture(scope="session")
def chess() -> tamis.Model:
    return tamis.quantise(
        ROOT / "tests/reference/nnue.weights.bin", arch=ROOT / "tests/architectures/reference.toml"
    )


@pytest.fixture(scope="session")
def clicks() -> tamis.Model:
    """A logistic regression over 50 features of which at most 8 are active."""
    return tamis.quantise(click_tensors(), arch=CLICKS, calibrate=click_rows(300)[2])


CLICKS = """graph = 1
name = "clicks"
[input]
kind = "sparse"
features = 50
max_active = 8
[[node]]
name = "hidden"
op = "sparse-linear"
outputs = 8
[[node]]
name = "hidden.relu"
op = "relu"
[[node]]
name = "out"
op = "linear"
outputs = 1
[[node]]
name = "p"
op = "sigmoid"
"""


def click_tensors() -> dict[str, NDArray[np.float32]]:
    random = np.random.default_rng(5)
    return {
        "hidden.weight": random.normal(size=(8, 50)).astype(np.float32),
        "hidden.bias": random.normal(size=8).astype(np.float32),
        "out.weight": random.normal(size=(1, 8)).astype(np.float32),
        "out.bias": random.normal(size=1).astype(np.float32),
    }


def click_rows(count: int) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """Offsets, features, and the same as dense rows."""
    random = np.random.default_rng(6)
    rows = [np.sort(random.choice(50, size=random.integers(1, 9), replace=False)) for _ in range(count)]
    offsets = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    dense = np.zeros((count, 50), np.float32)
    for row, features in enumerate(rows):
        dense[row, features] = 1
    return offsets, np.concatenate(rows).astype(np.int32), dense


def host_tools(*arguments: object) -> Any:
    """What the program itself says, as JSON."""
    program = os.environ.get("TAMIS_HOST_TOOLS", str(ROOT / "target/release/host-tools"))
    if not Path(program).exists():
        pytest.skip(f"{program} is not built: cargo build --release --bin host-tools")
    done = subprocess.run([program, *map(str, arguments), "--json"], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)
