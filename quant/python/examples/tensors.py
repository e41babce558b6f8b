"""Tensors of a file of safetensors as numpy arrays, for the examples; `safetensors.numpy.load_file` does the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Networks of this repository, with what their training framework said of them.
REFERENCE = Path(__file__).resolve().parents[3] / "tests/reference"


def tensors_of(path: Path) -> dict[str, NDArray[Any]]:
    """All tensors, of float32 or uint8, by name."""
    content = path.read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    types: dict[str, Any] = {"F32": np.dtype("<f4"), "U8": np.dtype("u1")}
    found = {}
    for name, tensor in json.loads(content[8:start]).items():
        if name != "__metadata__":
            first, last = (start + offset for offset in tensor["data_offsets"])
            found[name] = np.frombuffer(content[first:last], types[tensor["dtype"]]).reshape(tensor["shape"])
    return found
