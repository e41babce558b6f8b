#!/usr/bin/env python3
"""Writes the committed corpus of the readers: for each a few short files that it accepts.

    tests/fuzz/seeds.py            writes them
    tests/fuzz/seeds.py --check    says whether they are what it would write

Only Python's own library. What needs a network of Tamis's own comes from elsewhere: the loader's and the containers'
corpus from tests/subjects/loader.rs, TFLite's and .nnue files from the targets themselves.
"""

import gzip
import io
import json
import struct
import sys
import zipfile
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
FILES = {}


def seed(target, name, content):
    FILES[f"{target}/{name}"] = content.encode() if isinstance(content, str) else content


def f32(*values):
    return struct.pack(f"<{len(values)}f", *values)


def safetensors(tensors, metadata=None):
    header, data = {}, b""
    if metadata:
        header["__metadata__"] = metadata
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def npy(descr, shape, content, fortran=False):
    dims = "(" + "".join(f"{dim}, " for dim in shape).rstrip() + ")"
    if len(shape) > 1:
        dims = "(" + ", ".join(map(str, shape)) + ")"
    text = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {dims}, }}".encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + content


def npz(arrays, method):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in arrays.items():
            archive.writestr(zipfile.ZipInfo(name + ".npy", (1980, 1, 1, 0, 0, 0)), content, compress_type=method)
    return out.getvalue()


def packed(content):
    return gzip.compress(content, 6, mtime=0)


def tensors():
    reals = f32(0.5, -1.0, 2.0, 0.25, 1.5, -0.75)
    two = {"first.weight": ("F32", [3, 2], reals), "first.bias": ("F32", [3], reals[:12]),
           "second.weight": ("F32", [1, 3], reals[:12]), "second.bias": ("F32", [1], reals[:4])}
    chain = {"0.weight": ("F32", [1, 2], reals[:8]), "0.bias": ("F32", [1], reals[:4]),
             "2.weight": ("F32", [1, 1], reals[:4]), "2.bias": ("F32", [1], reals[4:8])}
    described = {"description": (CORPUS / "graph-description/small.toml").read_text()}
    seed("safetensors", "reals.bin", safetensors(two))
    seed("safetensors", "integers.bin", safetensors(
        {"a": ("U8", [2, 2], b"\0\1\2\xff"), "b": ("I64", [1], bytes(8)), "c": ("F16", [2], b"\0<\0\xbc"),
         "d": ("BF16", [1], b"\x80\x3f"), "e": ("I8", [0], b"")}, {"format": "pt"}))
    arrays = {"first.weight": npy("<f4", [3, 2], reals), "first.bias": npy("<f8", [3], struct.pack("<3d", 1, 2, 3)),
              "second.weight": npy("<f4", [1, 3], reals[:12]), "second.bias": npy("<f4", [1], reals[:4])}
    for name, method in [("stored", zipfile.ZIP_STORED), ("deflated", zipfile.ZIP_DEFLATED)]:
        seed("npz", f"{name}.bin", npz(arrays, method))
        seed("tensor-network", f"{name}.bin", npz(arrays, method))
    seed("tensor-network", "given.bin", safetensors(two))
    seed("tensor-network", "own.bin", safetensors(two, described))
    seed("tensor-network", "chain.bin", safetensors(chain))
    seed("npy", "reals.bin", arrays["first.weight"])
    seed("npy", "columns.bin", npy("<f8", [2, 3], struct.pack("<6d", *range(6)), True))
    seed("npy", "bytes.bin", npy("|u1", [2, 2, 2], bytes(range(8))))
    seed("npy", "number.bin", npy(">i4", [], b"\0\0\0\7").replace(b"()", b"()"))
    seed("gz", "npy.bin", packed(arrays["first.weight"]))
    seed("gz", "twice.bin", packed(b"first") + packed(b"second" * 100))


def examples():
    images = struct.pack(">4B3I", 0, 0, 8, 3, 2, 2, 3) + bytes(range(12))
    labels = struct.pack(">4BI", 0, 0, 8, 1, 5) + bytes([0, 1, 2, 9, 255])
    seed("idx", "images.bin", images)
    seed("idx", "images.gz.bin", packed(images))
    seed("idx", "array.bin", npy("<f4", [2, 3], f32(*range(6))))
    seed("idx", "two.bin", npz({"x": npy("|u1", [2, 2], b"\1\2\3\4"), "labels": npy("<i8", [2], bytes(16))}, 0))
    seed("libsvm", "values.txt", "+1 1:0.5 7:-2\n-1 2:1 3:1e-3\n")
    seed("libsvm", "without.txt", "1 3:1\n0\n1 1:1 2:1 # a remark\n")
    seed("dummy-rows", "features.txt", "1 3 17 40\n-1 2 5\n0 1\n")
    seed("dummy-rows", "one.txt", "0 7\n")
    seed("labels", "labels.bin", labels)
    seed("labels", "numbers.txt", "1\n-1\n\n1\n0.5\n")
    seed("labels", "array.bin", npy("<i8", [3], struct.pack("<3q", 1, -1, 1)))
    seed("feature-lists", "lists.txt",
         "# own / other | bucket | score\n18 0 22 / 6 5 9 4 | 0 | -31\n/ 5 17, 11\n21 23 / | 1 | 28\n")
    ids = struct.pack("<8I", 3, 4, 0, 0, 3, 4, 5, 6)
    target = struct.pack("<6I", 1, 3, 0, 1, 3, 4)
    out = struct.pack("<6I", 3, 2, 0, 3, 4, 2)
    metadata = {"format": "tamis-batches-1", "batches": "1", "src_vocabulary": "8", "tgt_vocabulary": "8"}
    for dtype in ("I32",):
        seed("batches-file", "two.bin", safetensors(
            {"batch.0.lines": (dtype, [2], struct.pack("<2I", 0, 1)), "batch.0.src.ids": (dtype, [2, 4], ids),
             "batch.0.src.length": (dtype, [2], struct.pack("<2I", 2, 4)), "batch.0.tgt.ids": (dtype, [2, 3], target),
             "batch.0.tgt.ids_out": (dtype, [2, 3], out), "batch.0.tgt.length": (dtype, [2], struct.pack("<2I", 2, 3)),
             "batch.0.labels": ("U8", [2], b"\0\1"), "batch.0.logits": ("F32", [2, 1], f32(0.5, -0.5))}, metadata))
    reference = {"format": "tamis-reference-1"}
    seed("reference", "dense.bin", safetensors(
        {"outputs": ("F32", [2, 2], f32(1, 2, 3, 4)), "inputs": ("F32", [2, 3], f32(*range(6))),
         "labels": ("U8", [2], b"\0\1")}, reference))
    seed("reference", "chess.bin", safetensors(
        {"outputs": ("F32", [1, 1], f32(0.5)), "positions": ("U8", [1, 32], record())}, reference))
    seed("limits", "all.toml", "max_mean = 1.5\nmax_rms = 2\nmax_error = 10.0\nmin_sqnr_db = 30\n"
         "min_top1_agreement = 0.99\nmax_accuracy_loss = 0.01\n")


def record():
    """Two kings and a pawn, the side to move's king on e1, the other's on e8."""
    occupied = 1 << 4 | 1 << 12 | 1 << 60
    return struct.pack("<Q16shBBBBBB", occupied, bytes([0x05, 0x0D]) + bytes(14), 35, 2, 4, 4, 0, 0, 0)


def positions():
    seed("bulletformat", "pawn.bin", record())
    seed("fen", "start.txt", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")
    seed("fen", "score.txt", "4k3/8/8/8/8/8/4P3/4K3 b - - 0 1 | 120 | 1.0")
    seed("fen", "epd.txt", "r3k2r/8/8/3pP3/8/8/8/R3K2R w KQkq d6 ce 12; bm e5d6; id \"a; b\";")


def texts():
    start = bytes([3, 4])
    seed("alignment", "pairs.txt", start + b"0-0 1-1 2-3")
    seed("alignment", "odd.txt", start + b"0-0-1 1\t2-2")
    vocabulary = b"<blank>\n<s>\n</s>\na\nb\nc\n"
    source, target = b"a b c\nb\n\na a a a a a\n", b"c\na b\nb\nc c\n"
    seed("corpus", "plain.txt", b"\1".join([source, target, vocabulary]))
    seed("corpus", "aligned.txt", b"\1".join([b"a b\nc\n", b"c\na b\n", vocabulary, b"0-0 1-0\n0-0 0-1\n"]))
    seed("corpus", "odd.txt", b"\1".join([source + b"z\n", target + b"z", vocabulary]))


def angel():
    def meta(name, kind, row_type, rows, cols, data, parts):
        text = json.dumps({
            "matrixId": 0, "matrixName": name, "formatClassName": "com.tencent.angel.model.output.format." + kind,
            "rowType": row_type, "row": rows, "col": cols, "blockRow": -1, "blockCol": -1, "options": {},
            "partMetas": parts}, separators=(",", ":")).encode()
        return struct.pack(">I", len(text)) + text, data

    def part(rows, cols, len_bytes, counts, offsets):
        return {"0": {"partId": 0, "startRow": 0, "endRow": rows, "startCol": 0, "endCol": cols, "nnz": 0,
                      "saveRowNum": len(counts), "saveColNum": 0, "saveColElemNum": 0, "fileName": "0", "offset": 0,
                      "length": len_bytes, "rowMetas": {
                          str(row): {"rowId": row, "offset": offset, "elementNum": count, "saveType": 0}
                          for row, (count, offset) in enumerate(zip(counts, offsets))}}}

    binary = b"".join(struct.pack(">id", column, column / 2) for column in range(3))
    dense = meta("lr_weight", "ColIdValueBinaryRowFormat", 0, 1, 3, binary, part(1, 3, len(binary), [3], [0]))
    text = b"0\t0.5\n2\t-1.0\n"
    sparse = meta("lr_weight", "ColIdValueTextRowFormat", 5, 1, 3, text, part(1, 0, len(text), [2], [0]))
    seed("angel-matrix", "binary.bin", b"".join(dense))
    seed("angel-matrix", "text.bin", b"".join(sparse))
    graph = json.dumps({
        "data": {"format": "libsvm", "indexrange": 3, "numfield": -1},
        "layers": [{"name": "input", "type": "SimpleInputLayer", "outputdim": 1, "transfunc": {"type": "Identity"}},
                   {"name": "loss", "type": "LossLayer", "lossfunc": "LogLoss", "inputlayer": "input"}]}).encode()
    seed("angel-graph", "lr.json", graph)

    def folder(*files):
        def one(name, content):
            return bytes([len(name)]) + name.encode() + struct.pack(">I", len(content)) + content
        return b"".join(one(*file) for file in files)

    seed("angel-folder", "lr.bin", folder(
        ("lr_weight/_meta", dense[0]), ("lr_weight/0", dense[1]), ("lr_bias/_meta", meta(
            "lr_bias", "ColIdValueBinaryRowFormat", 0, 1, 1, b"", part(1, 1, 12, [1], [0]))[0]),
        ("lr_bias/0", struct.pack(">id", 0, 1.0))))


def networks():
    seed("nnue-description", "pairwise.toml", 'nnue = 1\nfeatures = "HalfKAv2_hm"\nwidth = 32\nhead = "pairwise"\n'
         'squares = true\ndivide = "once"\nbiases = "leb128"\nweights = "leb128"\npsqt = "leb128"\n')
    seed("chain", "relu.txt", "4:relu8:linear2")
    seed("chain", "others.txt", "3:sigmoid4:tanh2")
    layers = [("a", 2, 3), ("b", 3, 1)]
    head = json.dumps({"device": "cpu", "layers": [
        {"name": "a", "type": "Linear", "in_features": 2, "out_features": 3, "trainable": True},
        {"name": "r", "type": "ReLU"},
        {"name": "b", "type": "Linear", "in_features": 3, "out_features": 1, "trainable": True}]}).encode()
    parts = []
    for name, inputs, outputs in layers:
        weight, bias = f"{name}.weight".encode(), f"{name}.bias".encode()
        parts += [struct.pack("<I", len(weight)) + weight + struct.pack("<3I", 2, outputs, inputs)
                  + f32(*(index / 4 for index in range(inputs * outputs))),
                  struct.pack("<I", len(bias)) + bias + struct.pack("<3I", 2, 1, outputs) + f32(*[0.5] * outputs)]
    seed("datacode", "two.bin", b"DATACODE" + struct.pack("<II", 1, len(head)) + head
         + struct.pack("<I", len(parts)) + b"".join(parts))
    fann = b"FANN" + struct.pack("<II", 1, 2)
    fann += struct.pack("<IIB", 2, 1, 3) + f32(0.5, -0.5, 1) + struct.pack("<IIB", 1, 1, 0) + f32(2, -1)
    seed("fann", "two.bin", fann)
    layer = {"num_inputs": 2, "num_outputs": 1, "weights": [0.5, -0.25], "biases": [1.0], "activation": "re_l_u"}
    seed("lattice-json", "one.json", json.dumps({"layers": [layer]}))
    weights = list(f32(0.5, -0.5, 1.0, 2.0, -1.0))
    metrics = {"history": [], "best_val_loss": None, "best_epoch": 0, "final_train_loss": 0.25, "final_val_loss": None,
               "total_time_secs": 2.5, "early_stopped": False, "epochs_completed": 1}
    seed("lattice-checkpoint", "two.json", json.dumps({
        "id": "75d06f5b-5a18-4b1f-bdd1-55ccbaa34cc2", "epoch": 1, "global_step": 5, "metrics": metrics,
        "created_at": "2026-01-02T03:04:05Z", "weights": weights, "optimizer_state": []}))


def onnx():
    """Protocol Buffers, as much as a small model needs of them."""
    def varint(number):
        out = b""
        while number >= 128:
            out, number = out + bytes([number & 127 | 128]), number >> 7
        return out + bytes([number])

    def field(number, content):
        if isinstance(content, int):
            return varint(number << 3) + varint(content)
        content = content.encode() if isinstance(content, str) else content
        return varint(number << 3 | 2) + varint(len(content)) + content

    def tensor(name, dims, values):
        return b"".join(field(1, dim) for dim in dims) + field(2, 1) + field(8, name) + field(9, f32(*values))

    def bytes_tensor(name, dims, kind, content):
        return b"".join(field(1, dim) for dim in dims) + field(2, kind) + field(8, name) + field(9, content)

    def value(name, dims):
        shape = b"".join(field(1, field(1, dim)) for dim in dims)
        return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))

    def node(kind, reads, makes, *attributes):
        return (b"".join(field(1, name) for name in reads) + b"".join(field(2, name) for name in makes)
                + field(3, makes[0]) + field(4, kind) + b"".join(field(5, each) for each in attributes))

    def number(name, value):
        return field(1, name) + field(3, value) + field(20, 2)

    def numbers(name, values):
        return field(1, name) + b"".join(field(8, value) for value in values) + field(20, 7)

    def model(nodes, constants, inputs, outputs):
        graph = b"".join(field(1, each) for each in nodes) + field(2, "g")
        graph += b"".join(field(5, each) for each in constants)
        graph += b"".join(field(11, each) for each in inputs) + b"".join(field(12, each) for each in outputs)
        return field(1, 8) + field(2, "seeds") + field(7, graph) + field(8, field(1, "") + field(2, 13))

    dense = model(
        [node("Gemm", ["x", "w", "b"], ["h"], number("transB", 1)), node("Relu", ["h"], ["r"]),
         node("MatMul", ["r", "v"], ["y"])],
        [tensor("w", [3, 2], [1, 2, 3, 4, 5, 6]), tensor("b", [3], [1, 0, -1]), tensor("v", [3, 1], [1, -1, 0.5])],
        [value("x", [1, 2])], [value("y", [1, 1])])
    conv = model(
        [node("Conv", ["x", "w"], ["h"], numbers("kernel_shape", [2, 2]), numbers("strides", [1, 1])),
         node("MaxPool", ["h"], ["p"], numbers("kernel_shape", [2, 2])), node("Flatten", ["p"], ["y"])],
        [tensor("w", [2, 1, 2, 2], [0.25] * 8)], [value("x", [1, 1, 3, 3])], [value("y", [1, 2])])
    qdq = model(
        [node("QuantizeLinear", ["x", "s", "z"], ["xq"]), node("DequantizeLinear", ["xq", "s", "z"], ["xd"]),
         node("DequantizeLinear", ["wq", "ws", "wz"], ["w"]),
         node("MatMul", ["xd", "w"], ["h"]), node("QuantizeLinear", ["h", "s", "z"], ["hq"]),
         node("DequantizeLinear", ["hq", "s", "z"], ["y"])],
        [tensor("s", [], [0.5]), bytes_tensor("z", [], 3, b"\1"), tensor("ws", [], [0.25]),
         bytes_tensor("wz", [], 3, b"\0"), bytes_tensor("wq", [2, 2], 3, b"\1\xff\x7f\x80")],
        [value("x", [1, 2])], [value("y", [1, 2])])
    for name, content in [("dense", dense), ("convolution", conv), ("quantised", qdq)]:
        seed("onnx", f"{name}.bin", content)
    seed("onnx-quantised", "quantised.bin", qdq)


def copies():
    """Descriptions that the repository has anyway, and calls."""
    root = Path(__file__).parent.parent
    for name in ("lists", "minimal", "akimbo-mirrored"):
        seed("description", f"{name}.toml", (root / f"architectures/{name}.toml").read_bytes())
    seed("description", "tiny.toml", (root / "vectors/tiny.toml").read_bytes())
    seed("graph-description", "keywords.toml", (root / "reference/keywords.toml").read_bytes())
    seed("graph-description", "tokens.toml", (root / "reference/tokens.toml").read_bytes())
    play = bytes([0, 0, 0x20, 7, 1, 4, 3, 9, 0x87, 1, 2, 12, 7, 4, 0x87, 2, 0, 20, 0x87, 5, 7, 6, 0x87])
    seed("engine", "play.bin", play)


def main():
    for part in (tensors, examples, positions, texts, angel, networks, onnx, copies):
        part()
    wrong = []
    for name, content in sorted(FILES.items()):
        path = CORPUS / name
        if sys.argv[1:] == ["--check"]:
            if not path.is_file() or path.read_bytes() != content:
                wrong.append(name)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    if wrong:
        sys.exit(f"seeds: not what tests/fuzz/seeds.py writes: {', '.join(wrong)}")
    print(f"seeds: {len(FILES)} files, {sum(map(len, FILES.values()))} bytes")


main()
