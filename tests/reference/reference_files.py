"""The two file formats of this folder, and the facts recorded in every reference.

`*.weights.bin` is bullet's weights.bin: for each tensor an ASCII name, one byte
'\\n', a u64 count and that many f32 values, little-endian, names in alphabetical
order. It holds no shapes, so each script states them.

`*.reference.safetensors` holds inputs and full-precision outputs, with string
metadata. It is written here rather than by the safetensors package because the
package orders the metadata at random; a rerun shall give the same bytes. Reading
goes through the package, which thereby checks what was written.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import struct
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from safetensors import safe_open

if TYPE_CHECKING:  # one script does without, so that it is imported where it is used
    import torch

SAFETENSORS_DTYPE = {np.dtype("<f4"): "F32", np.dtype("<i4"): "I32", np.dtype("u1"): "U8", np.dtype("i1"): "I8"}


def write_weights(path: Path, tensors: dict[str, np.ndarray]) -> None:
    """Write flat f32 tensors, each already in its column-major order."""
    with open(path, "wb") as file:
        for name in sorted(tensors):
            values = np.ascontiguousarray(tensors[name], dtype="<f4").reshape(-1)
            file.write(name.encode("ascii") + b"\n")
            file.write(struct.pack("<Q", values.size))
            file.write(values.tobytes())


def read_weights(path: Path) -> dict[str, np.ndarray]:
    """Read every tensor as a flat f32 array; the caller knows the shapes."""
    data = path.read_bytes()
    tensors = {}
    offset = 0
    while offset < len(data):
        name_end = data.index(b"\n", offset)
        name = data[offset:name_end].decode("ascii")
        (count,) = struct.unpack_from("<Q", data, name_end + 1)
        tensors[name] = np.frombuffer(data, "<f4", count, name_end + 9)
        offset = name_end + 9 + 4 * count
    return tensors


def write_reference(path: Path, tensors: dict[str, np.ndarray], metadata: dict[str, str]) -> None:
    """Write a safetensors file with a reproducible header: metadata sorted, f32 and i32 before u8."""
    order = sorted(tensors, key=lambda name: (-tensors[name].dtype.itemsize, name))
    header: dict[str, object] = {"__metadata__": dict(sorted(metadata.items()))}
    payload = b""
    for name in order:
        start = len(payload)
        payload += np.ascontiguousarray(tensors[name]).tobytes()
        header[name] = {
            "dtype": SAFETENSORS_DTYPE[tensors[name].dtype],
            "shape": list(tensors[name].shape),
            "data_offsets": [start, len(payload)],
        }
    text = json.dumps(header, separators=(",", ":")).encode("ascii")
    text += b" " * (-len(text) % 8)  # the data section starts on a multiple of 8 bytes
    path.write_bytes(struct.pack("<Q", len(text)) + text + payload)


def read_reference(path: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Read all tensors and the metadata."""
    with safe_open(path, framework="numpy") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, file.metadata()


def sha256_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def prepare_torch(device_name: str, threads: int, seed: int) -> torch.device:
    """Seed, forbid TF32 and nondeterministic kernels, and choose the device ("auto": CUDA if present)."""
    import torch

    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # without it, deterministic cuBLAS refuses to run
    torch.set_num_threads(threads)
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(True)
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    if device_name == "auto":
        device_name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(device_name)


def common_metadata(device: torch.device, seed: int, weights_path: Path) -> dict[str, str]:
    """The metadata that all references share."""
    import torch

    on_cuda = device.type == "cuda"
    return {
        "format": "tamis-reference-1",
        "device": torch.cuda.get_device_name(device) if on_cuda else "cpu",
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
        "threads": str(torch.get_num_threads()),
        "framework": f"pytorch {torch.__version__}",
        "versions": f"python {platform.python_version()}, numpy {np.__version__}",
        "seed": str(seed),
        "precision": "float32, TF32 off",
        "weights_sha256": sha256_of(weights_path),
    }


def report_agreement(stored: np.ndarray, recomputed: np.ndarray, weights_path: Path, metadata: dict[str, str]) -> bool:
    """Compare stored f32 outputs with a float64 recomputation; print and return the verdict."""
    digest_agrees = sha256_of(weights_path) == metadata["weights_sha256"]
    difference = float(np.abs(stored.astype(np.float64) - recomputed).max())
    print(f"weights_sha256 {'agrees' if digest_agrees else 'DIFFERS'}")
    print(f"max |stored - float64| = {difference:.3e} over {stored.size} outputs (limit 1e-4)")
    return digest_agrees and difference < 1e-4
