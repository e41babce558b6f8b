"""Record batches of Arrow: a function from batch to batch that any engine takes, and files as batches.

```python
from tamis.arrow import positions, scorer

score = scorer(tamis.load("net.bin"))
for batch in positions("positions.bf"):
    scored = score(batch)  # the same columns, and `outputs`
```

It pickles, so that engines send it to their workers. Needs pyarrow, which the extra `arrow` brings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from .errors import FileError, TamisError, UsageError, of_status
from .model import Model

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError as error:  # pragma: no cover
    raise ImportError("tamis.arrow needs pyarrow: pip install 'tamis[arrow]'") from error

#: The column that is read where none is named, by what the network takes.
_COLUMNS = {"dense": "inputs", "sparse": "features", "features": "position"}
#: Bytes of a position in BulletFormat.
_RECORD = 32
#: Rows of a batch that is cut from a file.
_ROWS = 65_536


def scorer(
    model: Model,
    column: str | Sequence[str] | None = None,
    *,
    values: str | None = None,
    outputs: str = "outputs",
    keep: Sequence[str] | None = None,
    threads: int = 1,
) -> Scorer:
    """A function from record batch to record batch, or from table to table, that adds what a model makes of each row.

    column: what the model reads; `inputs`, `features` or `position` without it, or the only column; several for a
    dense network, one for each element of a row · values: the column of the values of active features; a column
    `values` is taken without it, and 1 where there is none · outputs: the column that is added, of numbers, or of lists
    of as many as the network has outputs · keep: the columns that stay; all without it · threads: of one call; an
    engine that calls from several processes wants 1.

    A dense network reads lists of one length, tensors, or columns of numbers; a network of features lists of feature
    numbers, or structs of `indices` and `values`; a chess network lines of FEN, or BulletFormat's 32 bytes. A null is
    refused, with its row.
    """
    return Scorer(model, column, values=values, outputs=outputs, keep=keep, threads=threads)


class Scorer:
    """What `scorer` gives."""

    def __init__(
        self,
        model: Model,
        column: str | Sequence[str] | None = None,
        *,
        values: str | None = None,
        outputs: str = "outputs",
        keep: Sequence[str] | None = None,
        threads: int = 1,
    ) -> None:
        if not isinstance(model, _core.Model):
            raise UsageError(f"model: {type(model).__name__}, expected a model", "tamis.load(path)")
        self.model = model
        self.column = column if column is None or isinstance(column, str) else list(column)
        self.values = values
        self.outputs = outputs
        self.keep = None if keep is None else list(keep)
        self.threads = threads

    def __call__(self, batch: Any) -> Any:
        """A record batch for a record batch, a table for a table."""
        if isinstance(batch, pa.Table):
            batches = [self(part) for part in batch.to_batches()]
            return pa.Table.from_batches(batches, schema=self.schema(batch.schema))
        if not isinstance(batch, pa.RecordBatch):
            raise UsageError(f"{type(batch).__name__}, expected a record batch or a table of pyarrow")
        schema = self.schema(batch.schema)
        columns = [batch.column(name) for name in schema.names[:-1]]
        made = self._array(self._read(batch))
        return pa.RecordBatch.from_arrays([*columns, made], schema=schema)

    def each(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Batch after batch, as Spark's `mapInArrow` and readers of datasets hand them over."""
        return (self(batch) for batch in batches)

    def array(self, column: Any) -> Any:
        """The outputs of a column by itself, as functions of engines such as DuckDB take it."""
        return self._array(self._score("column", _whole(column), None))

    def schema(self, schema: Any) -> Any:
        """What comes out for what goes in: Spark asks for it beforehand."""
        names = schema.names if self.keep is None else self.keep
        for name in names:
            if schema.names.count(name) != 1:
                raise UsageError(f"no column {name!r} among {schema.names}", "name columns that are there, once")
        if self.outputs in names:
            raise UsageError(f"a column {self.outputs!r} is there already", "give outputs= another name")
        kept = [schema.field(name) for name in names]
        return pa.schema([*kept, pa.field(self.outputs, self.type)], metadata=schema.metadata)

    @property
    def type(self) -> Any:
        """The type of the outputs' column."""
        number = pa.int32() if self._empty().dtype == np.int32 else pa.float64()
        return number if self.model.outputs == 1 else pa.list_(number, self.model.outputs)

    def _empty(self) -> NDArray[Any]:
        match self.model.input_kind:
            case "features":
                return self.model.evaluate([])
            case "sparse":
                return self.model(([0], np.zeros(0, np.uint32)))
            case _:
                return self.model(np.zeros((0, *self.model.input_shape), np.float32))

    def _array(self, outputs: NDArray[Any]) -> Any:
        flat = pa.array(np.ascontiguousarray(outputs).reshape(-1))
        return flat if self.model.outputs == 1 else pa.FixedSizeListArray.from_arrays(flat, self.model.outputs)

    def _read(self, batch: Any) -> NDArray[Any]:
        names = batch.schema.names
        if isinstance(self.column, list):
            if self.model.input_kind != "dense" or len(self.column) != int(np.prod(self.model.input_shape)):
                raise UsageError(
                    f"{len(self.column)} columns for a network that takes {self.model.input_kind} rows of "
                    f"{self.model.input_shape}"
                )
            parts = [_numbers(name, self._column(batch, name)) for name in self.column]
            return self._run("columns", np.column_stack(parts) if batch.num_rows else self._no_rows())
        column = self.column or _COLUMNS[self.model.input_kind]
        if self.column is None and column not in names and len(names) == 1:
            column = names[0]
        values = self.values or ("values" if "values" in names and self.model.input_kind == "sparse" else None)
        of_values = None if values is None else self._column(batch, values)
        return self._score(column, self._column(batch, column), of_values)

    def _no_rows(self) -> NDArray[Any]:
        return np.zeros((0, *self.model.input_shape), np.float32)

    @staticmethod
    def _column(batch: Any, name: str) -> Any:
        if batch.schema.names.count(name) != 1:
            raise UsageError(f"no column {name!r} among {batch.schema.names}", "name it: scorer(model, column)")
        return _whole(batch.column(name))

    def _score(self, name: str, column: Any, values: Any) -> NDArray[Any]:
        match self.model.input_kind:
            case "features":
                return self._run(name, _positions(name, column))
            case "sparse" if _is_list(column.type) or pa.types.is_struct(column.type):
                return self._run(name, _features(name, column, values))
            case _:
                if not len(column):
                    return self._run(name, self._no_rows())
                return self._run(name, _rows(name, column))

    def _run(self, name: str, given: Any) -> NDArray[Any]:
        try:
            if self.model.input_kind == "features":
                return self.model.evaluate(given, threads=self.threads)
            return self.model(given, threads=self.threads)
        except TamisError as error:
            raise of_status(error.status, f"{name}, {error.message}", error.help) from None


def _whole(column: Any) -> Any:
    """One array of a column: without chunks, without a type of an extension, without numbers that stand for values."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = pa.concat_arrays(column.chunks)
    if not isinstance(column, pa.Array):
        raise UsageError(f"{type(column).__name__}, expected an array of pyarrow")
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _is_list(of: Any) -> bool:
    return bool(pa.types.is_list(of) or pa.types.is_large_list(of))


def _no_nulls(name: str, column: Any) -> None:
    if column.null_count:
        row = pc.index(column.is_null(), True).as_py()
        raise UsageError(f"{name}, row {row}: null, expected a value", "fill it, or filter such rows before")


def _numbers(name: str, column: Any) -> NDArray[Any]:
    """Numbers without nulls, in place where their type has one."""
    _no_nulls(name, column)
    of = column.type
    if not (pa.types.is_integer(of) or pa.types.is_floating(of) or pa.types.is_boolean(of)):
        raise UsageError(f"{name}: {of}, expected numbers")
    found: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return found


def _rows(name: str, column: Any) -> NDArray[Any]:
    """(n, elements) of lists of one length, nested or not."""
    count, length = len(column), 1
    while pa.types.is_fixed_size_list(column.type) or _is_list(column.type):
        _no_nulls(name, column)
        if pa.types.is_fixed_size_list(column.type):
            inner = column.type.list_size
        else:
            lengths = np.diff(column.offsets.to_numpy())
            inner = int(lengths[0]) if len(lengths) else 0
            if (lengths != inner).any():
                row = int(np.argmax(lengths != inner)) // length
                raise UsageError(f"{name}, row {row}: lists of several lengths, {inner} among them, expected one")
        length *= inner
        column = _whole(column.flatten())
    return _numbers(name, column).reshape(count, length)


def _features(name: str, column: Any, values: Any) -> tuple[NDArray[Any], ...]:
    """Offsets, features, and values where there are some."""
    _no_nulls(name, column)
    if pa.types.is_struct(column.type):
        names = [column.type.field(index).name for index in range(column.type.num_fields)]
        if "indices" not in names:
            raise UsageError(f"{name}: a struct of {names}, expected `indices` and `values`")
        values = column.field("values") if "values" in names else None
        column = _whole(column.field("indices"))
        _no_nulls(name, column)
    if not _is_list(column.type):
        raise UsageError(f"{name}: {column.type}, expected lists of features")
    offsets = column.offsets.to_numpy()
    features = _numbers(name, column.flatten())
    if values is None:
        return offsets - offsets[0], features
    values = _whole(values)
    _no_nulls("values", values)
    if not _is_list(values.type):
        raise UsageError(f"values: {values.type}, expected lists of numbers")
    ends = values.offsets.to_numpy()
    if not np.array_equal(ends - ends[0], offsets - offsets[0]):
        row = int(np.argmax(np.diff(ends) != np.diff(offsets)))
        raise UsageError(f"values, row {row}: not as many as features")
    return offsets - offsets[0], features, _numbers("values", values.flatten())


def _positions(name: str, column: Any) -> list[str] | bytes:
    """Lines, or records."""
    _no_nulls(name, column)
    of = column.type
    if pa.types.is_string(of) or pa.types.is_large_string(of) or pa.types.is_string_view(of):
        lines: list[str] = column.to_pylist()
        return lines
    if pa.types.is_binary(of) or pa.types.is_large_binary(of) or pa.types.is_fixed_size_binary(of):
        if pa.types.is_fixed_size_binary(of):
            lengths = np.full(len(column), of.byte_width)
        else:
            lengths = pc.binary_length(column).to_numpy()
        if (lengths != _RECORD).any():
            row = int(np.argmax(lengths != _RECORD))
            raise UsageError(f"{name}, row {row}: {lengths[row]} bytes, expected BulletFormat's {_RECORD}")
        records = column if pa.types.is_fixed_size_binary(of) else column.cast(pa.binary(_RECORD))
        start = records.offset * _RECORD
        return bytes(memoryview(records.buffers()[1])[start : start + len(records) * _RECORD]) if len(records) else b""
    raise UsageError(f"{name}: {of}, expected lines of FEN, or BulletFormat's {_RECORD} bytes")


def positions(path: str | Path, *, rows: int = _ROWS) -> Iterator[Any]:
    """Record batches of a file of positions: a column `position`, of BulletFormat's records, in place, or of lines."""
    content = _mapped(path)
    if not _core.is_text(bytes(content[:_RECORD])):
        if len(content) % _RECORD:
            raise of_status(3, f"{path}: {len(content)} bytes, no whole number of BulletFormat's {_RECORD}", None)
        buffer, count = pa.py_buffer(content), len(content) // _RECORD
        whole = pa.FixedSizeBinaryArray.from_buffers(pa.binary(_RECORD), count, [None, buffer])
    else:
        whole = pa.array(_of(path, _core.position_lines, content), pa.string())
    return _cut(pa.record_batch([whole], ["position"]), rows)


def features(path: str | Path, *, rows: int = _ROWS) -> Iterator[Any]:
    """Record batches of a file of libsvm's, or of active features alone: columns `label`, `features`, `values`."""
    labels, offsets, found, values = _of(path, _core.feature_rows, _mapped(path))
    ends = pa.array(offsets.astype(np.int64))
    lists = [pa.LargeListArray.from_arrays(ends, pa.array(numbers)) for numbers in (found, values)]
    names = ["features", "values"]
    if labels is not None:
        lists, names = [pa.array(labels), *lists], ["label", *names]
    return _cut(pa.record_batch(lists, names), rows)


def _cut(batch: Any, rows: int) -> Iterator[Any]:
    if rows < 1:
        raise UsageError(f"rows={rows}: expected 1 or more")
    return (batch.slice(start, rows) for start in range(0, batch.num_rows, rows))


def _mapped(path: str | Path) -> Any:
    try:
        return np.memmap(path, np.uint8, "r").data if Path(path).stat().st_size else b""
    except OSError as error:
        raise FileError(f"{path}: cannot read: {error.strerror}", status=4) from error


def _of(path: str | Path, read: Any, content: Any) -> Any:
    try:
        return read(bytes(content))
    except TamisError as error:
        raise of_status(error.status, f"{path}: {error.message}", error.help) from None
