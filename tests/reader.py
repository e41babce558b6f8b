#!/usr/bin/env python3
"""A reader of `quantised.bin` that shares no line and no language with the runtime.

It is written from runtime/FORMAT.md alone, with numpy: it checks a container, evaluates its network, integers exactly
and f32 with every rounding where the document has it, and computes the signature of section 9. That number must be the
one that the runtime gives (`host-tools inspect FILE --json`, key `signature`); where they differ, the runtime, this
program or the document is wrong.

    python3 tests/reader.py FILE...         prints a line a file: its name, a space, the signature in 16 hex digits

A file that it cannot read gets a line on stderr, with the place and the reason, and the exit status is 1. A `-` among
the names stands for the names on the lines of stdin. Section numbers in comments are FORMAT.md's.
"""

import math
import sys

import numpy as np

NONE = 0xFFFF_FFFF
F32 = np.float32
ELEMENTS = {1: np.dtype("u1"), 2: np.dtype("i1"), 3: np.dtype("<i2"), 4: np.dtype("<i4"), 5: np.dtype("<f4")}
U8, I8, I16, I32, REAL = ELEMENTS.values()
ROWS, K4, COLUMNS = 1, 2, 3
FEATURES, DENSE, SPARSE = 1, 2, 3


class Refused(Exception):
    """A file that is no container of version 1: the place and the reason."""


def need(condition, place, reason):
    if not condition:
        raise Refused(f"{place}: {reason}")


# --- 2 to 4: the records ---------------------------------------------------------------------------------------------


def record(*fields):
    """A record's type, from (field's name, type) pairs; fields lie side by side."""
    return np.dtype([(name, f"<{kind}") for kind, names in fields for name in names.split()])


HEADER = record(
    ("u8", "magic"), ("u4", "byte_order version required_flags len_bytes"), ("u8", "checksum"),
    ("u4", "block_count tensor_count value_count op_count"),
    ("u4", "metadata_offset_bytes metadata_len_bytes workspace_len_bytes reserved"),
)
INPUT = record(
    ("u4", "kind size perspectives hidden max_active bucket_count feature_set king_table bucket_table element"),
    ("f4", "unit"), ("u4", "output"), ("f4", "output_unit"), ("u4", "order exact counted"),
)
BLOCK = record(("u4", "first_feature feature_count weights bias claims reserved_0 reserved_1 reserved_2"))
TENSOR = record(("u2", "element layout"), ("u4", "banks rows cols stride offset_bytes len_bytes claims"))
VALUE = record(("u2", "element"), ("i2", "zero"), ("u4", "len place"), ("u2", "down across"))
OPERATION = record(
    ("u4", "kind input input_start input_len second second_start output"),
    ("u4", "weights bias multipliers shifts activation param_0 param_1 param_2 param_3"),
)
MAGIC = int.from_bytes(b"\x89TAMIS\r\n", "little")


def next_multiple(number, step):
    return -(-number // step) * step


def records(data, kind, offset, count):
    """`count` records of a type as dictionaries, and the offset behind them."""
    end = offset + kind.itemsize * count
    need(end <= len(data), f"offset {offset}", f"{count} records of {kind.itemsize} bytes reach behind the end")
    rows = np.frombuffer(data, kind, count, offset)
    return [dict(zip(kind.names, row.tolist())) for row in rows], end


def checksum(data):
    """Section 3: sixteen lanes of 32 bits, folded into 64."""
    words = np.frombuffer(data, "<u4").copy()
    words[6:8] = 0
    lanes = np.arange(1, 17, dtype=np.uint32)
    for line in words.reshape(-1, 16):
        lanes = (lanes ^ line) * np.uint32(0x9E3779B1)
        lanes = (lanes << np.uint32(13)) | (lanes >> np.uint32(19))
    state = len(data)
    for lane in lanes.tolist():
        state = ((state ^ lane) * 0x9E3779B97F4A7C15) % 2**64
        state ^= state >> 29
    return state


def check_header(data, header):
    fixed = {"magic": MAGIC, "byte_order": 0x0A0B0C0D, "version": 1, "required_flags": 0, "reserved": 0,
             "len_bytes": len(data), "value_count": header["op_count"] + 1}
    for field, value in fixed.items():
        need(header[field] == value, f"header, {field}", f"{header[field]:#x} instead of {value:#x}")
    need(1 <= header["op_count"] <= 4096, "header, op_count", f"{header['op_count']} is not 1 to 4096")
    need(header["checksum"] == checksum(data), "header, checksum", "is not that of the bytes")


def padded(length_bytes):
    """Section 4.4: what a row takes in Rows, a column in Columns, in bytes."""
    return 1 << (length_bytes - 1).bit_length() if length_bytes <= 64 else next_multiple(length_bytes, 64)


class Tensor:
    """Sections 4.3 and 4.4: `matrices` has the indices [bank, row, column], whatever the layout."""

    def __init__(self, data, fields, place):
        self.layout, self.rows, self.cols, self.claims = (fields[k] for k in ("layout", "rows", "cols", "claims"))
        self.banks = fields["banks"]
        need(fields["element"] in ELEMENTS, place, f"unknown element {fields['element']}")
        need(self.layout in (ROWS, K4, COLUMNS), place, f"unknown layout {self.layout}")
        need(min(self.rows, self.cols, self.banks) >= 1, place, "has no elements")
        need(self.claims < 16, place, f"unknown claims {self.claims:#x}")
        self.element = ELEMENTS[fields["element"]]
        stride, shape = self.shape()
        length = math.prod(shape) * self.element.itemsize
        need(fields["stride"] == stride, place, f"stride {fields['stride']} instead of {stride}")
        need(fields["len_bytes"] == length, place, f"{fields['len_bytes']} bytes instead of {length}")
        need(fields["offset_bytes"] + length <= len(data), place, "reaches behind the end of the file")
        stored = np.frombuffer(data, self.element, length // self.element.itemsize, fields["offset_bytes"])
        self.matrices = self.unfold(stored.reshape(shape))
        bits = f"u{self.element.itemsize}"
        need(np.count_nonzero(stored.view(bits)) == np.count_nonzero(self.matrices.view(bits)), place,
             "padding that is not zero")
        need(self.element != REAL or np.isfinite(self.matrices).all(), place, "elements that are not finite")

    def shape(self):
        """The stride, and the stored elements' shape with their padding."""
        size = self.element.itemsize
        if self.layout == K4:
            stride = next_multiple(self.rows, 4)
            return stride, (self.banks, -(-self.cols // 4), stride, 4)
        outer, inner = (self.rows, self.cols) if self.layout == ROWS else (self.cols, self.rows)
        stride = padded(inner * size) // size
        return stride, (self.banks, outer, stride)

    def unfold(self, stored):
        if self.layout == ROWS:
            return stored[:, :, :self.cols]
        if self.layout == COLUMNS:
            return stored[:, :, :self.rows].transpose(0, 2, 1)
        fours = stored[:, :, :self.rows].transpose(0, 2, 1, 3)
        return np.ascontiguousarray(fours.reshape(self.banks, self.rows, -1)[:, :, :self.cols])

    def bank(self, bucket):
        return self.matrices[bucket if self.banks > 1 else 0]

    def fours_are_small(self):
        """Claim 8 of section 4.7, which a reader must check."""
        wide = np.zeros((self.banks, self.rows, next_multiple(self.cols, 8)), np.int64)
        wide[:, :, :self.cols] = self.matrices
        fours = wide.reshape(-1, 8)[:, [[0, 1, 4, 5], [2, 3, 6, 7]]]
        return np.maximum(fours, 0).sum(axis=2).max() <= 258 and np.minimum(fours, 0).sum(axis=2).min() >= -258


class Value:
    """Section 4.5."""

    def __init__(self, fields, place):
        need(fields["element"] in ELEMENTS, place, f"unknown element {fields['element']}")
        self.element = ELEMENTS[fields["element"]]
        self.len, self.zero = fields["len"], fields["zero"]
        self.height, self.width = fields["down"] + 1, fields["across"] + 1
        need(1 <= self.len <= 2**24, place, f"{self.len} elements are not 1 to 2^24")
        need(self.len % (self.height * self.width) == 0, place, "height and width do not divide the elements")
        self.channels = self.len // (self.height * self.width)
        # Rows that lie in the workspace at a time, 0 for all; value 0 has no place.
        self.rows = 0 if fields["place"] == NONE else fields["place"] % 64
        self.offset = fields["place"] - self.rows
        need(self.rows < self.height, place, f"{self.rows} of {self.height} rows at a time")
        self.row_len = self.len // self.height * self.element.itemsize
        self.end = self.offset + (self.rows or self.height) * self.row_len
        low, high = (0, 0) if self.element in (I32, REAL) else integers(self.element)
        need(low <= self.zero <= high, place, f"zero {self.zero} is not {low} to {high}")

    def shape(self):
        """Section 6.21: the indices of a map are [row, pixel, channel]."""
        return self.height, self.width, self.channels

    def map(self, stored):
        return stored.astype(np.int64).reshape(self.shape())


def integers(element):
    """The least and the greatest integer of an element."""
    return np.iinfo(element).min, np.iinfo(element).max


# --- 4: the container ------------------------------------------------------------------------------------------------


class Network:
    """A container that has been checked; `evaluate` runs it."""

    def __init__(self, data):
        need(len(data) >= 128 and len(data) % 64 == 0, "the file", f"{len(data)} bytes are no container's length")
        (header,), _ = records(data, HEADER, 0, 1)
        check_header(data, header)
        (self.input,), end = records(data, INPUT, 64, 1)
        blocks, end = records(data, BLOCK, end, header["block_count"])
        tensors, end = records(data, TENSOR, end, header["tensor_count"])
        values, end = records(data, VALUE, end, header["value_count"])
        operations, end = records(data, OPERATION, end, header["op_count"])
        check_places(data, header, tensors, end)
        self.buckets = self.input["bucket_count"]
        self.tensors = [Tensor(data, fields, f"tensor {i}") for i, fields in enumerate(tensors)]
        self.values = [Value(fields, f"value {i}") for i, fields in enumerate(values)]
        self.check_input(header)
        self.check_workspace(header)
        self.blocks = self.read_blocks(blocks)
        self.fields = operations
        self.operations = [Operation(self, i, fields) for i, fields in enumerate(operations)]

    def tensor(self, number, place, elements, rows, cols, layouts=(ROWS,), banks=(1,)):
        """The tensor that a record names, if it is what it must be there; None for none."""
        if number == NONE:
            return None
        need(number < len(self.tensors), place, f"there is no tensor {number}")
        tensor = self.tensors[number]
        found = (tensor.banks, tensor.rows, tensor.cols)
        need(tensor.element in elements and tensor.layout in layouts and tensor.banks in banks, place,
             f"tensor {number} has {tensor.element}, layout {tensor.layout}, {tensor.banks} banks")
        need((tensor.rows, tensor.cols) == (rows, cols), place, f"tensor {number} has {found}, not {rows} × {cols}")
        return tensor

    def check_input(self, header):
        """Section 4.1."""
        fields = self.input
        kind = fields["kind"]

        def among(field, allowed):
            need(fields[field] in allowed, f"input, {field}", f"{fields[field]} is not allowed")

        among("kind", (FEATURES, DENSE, SPARSE))
        features, sparse = kind == FEATURES, kind == SPARSE
        among("size", range(1, 2**24 + 1))
        among("perspectives", (1, 2) if features else (0,))
        among("hidden", range(1, 2**20 + 1) if features else (0,))
        among("max_active", (0,) if kind == DENSE else range(1, 65537))
        among("bucket_count", (1,) if sparse else range(1, 257))
        among("feature_set", range(8) if features else (0,))
        among("element", {FEATURES: (0,), DENSE: (1, 2, 5), SPARSE: (0, 3)}[kind])
        among("output", (header["op_count"],))
        among("order", (0, 1) if fields["perspectives"] == 2 else (0,))
        among("exact", (0, 1) if sparse else (0,))
        need(not fields["exact"] or fields["max_active"] <= fields["size"], "input, exact", "longer than `size`")
        unit = fields["unit"]
        right = {0: unit == 0 < math.copysign(1, unit), 5: unit == 1}.get(fields["element"], 0 < unit < np.inf)
        need(right, "input, unit", str(unit))
        need(0 < fields["output_unit"] < np.inf, "input, output_unit", str(fields["output_unit"]))
        self.check_first_and_last()
        self.check_chess()

    def check_first_and_last(self):
        kind, first = self.input["kind"], self.values[0]
        element = ELEMENTS[self.input["element"]] if kind == DENSE else I16
        length = {FEATURES: self.input["perspectives"] * self.input["hidden"], DENSE: self.input["size"],
                  SPARSE: self.input["max_active"]}[kind]
        need((first.element, first.len, first.offset) == (element, length, NONE), "value 0", "is not the input")
        need(kind == DENSE or first.zero == 0, "value 0", "zero is not 0")
        need(self.values[-1].element in (I32, REAL), "input, output", "is not i32 or f32")

    def check_chess(self):
        """Section 7: the tables of kings and of counts."""
        chess, counted = self.input["feature_set"], self.input["counted"]
        kings = self.tensor(self.input["king_table"], "input, king_table", (U8,), 64, 1)
        need((kings is not None) == (chess > 0), "input, king_table", "only chess has one, and must")
        entries = 289 if counted & 64 else 33
        table = self.tensor(self.input["bucket_table"], "input, bucket_table", (U8,), entries, 1)
        need(counted <= (127 if 1 <= chess <= 5 and table else 0), "input, counted", f"{counted} is not allowed")
        need(table is None or table.matrices.max() < self.buckets, "input, bucket_table", "no such bucket")
        need(table is None or self.input["kind"] != SPARSE, "input, bucket_table", "of a sparse network")
        if chess:
            plane_squares = (768, 768, 704, 704, 640, 704, 704)[chess - 1]
            own = self.input["size"] - {6: 79856, 7: 59808 + 4560}.get(chess, 0)
            need(own > 0 and own % plane_squares == 0, "input, size", "no multiple of the set's features")
            need(kings.matrices.max() < own // plane_squares, "input, king_table", "no such king bucket")

    def check_workspace(self, header):
        """Section 4.5: the places, and the length that the header names."""
        end = next_multiple(max(value.end for value in self.values[1:]), 64)
        need(header["workspace_len_bytes"] == end <= 2**26, "header, workspace_len_bytes", f"should be {end}")

    def read_blocks(self, blocks):
        """Section 4.2: the rows of all features, as (first feature, matrix) pairs."""
        features = self.input["kind"] == FEATURES
        need(bool(blocks) == features, "header, block_count", f"{len(blocks)} blocks")
        end, hidden, rows = 0, self.input["hidden"], []
        for number, block in enumerate(blocks):
            place = f"block {number}"
            need(block["first_feature"] == end and block["feature_count"] > 0, place, "does not follow the one before")
            need(block["claims"] <= 1, place, f"unknown claims {block['claims']:#x}")
            need(not any(block[f"reserved_{i}"] for i in range(3)), place, "a reserved field is not zero")
            tensor = self.tensor(block["weights"], f"{place}, weights", (I16, I8), block["feature_count"], hidden)
            need(tensor is not None, f"{place}, weights", "none")
            bias = self.tensor(block["bias"], f"{place}, bias", (I16,), hidden, 1)
            need((bias is not None) == (number == 0), f"{place}, bias", "only the first block has one, and must")
            if bias is not None:
                self.bias = bias.bank(0)[:, 0]
            rows.append((end, tensor.bank(0)))
            end += block["feature_count"]
        need(end == self.input["size"] or not features, "blocks", f"{end} features instead of {self.input['size']}")
        return rows

    def row(self, feature):
        first, matrix = next(block for block in reversed(self.blocks) if block[0] <= feature)
        return matrix[feature - first].astype(I16)

    def evaluate(self, first, bucket):
        """All values of section 6; `first` is value 0."""
        values = [first]
        for operation in self.operations:
            values.append(operation.run(values, bucket))
        return values


def check_places(data, header, tensors, end):
    """Section 2: the order of the parts, and the zeros between them."""
    parts = [(f"tensor {i}", fields["offset_bytes"], fields["len_bytes"]) for i, fields in enumerate(tensors)]
    parts.append(("metadata", header["metadata_offset_bytes"], header["metadata_len_bytes"]))
    parts.append(("the end", len(data), 0))
    for place, offset, length in parts:
        need(offset == next_multiple(end, 64), place, f"at {offset} instead of {next_multiple(end, 64)}")
        need(not any(data[end:offset]), place, "bytes before it that are not zero")
        end = offset + length
        need(end <= len(data), place, "reaches behind the end of the file")


# --- 4.6: operations -------------------------------------------------------------------------------------------------

KINDS = {}


def operation(code, source, target, tensors="", activations=(0,), params=0, second=False, same=False):
    """Enters a function as kind `code`: elements from and to, the tensors, activations and parameters that it has,
    whether it has a second value, and whether it writes as many elements as it reads.
    """

    def enter(function):
        KINDS[code] = (function, source.split(), target.split(), tensors.split(), activations, params, second, same)
        return function

    return enter


NAMES = {"u8": U8, "i8": I8, "i16": I16, "i32": I32, "f32": REAL}


def named(names):
    return [NAMES[name] for name in names if name in NAMES]


class Operation:
    """An operation record, with what its function asks for: tensors of the bucket, and parameters within bounds."""

    def __init__(self, net, index, fields):
        self.net, self.index, self.fields = net, index, fields
        self.place, self.bucket = f"operation {index}", 0
        need(fields["kind"] in KINDS, self.place, f"unknown kind {fields['kind']}")
        self.function, source, target, tensors, activations, params, second, same = KINDS[fields["kind"]]
        self.code, self.y = fields["activation"], net.values[index + 1]
        self.n, self.m = fields["input_len"], self.y.len
        need(fields["output"] == index + 1, self.place, f"writes value {fields['output']}")
        need(self.code in activations, self.place, f"activation {self.code}")
        need(self.y.element in named(target), self.place, f"makes {self.y.element}")
        self.words = [fields[f"param_{i}"] for i in range(4)]
        self.need_zeros(*range(params, 4))
        self.need_none(*{"weights", "bias", "multipliers", "shifts"}.difference(tensors))
        self.x = self.read_value("input", self.n)
        self.check_source(source)
        need(self.n == self.m or not same, self.place, f"makes {self.m} elements of {self.n}")
        self.s = self.read_second(second)
        need(self.s is None or self.s.element in named(source), self.place, "second value of another element")
        self.check_rows()
        self.check_overlap("input", self.x)
        if self.s is not None:
            self.check_overlap("second", self.s)

    def check_overlap(self, field, value):
        """Section 4.5: a value that is read is still there, all of it, and is not written over."""
        if value.offset == NONE:
            return
        start, end = value.offset, value.end
        last = self.index
        while self.net.values[last + 1].rows:
            last += 1
            need(last + 1 < len(self.net.values), self.place, "hands rows on to no operation")
        for number in range(self.fields[field] + 1, last + 2):
            other = self.net.values[number]
            need(other.end <= start or end <= other.offset or self.in_place(other) or self.over(other), self.place,
                 f"{field}: value {number} lies over it")

    def goes_by_rows(self):
        return self.fields["kind"] in (27, 29) or self.fields["kind"] == 30 and self.x.shape() == self.y.shape()

    def reach(self):
        """Rows that a row of the output needs, where none is outside."""
        return ((self.words[0] & 255) - 1) * (self.words[1] & 255) + 1 if self.fields["kind"] != 30 else 1

    def needed(self, field, row):
        """The rows of a value that a row of the output needs."""
        value = self.x if field == "input" else self.s
        if field == "input" and self.fields["kind"] != 30:
            first = row * (self.words[0] >> 16 & 255) - (self.words[1] >> 16 & 255)
            return max(first, 0), min(first + self.reach(), value.height)
        return (row, row + 1) if value.shape() == self.y.shape() else (0, value.height)

    def over(self, output):
        """An operation by rows that writes over what it reads: each row over none that it or a later one needs."""
        if output is not self.y or output.rows or self.x.rows or self.fields["kind"] not in (27, 29, 30):
            return False
        reads = [(field, value) for field, value in (("input", self.x), ("second", self.s))
                 if value is not None and value.offset != NONE]

        def is_free(row, others):
            start, end = output.offset + row * output.row_len, output.offset + (row + 1) * output.row_len
            spans = [(value, *self.needed(field, other)) for field, value in reads for other in others]
            return all(end <= value.offset + first * value.row_len or value.offset + last * value.row_len <= start
                       for value, first, last in spans)

        rows = range(output.height)
        return all(is_free(row, rows[row:]) for row in rows) or all(is_free(row, rows[:row + 1]) for row in rows)

    def check_rows(self):
        """Values of which a few rows lie there at a time: the next operation alone reads them, and both go by rows."""
        if self.y.rows:
            following = [op["input"] for op in self.net.fields[self.index + 1:self.index + 2]]
            need(following == [self.index + 1] and self.goes_by_rows(), self.place, "hands its rows on to nobody")
            first = self.index
            while first and self.net.values[first].rows:
                first -= 1
            need(self.index + 2 - first <= 16, self.place, "hands on rows as one of too many")
        for field in ("input", "second"):
            number = self.fields[field]
            if number != NONE and self.net.values[number].rows:
                need(field == "input" and number == self.index, self.place, f"{field} does not lie whole in its place")
        if self.x is not None and self.x.rows:
            need(self.goes_by_rows() and self.reach() <= self.x.rows, self.place, "is handed too few rows")

    def in_place(self, output):
        """The one operation that may write where it reads."""
        elements = (self.x.element, self.y.element)
        return (output is self.y and self.fields["kind"] == 11 and elements == (I32, I32)
                and self.n == self.x.len and self.x.offset == self.y.offset)

    def read_value(self, field, count):
        number, start = self.fields[field], self.fields[f"{field}_start"]
        need(number <= self.index, self.place, f"{field} is value {number}, which is not there yet")
        need(count >= 1 and start + count <= self.net.values[number].len, self.place, f"{field} reaches too far")
        return self.net.values[number]

    def check_source(self, source):
        kind, first = self.net.input["kind"], self.fields["input"] == 0
        if first and kind != DENSE:
            need({FEATURES: "accumulators", SPARSE: "list"}[kind] in source, self.place, "reads value 0")
            self.need_whole()
        else:
            need(self.x.element in named(source), self.place, f"reads {self.x.element}")

    def need_zeros(self, *params):
        need(not any(self.words[index] for index in params), self.place, "a parameter that it does not have")

    def need_none(self, *tensors):
        need(all(self.fields[name] == NONE for name in tensors), self.place, "a tensor that it does not have")

    def need_whole(self):
        need(self.n == self.x.len, self.place, "reads a part of a value")

    def read_second(self, second):
        present = self.fields["second"] != NONE
        need(present == second or second == "perhaps", self.place, "a second value")
        need(present or self.fields["second_start"] == 0, self.place, "second_start without a second value")
        if not present:
            return None
        need(self.fields["second"] > 0 or self.net.input["kind"] == DENSE, self.place, "second value is value 0")
        kind = self.fields["kind"]
        self.second_len = self.m - self.n if kind == 17 else self.m
        if kind in (27, 28, 30):
            self.second_len = self.net.values[min(self.fields["second"], self.index)].len
        return self.read_value("second", self.second_len)

    def run(self, values, bucket):
        self.bucket = bucket
        x = values[self.fields["input"]]
        if not isinstance(x, List):
            x = x[self.fields["input_start"]:][:self.n]
        start = self.fields["second_start"]
        arguments = [x] if self.s is None else [x, values[self.fields["second"]][start:][:self.second_len]]
        y = np.asarray(self.function(self, *arguments)).reshape(-1)
        need(len(y) == self.m, self.place, f"makes {len(y)} elements of value {self.index + 1}, which has {self.m}")
        return y.astype(self.y.element)

    def matrix(self, rows, cols, *elements, name="weights", layouts=(ROWS,), required=True):
        banks = (1,) if 27 <= self.fields["kind"] <= 33 else (1, self.net.buckets)  # 4.3
        tensor = self.net.tensor(self.fields[name], f"{self.place}, {name}", elements, rows, cols, layouts, banks)
        need(tensor is not None or not required, self.place, f"no {name}")
        return tensor and tensor.bank(self.bucket)

    def vector(self, name, rows, *elements, required=True):
        matrix = self.matrix(rows, 1, *elements, name=name, required=required)
        return None if matrix is None else matrix[:, 0]

    def with_bias(self, sums):
        """Adds the bias of i32, if there is one."""
        bias = self.vector("bias", sums.shape[-1], I32, required=False)
        return sums if bias is None else sums + bias

    def claims(self):
        return self.net.tensors[self.fields["weights"]].claims

    def param(self, index, low, high):
        """A parameter as an i32."""
        number = int(np.uint32(self.words[index]).astype(np.int32))
        need(low <= number <= high, self.place, f"parameter {index} is {number}, not {low} to {high}")
        return number

    def real(self, index):
        number = np.array(self.words[index], "<u4").view("<f4")[()]
        need(np.isfinite(number), self.place, f"parameter {index} is not finite")
        return number

    def limits(self, index=2):
        """`low` and `high`, which fit the output's element."""
        low, high = (self.param(i, *integers(self.y.element)) for i in (index, index + 1))
        need(low <= high, self.place, f"low {low} is above high {high}")
        return low, high

    def shifts(self, rows):
        shifts = self.vector("shifts", rows, U8).astype(np.int64)
        need(1 <= shifts.min() and shifts.max() <= 62, f"{self.place}, shifts", "not 1 to 62")
        return shifts

    def perspectives(self, x):
        """The accumulators, a row a perspective."""
        return x.astype(np.int64).reshape(self.net.input["perspectives"], -1)


# --- integers --------------------------------------------------------------------------------------------------------


def magnitude(numbers):
    return max(-int(numbers.min()), int(numbers.max()))


def product(left, right):
    """A matrix product modulo 2^64, in doubles where every sum is exact in them."""
    if magnitude(left) * magnitude(right) * left.shape[-1] < 2**53:
        return (left.astype(np.float64) @ right.astype(np.float64)).astype(np.int64)
    return left.astype(np.int64) @ right.astype(np.int64)


def trunc(number, divisor):
    return np.sign(number) * (np.abs(number) // divisor)


def halves_away(number, divisor):
    """number / divisor, to nearest, halves away from 0."""
    return np.sign(number) * ((2 * np.abs(number) + divisor) // (2 * divisor))


def rounded_shift(number, shift):
    """To nearest, halves upward; shifts from 1 on."""
    return (number + (np.int64(1) << (shift - 1))) >> shift


@operation(1, "accumulators", "i32", "weights", (3, 4, 5), 1)  # 6.2
def activate_dot(op, x):
    w, top = op.matrix(op.m, op.n, I16), op.param(0, 1, 32767)
    need(op.code != 5 or top == 32767, op.place, "SqrReLU clips above")
    c = np.clip(x.astype(np.int64), 0, top)
    if op.code == 3:
        return product(w, c)
    if op.code == 4 and op.claims() & 4:
        return product((w * c).astype(np.int16), c)
    return product(w, c * c)


@operation(2, "i32", "i32", "bias", params=3, same=True)  # 6.3
def rescale(op, x):
    pre, factor, divisor = op.param(0, 1, 2**31 - 1), op.param(1, 1, 2**30), op.param(2, 1, 2**31 - 1)
    bias = op.vector("bias", op.m, I16, I32).astype(np.int64)
    return trunc((trunc(x.astype(np.int64), pre) + bias) * factor, divisor)


def pair_factors(op, x):
    """6.5: both factors of each pair, clamped, a row a perspective; and `shift`."""
    top, left_out = op.param(0, 1, 32767), op.param(2, 0, op.net.input["hidden"])
    used = op.net.input["hidden"] - left_out
    need(used > 0 and used % 2 == 0, op.place, f"{used} elements are no pairs")
    c = np.clip(op.perspectives(x)[:, :used], 0, top)
    return c[:, :used // 2], c[:, used // 2:], top


@operation(4, "accumulators", "u8", activations=(6,), params=3)  # 6.5
def pairwise_u8(op, x):
    a, b, top = pair_factors(op, x)
    shift = op.param(1, 0, 31)
    need(top * top >> shift <= 255, op.place, "products above 255")
    return a * b >> shift


@operation(36, "accumulators", "u8", activations=(6,), params=3)  # 6.28
def pairwise_rounded(op, x):
    a, b, top = pair_factors(op, x)
    shift = op.param(1, 1, 15)
    need(top << (15 - shift) <= 32767 and rounded_shift(top * top, shift) <= 255, op.place, "products above 255")
    return rounded_shift(a * b, shift)


@operation(5, "u8 i8", "i32", "weights bias")  # 6.6
def affine_i8(op, x):
    w = op.matrix(op.m, op.n, I8, layouts=(K4,))
    if op.claims() & 8:
        need(op.net.tensors[op.fields["weights"]].fours_are_small(), op.place, "claim 8 of its weights is false")
    return op.with_bias(product(w, x))


@operation(11, "i32", "u8 i8 i16 i32", "multipliers shifts", params=3, same=True)  # 6.10
def requantise(op, x):
    low, high = op.limits(0)
    zero = op.param(2, *((0, 0) if op.y.element == I32 else (-32768, 32768)))
    multipliers = op.vector("multipliers", op.m, I32).astype(np.int64)
    need(multipliers.min() >= 0, f"{op.place}, multipliers", "below 0")
    return np.clip(rounded_shift(x * multipliers, op.shifts(op.m)) + zero, low, high)


@operation(18, "i32", "i32", second=True, same=True)  # 6.14
def add_i32(_, x, s):
    return x.astype(np.int64) + s


@operation(17, "u8 i8 i16 i32 f32", "u8 i8 i16 i32 f32", params=1, second=True)  # 6.14
def concat(op, x, s):
    runs = max(op.param(0, 0, op.n), 1)
    need(x.dtype == s.dtype == op.y.element, op.place, "joins values of different elements")
    need(len(x) % runs == len(s) % runs == 0, op.place, f"{runs} runs do not divide its values")
    return np.concatenate([x.reshape(runs, -1), s.reshape(runs, -1)], axis=1)


@operation(19, "u8 i8", "u8 i8", "weights", same=True)  # 6.15
def lookup(op, x):
    return op.matrix(256, 1, op.y.element)[x.view(np.uint8), 0]


@operation(20, "i16", "i32", "weights bias")  # 6.16
def affine_i16(op, x):
    return op.with_bias(product(op.matrix(op.m, op.n, I8, I16), x))


@operation(24, "accumulators", "u8", activations=(3,), params=3)  # 6.19
def clip_u8(op, x):
    top, shift, left_out = op.param(0, 1, 32767), op.param(1, 0, 15), op.param(2, 0, op.net.input["hidden"] - 1)
    need(top >> shift <= 255, op.place, "results above 255")
    return np.clip(op.perspectives(x)[:, :op.net.input["hidden"] - left_out], 0, top) >> shift


@operation(25, "accumulators", "i32", params=2)  # 6.19
def psqt(op, x):
    digits, bits = op.param(0, 1, 5), op.param(1, 0, 9) or 10
    count = digits * op.net.buckets
    need(count <= op.net.input["hidden"] and op.net.input["perspectives"] == 2, op.place, "no room for the digits")
    own, other = (op.perspectives(x)[:, -count:].reshape(2, digits, -1)[:, :, op.bucket]
                  << (bits * np.arange(digits))).sum(axis=1)
    return trunc(own - other, 2)


@operation(39, "accumulators", "i32", params=4)  # 6.30
def feature_sums(op, x):
    digits, bits, banks = op.param(0, 1, 5), op.param(1, 0, 9) or 10, op.param(3, 1, op.net.buckets)
    sides = op.param(2, 0, 3 if op.net.input["perspectives"] == 2 else 0)
    need(banks in (1, op.net.buckets), op.place, "banks for some of the buckets")
    numbers = banks * op.m
    need(digits * numbers <= op.net.input["hidden"], op.place, "no room for the digits")
    t = op.perspectives(x).astype(np.int64)[:, -digits * numbers:].reshape(-1, digits, banks, op.m)
    p = (t[:, :, op.bucket if banks > 1 else 0] << (bits * np.arange(digits))[:, None]).sum(axis=1)
    return [lambda: p[0], lambda: p[1], lambda: p[0] - p[1], lambda: p[1] - p[0]][sides]()


@operation(26, "i32", "u8", activations=(12, 13, 14), params=3)  # 6.20
def activate_u8(op, x):
    top = op.param(0, 1, 255)
    clip_shift = op.param(1, 0, 0 if op.code == 13 else 31)
    square_shift = op.param(2, 0, 0 if op.code == 12 else 62)
    x = x.astype(np.int64)
    clip, square = np.clip(x >> clip_shift, 0, top), np.minimum(x * x >> square_shift, top)
    return {12: [clip], 13: [square], 14: [square, clip]}[op.code]


@operation(34, "i32", "i32", "weights bias", (1, 2, 3, 4, 5, 7), 2)  # 6.26
def affine_i32(op, x):
    top = op.param(0, *{1: (0, 0), 2: (0, 0), 5: (32767, 32767)}.get(op.code, (1, 32767)))
    v = x.astype(np.int64) >> op.param(1, 0, 31)
    c = np.clip(v, 0, top)
    a = {1: v, 2: np.maximum(v, 0), 3: c, 4: c * c, 5: c * c,
         7: np.concatenate([c * top, np.clip(v, -top, top) ** 2])}[op.code]
    return op.with_bias(product(op.matrix(op.m, len(a), I8, I16, I32), a))


@operation(35, "accumulators", "i32", "weights bias", (4,), 1)  # 6.27
def rounded_dot(op, x):
    c = np.clip(x.astype(np.int64), 0, op.param(0, 1, 32767))
    return op.with_bias(product(rounded_shift(op.matrix(op.m, op.n, I16) * c, 15), c))


@operation(37, "accumulators", "i32", "weights bias", (3, 4, 5), 4)  # 6.29
def wide_head(op, x):
    need(op.n <= 65536, op.place, f"reads {op.n} elements")
    w, top = op.matrix(op.m, op.n, I16), op.param(0, 1, 32767)
    need(op.code != 5 or top == 32767, op.place, "SqrReLU clips above")
    pre, factor, divisor = op.param(1, 1, 2**31 - 1), op.param(2, 1, 2**30), op.param(3, 1, 2**31 - 1)
    bias = op.vector("bias", op.m, I16, I32).astype(np.int64)
    c = np.clip(x.astype(np.int64), 0, top)
    sums = product(w, c if op.code == 3 else c * c)
    # Numbers of Python's from here on: the magnitude of the least i64 is no i64.
    scaled = ((trunc(sums, pre) + bias) * factor).astype(object)
    return np.array([int(number) % 2**32 for number in trunc(scaled, divisor)], np.uint32)


# --- reals: every ufunc of float32 rounds once -----------------------------------------------------------------------


def constant(bits):
    return np.array(bits, "<u4").view("<f4")[()]


def eight_lanes(terms):
    """6.8: the sums over the last axis."""
    lanes = np.zeros(terms.shape[:-1] + (8,), F32)
    for start in range(0, terms.shape[-1], 8):
        part = terms[..., start:start + 8]
        lanes[..., :part.shape[-1]] += part
    l0, l1, l2, l3, l4, l5, l6, l7 = np.moveaxis(lanes, -1, 0)
    return ((l0 + l4) + (l2 + l6)) + ((l1 + l5) + (l3 + l7))


def relu(x):
    return np.where(x > 0, x, F32(0))


def crelu(x):
    return np.where(x >= 1, F32(1), relu(x))


def exp(x):
    """6.1."""
    inside = np.where((x >= -104) & (x <= 89), x, F32(0))
    k = (inside * constant(0x3FB8AA3B) + constant(0x4B400000)) - constant(0x4B400000)
    r = (inside - k * constant(0x3F317200)) - k * constant(0x35BFBE8E)
    q = constant(0x39500D01)
    for c in (0x3AB60B61, 0x3C088889, 0x3D2AAAAB, 0x3E2AAAAB, 0x3F000000):
        q = q * r + constant(c)
    e = ((r * r) * q + r) + F32(1)
    k = k.astype(np.int32)
    a = k >> 1
    y = (e * np.ldexp(F32(1), a)) * np.ldexp(F32(1), k - a)
    y = np.where(x > 89, F32(np.inf), np.where(x < -104, F32(0), y))
    return np.where(np.isnan(x), F32(np.nan), y)


def sigmoid(x):
    return F32(1) / (F32(1) + exp(-x))


def tanh(x):
    z, u = np.abs(x), x * x
    near = (x * ((u + F32(105)) * u + F32(945))) / ((F32(15) * u + F32(420)) * u + F32(945))
    far = np.copysign(F32(1) - F32(2) / (exp(z + z) + F32(1)), x)
    return np.where(np.isnan(x), F32(np.nan), np.where(z <= F32(0.625), near, far))


def softmax(x):
    top = x[0]
    for element in x[1:]:
        top = element if element > top else top
    e = exp(x - top)
    return e / eight_lanes(e)


def hard_swish(x):
    y = x + F32(3)
    return np.where(y >= 6, x, np.where(y > 0, (x * y) / F32(6), F32(0)))


ACTIVATIONS = {
    1: lambda x: x, 2: relu, 3: crelu, 4: lambda x: crelu(x) * crelu(x), 5: lambda x: relu(x) * relu(x),
    6: lambda x: crelu(x[:len(x) // 2]) * crelu(x[len(x) // 2:]),
    7: lambda x: np.concatenate([crelu(x), crelu(x * x)]),
    9: sigmoid, 10: tanh, 11: softmax, 20: hard_swish,
}


@operation(8, "f32", "f32", activations=(*range(1, 12), 20), params=1)  # 6.9
def activation_f32(op, x):
    if op.code == 8:
        return np.where(x > 0, x, op.real(0) * x)
    op.need_zeros(0)
    need(op.code != 6 or op.n % 2 == 0, op.place, "a vector without halves")
    return ACTIVATIONS[op.code](x)


@operation(3, "accumulators", "f32", activations=(3, 4, 5, 6), params=3)  # 6.4
def activate_f32(op, x):
    hidden = op.net.input["hidden"]
    top, inverse, used = op.param(0, 1, 32767), op.real(1), hidden - op.param(2, 0, hidden - 1)
    t = np.clip(op.perspectives(x)[:, :used], 0, top).astype(F32) * inverse
    if op.code == 6:
        half = used // 2
        need(t.shape[1] == 2 * half, op.place, "an accumulator without halves")
        return t[:, :half] * t[:, half:]
    return t if op.code == 3 else t * t


@operation(6, "i32", "f32", "bias", params=1, same=True)  # 6.7
def dequantise(op, x):
    y, bias = x.astype(F32) * op.real(0), op.vector("bias", op.m, REAL, required=False)
    return y if bias is None else y + bias


@operation(7, "f32", "f32", "weights bias")  # 6.8
def affine_f32(op, x):
    w, bias = op.matrix(op.m, op.n, REAL, layouts=(ROWS, COLUMNS)), op.vector("bias", op.m, REAL, required=False)
    y = eight_lanes(x * w)
    return y if bias is None else y + bias


@operation(9, "f32", "f32", second=True, same=True)  # 6.9
def add_f32(_, x, s):
    return x + s


@operation(38, "f32", "f32", second=True, same=True)  # 6.9
def multiply_f32(_, x, s):
    return x * s


@operation(10, "f32", "f32", params=1, same=True)  # 6.9
def scale_f32(op, x):
    return x * op.real(0)


@operation(22, "u8 i8 i16", "f32", params=2, same=True)  # 6.18
def to_f32(op, x):
    return (x.astype(np.int64) - op.param(1, -32768, 32768)).astype(F32) * op.real(0)


@operation(23, "f32", "u8 i8 i16", params=4, same=True)  # 6.18
def quantise(op, x):
    low, high = op.limits(1)
    scaled = np.nan_to_num((x * op.real(0)).astype(np.float64), nan=0.0, posinf=2.0**40, neginf=-(2.0**40))
    nearest = np.copysign(np.floor(np.abs(scaled) + 0.5), scaled)
    return np.clip(np.clip(nearest, -(2.0**40), 2.0**40).astype(np.int64) + op.param(3, -32768, 32768), low, high)


# --- 6.11 to 6.13, 6.17: sparse inputs, embeddings, trees ------------------------------------------------------------


class List:
    """Value 0 of a sparse network: features, ascending, and their values, or None."""

    def __init__(self, features, values, unit):
        self.features, self.values, self.unit = features, values, F32(unit)

    def weighted(self, rows):
        """6.11, 6.12: the rows in f32, each times its value."""
        return rows if self.values is None else (self.values.astype(F32) * self.unit)[:, None] * rows

    def integers(self):
        return np.ones(len(self.features), np.int64) if self.values is None else self.values.astype(np.int64)

    def at(self, features):
        """6.17: x[f]; 0 for features that are not in the list."""
        table = dict(zip(self.features.tolist(), self.integers().tolist()))
        return np.array([table.get(feature, 0) for feature in features.tolist()], np.int64)


@operation(12, "list", "i32 f32", "weights bias")  # 6.11
def sparse_affine(op, x):
    real = op.y.element == REAL
    rows = op.matrix(op.net.input["size"], op.m, *((REAL,) if real else (I8, I16)))[x.features]
    bias = op.vector("bias", op.m, op.y.element, required=False)
    y = np.zeros(op.m, F32 if real else np.int64) if bias is None else bias.astype(F32 if real else np.int64)
    if not real:
        return y + (x.integers()[:, None] * rows).sum(axis=0)
    for row in x.weighted(rows):
        y = y + row
    return y


@operation(13, "list", "i8 i16 f32", "weights", params=2)  # 6.12
def sparse_rows(op, x):
    need(op.m % op.x.len == 0, op.place, "no whole rows")
    rows = op.matrix(op.net.input["size"], op.m // op.x.len, op.y.element)[x.features]
    if op.y.element == REAL or x.values is None:
        op.need_zeros(0, 1)
    if op.y.element == REAL:
        rows = x.weighted(rows)
    elif x.values is not None:
        multiplier, shift, top = op.param(0, 0, 2**31 - 1), op.param(1, 1, 62), 127 if op.y.element == I8 else 32767
        rows = np.clip(rounded_shift(x.integers()[:, None] * rows * multiplier, shift), -top, top)
    y = np.zeros(op.m, op.y.element)
    y[:rows.size] = rows.reshape(-1)
    return y


def embeddings(op, x):
    """6.13: a row an embedding."""
    d = op.param(0, 1, op.n)
    need(op.n % d == 0, op.place, f"{d} does not divide {op.n}")
    need(op.y.element == (REAL if x.dtype == REAL else I32), op.place, f"makes {op.y.element}")
    return (x if x.dtype == REAL else x.astype(np.int64)).reshape(-1, d)


def pair_terms(e):
    """6.13: the sums over k < l of e[k,i] · e[l,i]."""
    p, t = np.zeros_like(e[0]), np.zeros_like(e[0])
    for row in e:
        t = t + p * row
        p = p + row
    return t


@operation(14, "i8 i16 f32", "i32 f32", params=1)
def fm_term(op, x):
    terms = pair_terms(embeddings(op, x))
    return eight_lanes(terms) if x.dtype == REAL else terms.sum()


@operation(15, "i8 i16 f32", "i32 f32", params=1)
def bi_interaction(op, x):
    return pair_terms(embeddings(op, x))


@operation(16, "i8 i16 f32", "i32 f32", params=1)
def inner_products(op, x):
    e = embeddings(op, x)
    need(len(e) >= 2, op.place, "one embedding has no pairs")
    k, l = np.triu_indices(len(e), 1)
    return eight_lanes(e[k] * e[l]) if x.dtype == REAL else (e[k] * e[l]).sum(axis=1)


@operation(21, "list u8 i8 i16 i32 f32", "i32 f32", "multipliers weights bias", params=2)  # 6.17
def trees(op, x):
    shape = count, nodes = op.param(0, 1, 2**24), op.param(1, 1, 2**24)
    sparse = isinstance(x, List)
    features = op.matrix(*shape, I32, name="multipliers")
    thresholds = op.matrix(*shape, REAL if not sparse and x.dtype == REAL else I32)
    leaves = op.matrix(*shape, op.y.element, name="bias")
    need(-1 <= features.min() and features.max() < (op.net.input["size"] if sparse else op.n),
         f"{op.place}, multipliers", "features that are not there")
    tree, node, walking = np.arange(count), np.zeros(count, np.int64), np.ones(count, bool)
    while walking.any():
        feature = features[tree, node]
        element = x.at(feature) if sparse else x[feature]
        following = np.where(element <= thresholds[tree, node], 2 * node + 1, 2 * node + 2)
        walking &= (feature != -1) & (following < nodes)
        node = np.where(walking, following, node)
    reached = leaves[tree, node]
    if op.y.element == I32:
        return reached.sum(dtype=np.int64)
    total = F32(0)
    for leaf in reached:
        total = total + leaf
    return total


# --- 6.21 to 6.25: maps ----------------------------------------------------------------------------------------------


class Window:
    """6.21: per axis, down and across, what a tap sees."""

    def __init__(self, op, turned=False):
        op.need_whole()
        params = np.array(op.words[:2], "<u4").view(np.uint8).reshape(4, 2).astype(np.int64)
        need(params[:3].min() >= 1, op.place, "a window with a zero")
        self.kernel, self.stride, self.dilation, self.before = params
        self.turned = turned
        self.sizes, self.places = (op.x.height, op.x.width), (op.y.height, op.y.width)
        need((self.before <= (self.kernel - 1) * self.dilation).all(), op.place, "more padding than window")
        places, sizes = (self.sizes, self.places) if turned else (self.places, self.sizes)
        need(((np.array(places) - 1) * self.stride < np.array(sizes) + self.before).all(), op.place,
             "a place behind the end of the map")

    def along(self, axis, tap):
        """The pixel that the tap sees from each place of an axis, and whether there is one."""
        place, offset = np.arange(self.places[axis]), tap * self.dilation[axis] - self.before[axis]
        if not self.turned:
            seen = place * self.stride[axis] + offset
            whole = True
        else:
            seen, whole = (place - offset) // self.stride[axis], (place - offset) % self.stride[axis] == 0
        inside = (seen >= 0) & (seen < self.sizes[axis]) & whole
        return np.where(inside, seen, 0), inside

    def taps(self, x):
        """Of each tap what it sees, [row, pixel, channel], and where that is a pixel, [row, pixel, 1]."""
        for a in range(self.kernel[0]):
            rows, rows_inside = self.along(0, a)
            for b in range(self.kernel[1]):
                columns, columns_inside = self.along(1, b)
                yield x[rows][:, columns], (rows_inside[:, None] & columns_inside)[:, :, None]

    def count(self):
        return int(self.kernel[0] * self.kernel[1])


def convolve(op, x, s, turned):
    """6.22."""
    window, n, m = Window(op, turned), op.x.channels, op.y.channels
    x = op.x.map(x) - op.x.zero
    need(op.x.element != I16 or op.x.zero == 0, op.place, "i16 with a zero point")
    weights, each = grouped(op, window.count(), n, m, turned)
    groups = len(weights)
    sums = np.zeros((groups, op.y.height * op.y.width, m // groups), np.int64)
    for tap, (seen, inside) in enumerate(window.taps(x)):
        seen = np.where(inside, seen, 0).reshape(-1, groups, each).transpose(1, 0, 2)
        sums += product(seen, weights[:, :, tap, :].transpose(0, 2, 1))
    sums = op.with_bias(sums.transpose(1, 0, 2).reshape(-1, m)).astype(np.int32).astype(np.int64)
    if op.y.element == I32:
        op.need_zeros(2, 3)
        need(s is None, op.place, "an output of i32 is the sum itself")
        op.need_none("multipliers", "shifts")
        return sums
    return requantise_map(op, sums, s)


def grouped(op, taps, n, m, turned):
    """The weights as [group, output of the group, tap, input of the group], and the inputs of a group."""
    number = op.fields["weights"]
    need(number < len(op.net.tensors), f"{op.place}, weights", f"there is no tensor {number}")
    rows, cols = op.net.tensors[number].rows, op.net.tensors[number].cols
    if not turned and n == m > 1 and (rows, cols) == (taps, n):
        return op.matrix(taps, n, I8).T.reshape(n, 1, taps, 1), 1
    need(cols % taps == 0 and n % (cols // taps) == 0, f"{op.place}, weights", f"{rows} × {cols}")
    each = cols // taps
    need(m % (n // each) == 0, f"{op.place}, weights", f"{n // each} groups do not divide {m} outputs")
    layouts = (ROWS, K4) if each == n and not turned and op.x.element != I16 else (ROWS,)
    return op.matrix(m, cols, I8, layouts=layouts).reshape(n // each, -1, taps, each), each


def requantise_map(op, sums, s):
    m, (low, high) = op.y.channels, op.limits()
    multipliers = op.vector("multipliers", m if s is None else 2 * m, I32).astype(np.int64)
    total = sums * multipliers[:m]
    if s is not None:
        need(op.s.shape() == op.y.shape(), op.place, "shape of the second value")
        total = total + (s.astype(np.int64).reshape(-1, m) - op.s.zero) * multipliers[m:]
    return np.clip(op.y.zero + rounded_shift(total, op.shifts(m)), low, high)


MAP_TENSORS = "weights bias multipliers shifts"


@operation(27, "u8 i8 i16", "u8 i8 i16 i32", MAP_TENSORS, params=4, second="perhaps")
def convolution(op, x, s=None):
    return convolve(op, x, s, turned=False)


@operation(28, "u8 i8 i16", "u8 i8 i16 i32", MAP_TENSORS, params=4, second="perhaps")
def transposed_convolution(op, x, s=None):
    return convolve(op, x, s, turned=True)


@operation(29, "u8 i8 i16", "u8 i8 i16 i32", activations=(15, 17, 18), params=4)  # 6.23
def pool(op, x):
    window, x = Window(op), op.x.map(x)
    need(op.x.channels == op.y.channels, op.place, "other channels")
    if op.code == 18:
        op.need_zeros(2, 3)
        wide = op.y.element == I32 or (op.y.element == I16 and op.x.element != I16)
        need(wide and op.y.zero == 0, op.place, "a sum that is narrow or has a zero")
        return sum(np.where(inside, seen - op.x.zero, 0) for seen, inside in window.taps(x))
    need((op.x.element, op.x.zero) == (op.y.element, op.y.zero), op.place, "another element or zero")
    low, high = op.limits()
    if op.code == 15:
        return np.clip(np.max([np.where(inside, seen, -2**40) for seen, inside in window.taps(x)], axis=0), low, high)
    total = sum(np.where(inside, seen, 0) for seen, inside in window.taps(x))
    count = np.maximum(sum(inside.astype(np.int64) for _, inside in window.taps(x)), 1)
    return np.clip(halves_away(total, count), low, high)


@operation(30, "u8 i8 i16", "u8 i8 i16", "multipliers shifts", (15, 16, 18, 19), 4, True)  # 6.24
def elementwise(op, x, s):
    op.need_whole()
    low, high = op.limits()
    op.need_zeros(0, 1)
    shapes, pixel = [op.x.shape(), op.s.shape()], (1, 1, op.y.channels)
    need(op.y.shape() in shapes and {*shapes} <= {op.y.shape(), pixel}, op.place, f"of {shapes}")
    x, s = op.x.map(x), op.s.map(s)
    if op.code in (15, 16):
        same = {(value.element, value.zero) for value in (op.x, op.s, op.y)}
        need(len(same) == 1, op.place, "other elements or zeros")
        op.need_none("multipliers", "shifts")
        return np.clip((np.maximum if op.code == 15 else np.minimum)(x, s), low, high)
    a, b = op.vector("multipliers", 2, I32).astype(np.int64)
    need(op.code != 19 or I16 not in (op.x.element, op.s.element), op.place, "a product of i16")
    x, s = x - op.x.zero, s - op.s.zero
    total = x * a + s * b if op.code == 18 else x * s * a
    return np.clip(op.y.zero + rounded_shift(total, op.shifts(1)[0]), low, high)


def check_same(op):
    op.need_whole()
    need((op.x.element, op.x.zero) == (op.y.element, op.y.zero), op.place, "another element or zero")


@operation(31, "u8 i8 i16 i32 f32", "u8 i8 i16 i32 f32", params=4)  # 6.25
def move(op, x):
    check_same(op)
    start, down, across, within = (op.param(i, -2**31, 2**31 - 1) for i in range(4))
    r, p, j = np.ogrid[:op.y.height, :op.y.width, :op.y.channels]
    from_ = start + r * down + p * across + j * within
    need(0 <= from_.min() and from_.max() < op.n, op.place, "moves what is not there")
    return x[from_]


@operation(32, "u8 i8 i16 i32 f32", "u8 i8 i16 i32 f32", params=2)  # 6.25
def pad(op, x):
    check_same(op)
    above, left = op.param(0, 0, 65535), op.param(1, 0, 65535)
    need(op.x.channels == op.y.channels and above + op.x.height <= op.y.height and left + op.x.width <= op.y.width,
         op.place, "the input does not lie within the output")
    y = np.full(op.y.shape(), op.y.zero, op.y.element)
    y[above:above + op.x.height, left:left + op.x.width] = x.reshape(op.x.shape())
    return y


@operation(33, "u8 i8 i16", "u8 i8 i16", "multipliers")  # 6.25
def resize(op, x):
    check_same(op)
    x, h, w = op.x.map(x), op.y.height, op.y.width
    numbers = op.vector("multipliers", 3 * (h + w), I32).astype(np.int64).reshape(-1, 3)
    first, last, weight = numbers.T
    need(0 <= numbers.min() and numbers[:h, :2].max() < op.x.height and numbers[h:, :2].max() < op.x.width
         and weight.max() <= 1024, f"{op.place}, multipliers", "pixels that are not there")
    right, below = weight[h:, None], weight[:h, None, None]
    along = x[:, first[h:]] * (1024 - right) + x[:, last[h:]] * right
    return halves_away(along[first[:h]] * (1024 - below) + along[last[:h]] * below, 2**20)


# --- 9: the signature ------------------------------------------------------------------------------------------------


class Draws:
    """SplitMix64."""

    def __init__(self):
        self.state = 0x74616D6973000001

    def take(self, count):
        """The next `count` draws."""
        step = np.uint64(0x9E3779B97F4A7C15)
        z = np.uint64(self.state) + step * np.arange(1, count + 1, dtype=np.uint64)
        self.state = (self.state + int(step) * count) % 2**64
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))

    def below(self, limit, count=1):
        return ((self.take(count) >> np.uint64(32)) % np.asarray(limit, np.uint64)).astype(np.int64)


class Hash:
    """FNV-1a of 64 bits, many bytes at a time.

    The xor with a byte changes the state's low byte alone: it adds `mixed − low` to the state, `mixed` being that byte
    behind the xor and `low` before it. So the state is a sum of these, each times a power of the prime. `mixed` needs
    only low bytes: its bit k is the xor of all earlier bits k and of what the bits below k carry into it.
    """

    PRIME, CHUNK = 0x100000001B3, 1 << 16
    POWERS = np.multiply.accumulate(np.full(CHUNK, PRIME, np.uint64))

    def __init__(self):
        self.state = 0xCBF29CE484222325

    def add(self, elements):
        if elements.dtype == REAL:
            bits = elements.view("<u4")
            elements = np.where(np.isnan(elements), np.array(0x7FC00000, "<u4"), bits)
        data = np.frombuffer(np.ascontiguousarray(elements).tobytes(), np.uint8)
        for start in range(0, len(data), self.CHUNK):
            self.add_bytes(data[start:start + self.CHUNK])

    def add_bytes(self, data):
        mixed = np.zeros_like(data)
        for bit in range(8):
            carried = mixed * np.uint8(self.PRIME & 0xFF)
            terms = data.copy()
            terms[0] ^= self.state & 0xFF
            terms[1:] ^= carried[:-1]
            mixed |= np.bitwise_xor.accumulate(terms) & np.uint8(1 << bit)
        added = mixed.astype(np.uint64) - (mixed ^ data).astype(np.uint64)
        powers = self.POWERS[:len(data)]
        self.state = (self.state * int(powers[-1]) + int((added * powers[::-1]).sum())) % 2**64


def drawn_accumulator(net, draws):
    """Section 9, 1: filled from a list, then three rows that cancel each other, and one that stays."""
    size = net.input["size"]
    count = 1 + int(draws.below(min(net.input["max_active"], 32))[0])
    features = list(dict.fromkeys(draws.below(size, count).tolist()))
    added, second = draws.below(size, 2).tolist()
    accumulator = net.bias.copy()
    for feature in features:
        accumulator += net.row(feature)
    accumulator += net.row(added)
    accumulator -= net.row(features[0])
    accumulator += net.row(second)
    accumulator -= net.row(added)
    return accumulator


def draw_features(net, draws, extreme, digest):
    """Section 9, 1 and 2: value 0 of section 5."""
    if extreme:
        sides = [draws.take(net.input["hidden"]).astype(np.uint16).view(I16) for _ in range(2)]
    else:
        sides = [drawn_accumulator(net, draws) for _ in range(2)]
        for accumulator in sides:
            digest.add(accumulator)
    if net.input["perspectives"] == 1:
        return sides[0]
    return np.concatenate(sides[::-1] if net.input["order"] else sides)


def draw_dense(net, draws, extreme, _):
    """Section 9, 3."""
    d, element = draws.take(net.input["size"]), net.values[0].element
    if extreme:
        low, high = {U8: (0, 127), I8: (-127, 127), REAL: (-65536, 65536)}[element]
        return np.where(d % np.uint64(2) == 1, high, low).astype(element)
    if element == REAL:
        return ((d >> np.uint64(40)).astype(np.int64) - 2**23).astype(F32) * F32(2.0**-22)
    if element == U8:
        return (d % np.uint64(128)).astype(U8)
    return ((d % np.uint64(255)).astype(np.int64) - 127).astype(I8)


def draw_sparse(net, draws, extreme, _):
    """Section 9, 4."""
    size = net.input["size"]
    limit = min(net.input["max_active"], size)
    count = limit if net.input["exact"] or extreme else int(draws.below(limit + 1)[0])
    edges = np.arange(count + 1, dtype=np.int64) * size // max(count, 1)
    features = edges[:-1] + draws.below(edges[1:] - edges[:-1], count)
    if net.input["element"] == 0:
        return List(features, None, 0)
    d = draws.take(count)
    usual = (d % np.uint64(511)).astype(np.int64) - 255
    values = np.where(d % np.uint64(2) == 1, 32767, -32767) if extreme else usual
    return List(features, values.astype(I16), net.input["unit"])


def signature(net):
    draws, digest = Draws(), Hash()
    draw = {FEATURES: draw_features, DENSE: draw_dense, SPARSE: draw_sparse}[net.input["kind"]]
    for sample in range(64):
        first = draw(net, draws, sample % 4 == 3, digest)
        for value in net.evaluate(first, sample % net.buckets)[1:]:
            digest.add(value)
    return digest.state


def main(names):
    names = [name for given in names for name in (sys.stdin.read().split("\n") if given == "-" else [given]) if name]
    refused = False
    np.seterr(all="ignore")
    for name in names:
        try:
            with open(name, "rb") as file:
                net = Network(file.read())
            print(f"{name} {signature(net):016x}", flush=True)
        except (Refused, OSError) as error:
            refused = True
            print(f"{name}: {error}", file=sys.stderr, flush=True)
    return 1 if refused or not names else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
