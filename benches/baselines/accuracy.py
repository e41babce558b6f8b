"""Accuracy of calibrated int8: Tamis beside ONNX Runtime, the same network, the same images, the same measure.

    TAMIS_FIXTURES=FOLDER python accuracy.py [NAME]

TAMIS_FIXTURES names the folder that holds datacode/model_mnist.nn and MNIST's test images. The Python needs the
packages onnx, onnxruntime, numpy and safetensors; `target/peers`, which benches/series/run makes, has all but the last.
What is missing is said.

Both sides calibrate on images 0 to 499 and nothing else. ONNX Runtime gets the tensors that `host-tools export` writes,
as Gemm, Relu, Gemm in opset 17, and quantises them with quantize_static to QDQ, the form it recommends; i8 weights, i32
biases, one thread. By default it rounds the logits to 8 bits too. Tamis does not, so every row is there a second time
with the output of the last Gemm left alone ("f32 logits"). The rows with 7 bits tell what Tamis' default range costs:
the same quantize_static with a unit twice as large (0 to 127 is used of u8) for the images, for the hidden layer, for
both.

Columns: right of all 10000 images; of the 9500 that did not calibrate; top-1 equal to full precision, of 10000; signal
to noise of the logits in decibels, 10·log10(Σ f² / Σ (q − f)²), f in double precision, over all images and over the
9500; bytes of the model's file. With a NAME, benches/record/NAME.json keeps them.
"""

import argparse
import contextlib
import datetime
import gzip
import itertools
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TARGET = (ROOT / os.environ.get("CARGO_TARGET_DIR", "target")).resolve()
CALIBRATION = 500
COLUMNS = ("right", "right_9500", "alike", "sqnr_db", "sqnr_9500_db", "bytes")
OURS = (
    "",
    "--activations u8",
    "--activations i8",
    "--activations i16 --weight-bits 16",
    "--weights per-tensor",
    "--weights per-tensor --activations u8",
    "--method min-max",
    "--method percentile",
    "--method entropy",
    "--round-each",
    "--no-bias-correction",
    # Equalisation gives the hidden channels ranges of its own, so that the method decides only without it.
    "--no-equalise",
    "--no-equalise --method min-max",
    "--no-equalise --method percentile",
    "--no-equalise --method entropy",
    "--no-equalise --activations u8",
    "--round-each --activations u8",
    "--round-each --no-equalise --activations u8",
    "--no-equalise --weights per-tensor",
    # What quantize_static does, as near as it can be said here; then with the 7 bits that Tamis takes by default.
    "--round-each --no-bias-correction --no-equalise --method min-max --activations u8",
    "--round-each --no-bias-correction --no-equalise --method min-max --activations u8 --weights per-tensor",
    "--round-each --no-bias-correction --no-equalise --method min-max",
    "--round-each --no-bias-correction --no-equalise --method min-max --weights per-tensor",
)

try:
    import numpy as np
    import onnx
    import onnxruntime as ort
    import safetensors
    import safetensors.numpy
    from onnx import TensorProto, helper, numpy_helper
    from onnxruntime.quantization import (
        CalibrationDataReader,
        CalibrationMethod,
        QuantFormat,
        QuantType,
        quantize_static,
    )
except ImportError as reason:
    sys.exit(f"MISSING: {reason}; pip install onnx onnxruntime numpy safetensors")


def said(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout.strip()


def idx(path, header):
    """The bytes of a gzip'd idx file behind its header."""
    return np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8, offset=header)


class Images(CalibrationDataReader):
    """One batch."""

    def __init__(self, images):
        self.left = [{"x": images}]

    def get_next(self):
        return self.left.pop() if self.left else None


class Measure:
    """Holds what every row is compared with."""

    def __init__(self, labels, truth):
        self.labels, self.truth, self.rows = labels, truth, {}

    def take(self, name, logits, size):
        best = logits.argmax(1)
        right = best == self.labels
        sqnr = lambda q, f: round(float(10 * np.log10((f * f).sum() / ((q - f) ** 2).sum())), 2)
        rest = slice(CALIBRATION, None)
        row = (
            int(right.sum()),
            int(right[rest].sum()),
            int((best == self.truth.argmax(1)).sum()),
            sqnr(logits, self.truth),
            sqnr(logits[rest], self.truth[rest]),
            size,
        )
        self.rows[name] = dict(zip(COLUMNS, row))
        print(f"{row[0]:>6} {row[1]:>6} {row[2]:>6} {row[3]:>7.2f} {row[4]:>7.2f} {row[5]:>7}  {name}", flush=True)


def float_model(tensors, path):
    """The network as ONNX, from tensors named as `host-tools export` names them."""
    nodes, held, last = [], [], "x"
    for layer in ("layer0", "layer1"):
        # Exported (outputs, inputs); Gemm without transposition reads (inputs, outputs).
        weights = np.ascontiguousarray(tensors[f"{layer}.weight"].T)
        held += [
            numpy_helper.from_array(weights, f"{layer}.weight"),
            numpy_helper.from_array(tensors[f"{layer}.bias"], f"{layer}.bias"),
        ]
        out = "sums" if layer == "layer0" else "y"
        nodes.append(helper.make_node("Gemm", [last, f"{layer}.weight", f"{layer}.bias"], [out], name=layer))
        if out == "sums":
            nodes.append(helper.make_node("Relu", ["sums"], ["hidden"], name="relu"))
            last = "hidden"
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", width]) for name, width in (("x", 784), ("y", 10))
    ]
    graph = helper.make_graph(nodes, "net", ends[:1], ends[1:], held)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def run_onnx(path, images):
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return session.run(None, {"x": images})[0].astype(np.float64)


def baselines(measure, folder, images):
    source = folder / "float.onnx"
    tensors = safetensors.numpy.load_file(folder / "float.safetensors")
    float_model(tensors, source)
    measure.take("onnxruntime f32", run_onnx(source, images), source.stat().st_size)

    def int8(name, channels, method, kind, extra):
        target = folder / "int8.onnx"
        # What ONNX Runtime says about its calibration is no row.
        with contextlib.redirect_stdout(sys.stderr):
            quantize_static(
                source,
                target,
                Images(images[:CALIBRATION]),
                quant_format=QuantFormat.QDQ,
                activation_type=kind,
                weight_type=QuantType.QInt8,
                per_channel=channels == "per channel",
                calibrate_method=method,
                extra_options=extra,
            )
        measure.take(f"onnxruntime {channels}, {name}", run_onnx(target, images), target.stat().st_size)

    types = {"u8": QuantType.QUInt8, "s8": QuantType.QInt8}
    methods = {
        "MinMax": CalibrationMethod.MinMax,
        "Percentile": CalibrationMethod.Percentile,
        "Entropy": CalibrationMethod.Entropy,
    }
    for channels, method, kind, logits in itertools.product(
        ("per channel", "per tensor"), methods, types, ("8-bit logits", "f32 logits")
    ):
        # The first Gemm's output stays f32 too, which costs no accuracy: Relu's, the second's input, is in 8 bits
        # either way.
        extra = {"OpTypesToExcludeOutputQuantization": ["Gemm"]} if logits == "f32 logits" else {}
        int8(f"{method}, {kind}, {logits}", channels, methods[method], types[kind], extra)
    layer = lambda name, x: x @ tensors[f"{name}.weight"].T + tensors[f"{name}.bias"]
    ends = {"x": 1.0, "hidden": layer("layer0", images[:CALIBRATION]).max()}
    for channels, seven in itertools.product(("per channel", "per tensor"), (("x",), ("hidden",), ("x", "hidden"))):
        ranges = {name: [{"rmin": np.float32(0), "rmax": np.float32(ends[name] * 255 / 127)}] for name in seven}
        extra = {"OpTypesToExcludeOutputQuantization": ["Gemm"], "TensorQuantOverrides": ranges}
        int8(
            f"MinMax, u8, f32 logits, 7 bits of {' and '.join(seven)}",
            channels,
            CalibrationMethod.MinMax,
            QuantType.QUInt8,
            extra,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", help="of the record: YYYY-MM-DD-MACHINE")
    name = parser.parse_args().name
    fixtures = os.environ.get("TAMIS_FIXTURES")
    if not fixtures:
        sys.exit("MISSING: TAMIS_FIXTURES does not name the folder of the networks and images")
    fixtures = pathlib.Path(fixtures).resolve()
    network = fixtures / "datacode" / "model_mnist.nn"
    images = fixtures / "mnist" / "t10k-images-idx3-ubyte.gz"
    labels = fixtures / "mnist" / "t10k-labels-idx1-ubyte.gz"
    for path in (network, images, labels):
        if not path.exists():
            sys.exit(f"MISSING: {path}")
    subprocess.run(["cargo", "build", "--release", "--quiet", "--locked", "-p", "host-tools"], cwd=ROOT, check=True)
    tool = TARGET / "release" / "host-tools"

    def outputs(model):
        answer = json.loads(said(tool, "eval", model, "--inputs", images, "--logits", "--json", "--quiet"))
        return np.array(answer["values"], np.float64), answer

    print(f"{'right':>6} {'of9500':>6} {'alike':>6} {'SQNR':>7} {'of9500':>7} {'bytes':>7}")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        truth = outputs(network)[0]
        measure = Measure(idx(labels, 8), truth)
        said(tool, "export", network, "-o", folder / "float.safetensors", "--quiet")
        baselines(measure, folder, (idx(images, 16).reshape(-1, 784) / 255.0).astype(np.float32))
        for options in OURS:
            model = folder / "quantised.bin"
            said(
                tool,
                "quantise",
                network,
                "--calibrate",
                images,
                "--calibrate-limit",
                str(CALIBRATION),
                *options.split(),
                "-o",
                model,
                "--force",
                "--quiet",
            )
            values, answer = outputs(model)
            measure.take(f"tamis {options}".strip(), values, model.stat().st_size)
    record = {
        "schema": "tamis-accuracy-record-1",
        "network": "datacode/model_mnist.nn, 784-128-10",
        "right_in_full_precision": int((truth.argmax(1) == measure.labels).sum()),
        "right_9500_in_full_precision": int((truth.argmax(1) == measure.labels)[CALIBRATION:].sum()),
        "machine": {"cpu": cpu(), "system": platform.system(), "target": platform.machine(), "tier": answer["tier"]},
        "compiler": said("rustc", "--version"),
        "peer_versions": {module.__name__: module.__version__ for module in (ort, onnx, np, safetensors)},
        "commit": said("git", "rev-parse", "--short=12", "HEAD"),
        "changed_files": bool(said("git", "status", "--porcelain", "--", "runtime", "quant", "host-tools", "benches")),
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
    }
    print(f"{record['right_in_full_precision']:>6} {record['right_9500_in_full_precision']:>6}  in full precision")
    if name:
        rows = ",\n  ".join(f"{json.dumps(row)}: {json.dumps(figures)}" for row, figures in measure.rows.items())
        head = ",\n ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in record.items())
        out = HERE.parent / "record" / f"{name}.json"
        out.write_text(f'{{\n {head},\n "rows": {{\n  {rows}\n }}\n}}\n')
        print(f"wrote {out.relative_to(ROOT)}")


def cpu():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


if __name__ == "__main__":
    main()
