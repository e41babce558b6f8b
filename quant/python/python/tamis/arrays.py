"""What a caller hands in, as arrays that the runtime reads in place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import UsageError

#: Types that a row can have without a copy.
_IN_PLACE = (np.float32, np.float64, np.uint8, np.int8)


def numpy_of(value: Any) -> NDArray[Any]:
    """An array of whatever holds numbers: numpy's, torch's tensors, on a device and with gradients too, lists."""
    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        if str(getattr(value, "dtype", "")).endswith("bfloat16"):
            value = value.float()
        return np.asarray(value.numpy())
    try:
        return np.asarray(value)
    except (ValueError, TypeError) as error:
        raise UsageError(f"no array: {error}", "give an array of numbers, all rows of one length") from error


def rows(value: Any) -> NDArray[Any]:
    """An array of one of the four types, a row behind the other."""
    array = numpy_of(value)
    if array.dtype.kind not in "fiub":
        raise UsageError(
            f"an array of {array.dtype}, expected numbers", "give float32, or the network's own integers as stored"
        )
    if not array.dtype.isnative or array.dtype.type not in _IN_PLACE:
        # Integers of other types are real numbers, as they are in files.
        same = array.dtype.type if array.dtype.type in _IN_PLACE else np.float64
        array = array.astype(same)
    return np.require(array, requirements=["C", "A"])


def sparse_rows(
    value: Any, features: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.float64] | None]:
    """Offsets, features and values of rows of active features: of scipy's `csr_matrix`, of a tuple
    `(indptr, indices)` or `(indptr, indices, values)`, or of the elements of a dense (n, features) that are not 0."""
    if hasattr(value, "tocsr"):
        # By columns, by coordinates and so on: the same elements by rows.
        value = value.tocsr()
    if all(hasattr(value, name) for name in ("indptr", "indices", "data")):
        value = (value.indptr, value.indices, value.data)
    if isinstance(value, tuple) and len(value) in (2, 3):
        offsets, indices = _integers(value[0], "indptr"), _integers(value[1], "indices")
        values = None if len(value) == 2 else _reals(value[2])
        return offsets.astype(np.uint64), _features(indices), values
    dense = rows(value)
    if dense.ndim == 1:
        dense = dense[np.newaxis]
    if dense.ndim != 2 or dense.shape[1] != features:
        raise UsageError(
            f"an array of shape {list(dense.shape)}; expected lists of features, or rows, (n, {features})",
            "give (indptr, indices) or (indptr, indices, values), or scipy's csr_matrix",
        )
    row, column = np.nonzero(dense)
    offsets = np.zeros(len(dense) + 1, np.uint64)
    np.cumsum(np.bincount(row, minlength=len(dense)), out=offsets[1:])
    return offsets, column.astype(np.uint32), np.ascontiguousarray(dense[row, column], np.float64)


def _integers(value: Any, name: str) -> NDArray[Any]:
    array = numpy_of(value)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise UsageError(f"{name}: an array of {array.dtype} and shape {list(array.shape)}, expected integers in a row")
    if array.size and int(array.min()) < 0:
        raise UsageError(f"{name}: {int(array.min())}, expected integers of 0 or more")
    return array


def _features(indices: NDArray[Any]) -> NDArray[np.uint32]:
    if indices.size and int(indices.max()) > 0xFFFF_FFFF:
        raise UsageError(f"indices: {int(indices.max())}, no network has so many features")
    return np.ascontiguousarray(indices, np.uint32)


def _reals(value: Any) -> NDArray[np.float64]:
    array = rows(value)
    if array.ndim != 1:
        raise UsageError(f"values: an array of shape {list(array.shape)}, expected numbers in a row")
    return np.ascontiguousarray(array, np.float64)


def safetensors_of(tensors: Mapping[str, Any]) -> bytes:
    """A file of tensors: a length, a header in JSON, and the numbers, as the format of that name has them."""
    import json

    header: dict[str, Any] = {}
    parts: list[bytes] = []
    end = 0
    for name, value in tensors.items():
        array = numpy_of(value)
        code = _CODES.get(array.dtype.newbyteorder("=").str[1:])
        if code is None:
            raise UsageError(f"{name}: a tensor of {array.dtype}", "give numbers: float16 to float64, or integers")
        part = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
        header[str(name)] = {"dtype": code, "shape": list(array.shape), "data_offsets": [end, end + len(part)]}
        parts.append(part)
        end += len(part)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + b"".join(parts)


_CODES = {
    "f8": "F64",
    "f4": "F32",
    "f2": "F16",
    "i8": "I64",
    "i4": "I32",
    "i2": "I16",
    "i1": "I8",
    "u8": "U64",
    "u4": "U32",
    "u2": "U16",
    "u1": "U8",
    "b1": "BOOL",
}
