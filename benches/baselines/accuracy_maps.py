"""Accuracy of calibrated int8 networks with convolutions: Tamis beside ONNX Runtime and the TFLite files that are
there.

    TAMIS_FIXTURES=FOLDER python accuracy_maps.py [NETWORK …]

TAMIS_FIXTURES names the folder that holds mlperf/. The Python needs the packages onnx, onnxruntime and numpy, and
ai-edge-litert for the rows of TFLite; without it these rows are missing and it is said. `target/release/host-tools` is
built first.

All calibrate on `calibration_inputs` and are measured on `inputs`. ONNX Runtime quantises the float32 ONNX file of the
same network with quantize_static to QDQ, u8 activations, i8 weights a unit a channel. By default it rounds the logits
to 8 bits, too; the rows "f32 logits" leave the output of the last dense layer alone, as Tamis does. TFLite files are
the public one and that of TensorFlow's converter, calibrated on the same inputs, and are run by LiteRT's reference
kernels; their logits are what stands before the softmax.

Columns: signal to noise of the logits in decibels, 10·log10(Σ f² / Σ (q − f)²), f in double precision; answers equal to
full precision; the same where full precision's best two logits are more than 0.1 apart; bytes of the file. LiteRT keeps
the input of a softmax only where it is asked to keep everything.
"""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TOOL = (ROOT / os.environ.get("CARGO_TARGET_DIR", "target")).resolve() / "release" / "host-tools"

try:
    import numpy as np
    import onnx
    import onnxruntime as ort
    from onnxruntime.quantization import (
        CalibrationDataReader,
        CalibrationMethod,
        QuantFormat,
        QuantType,
        quantize_static,
    )
except ImportError as reason:
    sys.exit(f"MISSING: {reason}; pip install onnx onnxruntime numpy")

KWS = (0.5847029089927673, 83)
# What a step and a zero of the stored inputs are to the float network; none where they are reals.
UNITS = {"kws": KWS, "kws_ckpt": KWS, "ic": (1.0, 0), "vww": (1 / 255, 0), "ad": None}
FILES = {"kws_ckpt": "external/kws_ckpt_external.onnx"}


class Samples(CalibrationDataReader):
    def __init__(self, name, inputs):
        self.left = [{name: row[None]} for row in inputs]

    def get_next(self):
        return self.left.pop(0) if self.left else None


class Network:
    def __init__(self, folder, name):
        self.folder, self.name, self.unit = folder / name, name, UNITS[name]
        self.arrays = np.load(self.folder / f"{name}.npz")
        self.truth = self.arrays["logits_f32"].astype(np.float64)

    def reals(self, array):
        stored = self.arrays[array].astype(np.float64)
        return stored if self.unit is None else (stored - self.unit[1]) * self.unit[0]

    def row(self, what, logits, size):
        truth = self.truth
        logits = np.asarray(logits, np.float64).reshape(truth.shape)
        sqnr = 10 * np.log10((truth**2).sum() / ((logits - truth) ** 2).sum())
        equal = logits.argmax(1) == truth.argmax(1)
        best = np.sort(truth, 1)
        clear = best[:, -1] - best[:, -2] > 0.1
        alike = "" if self.name == "ad" else f"{100 * equal.mean():6.1f} {100 * equal[clear].mean():6.1f}"
        print(f"{self.name:9} {sqnr:6.2f} {alike:13} {size:8}  {what}", flush=True)


def tamis(network, options):
    source, data = network.folder / f"{network.name}_float.tflite", network.folder / f"{network.name}.npz"
    unit = [] if network.unit is None else ["--input-unit", repr(network.unit[0]), "--input-zero", str(network.unit[1])]
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "model.bin"
        run = lambda *words: (
            subprocess.run([TOOL, *words, "--quiet"], check=True, capture_output=True, text=True).stdout
        )
        run("quantise", source, "--calibrate", data, "--array", "calibration_inputs", *unit, *options, "-o", model)
        answer = json.loads(run("eval", model, "--inputs", data, "--array", "inputs", *unit, "--logits", "--json"))
        network.row(f"tamis {' '.join(options)}".strip(), answer["values"], model.stat().st_size)


def runtime(path, name, inputs):
    options = ort.SessionOptions()
    options.log_severity_level = 3
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return np.concatenate([session.run(None, {name: row[None]})[0].reshape(1, -1) for row in inputs])


def onnxruntime(network):
    model = onnx.load(network.folder / FILES.get(network.name, f"{network.name}_float.onnx"))
    last = model.graph.node[-1]
    if last.op_type == "Softmax":
        # What is measured are the logits.
        model.graph.output[0].name = last.input[0]
        model.graph.node.remove(last)
    name = model.graph.input[0].name
    axes = [axis.dim_value for axis in model.graph.input[0].type.tensor_type.shape.dim]

    def given(array):
        reals = network.reals(array).astype(np.float32)
        if reals.ndim == 4:
            reals = reals.transpose(0, 3, 1, 2)
        return np.ascontiguousarray(reals).reshape(-1, *axes[1:])

    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder) / "float.onnx", pathlib.Path(folder) / "int8.onnx"
        onnx.save(model, source)
        methods = {
            "MinMax": CalibrationMethod.MinMax,
            "Percentile": CalibrationMethod.Percentile,
            "Entropy": CalibrationMethod.Entropy,
        }
        for method, logits in [(method, logits) for method in methods for logits in ("8-bit", "f32")]:
            ends = [node.op_type for node in model.graph.node if model.graph.output[0].name in node.output]
            extra = {"OpTypesToExcludeOutputQuantization": ends} if logits == "f32" else {}
            with contextlib.redirect_stdout(sys.stderr):
                quantize_static(
                    source,
                    target,
                    Samples(name, given("calibration_inputs")),
                    quant_format=QuantFormat.QDQ,
                    activation_type=QuantType.QUInt8,
                    weight_type=QuantType.QInt8,
                    per_channel=True,
                    calibrate_method=methods[method],
                    extra_options=extra,
                )
            network.row(
                f"onnxruntime {method}, {logits} logits", runtime(target, name, given("inputs")), target.stat().st_size
            )


def litert(network, file, what):
    path = network.folder / file
    if not path.exists():
        return
    from ai_edge_litert import interpreter as lite

    kernels = lite.OpResolverType.BUILTIN_REF
    run = lite.Interpreter(str(path), experimental_op_resolver_type=kernels, experimental_preserve_all_tensors=True)
    run.allocate_tensors()
    given, operators = run.get_input_details()[0], run._get_ops_details()
    softmax = [operator for operator in operators if operator["op_name"] == "SOFTMAX"]
    wanted = int(softmax[-1]["inputs"][0]) if softmax else run.get_output_details()[0]["index"]
    scales = {tensor["index"]: tensor["quantization"] for tensor in run.get_tensor_details()}
    scale, zero = given["quantization"]
    rows = []
    for row in network.reals("inputs"):
        integers = np.clip(np.round(row / scale) + zero, -128, 127).astype(np.int8)
        run.set_tensor(given["index"], integers.reshape(given["shape"]))
        run.invoke()
        unit, zero_point = scales[wanted]
        rows.append((run.get_tensor(wanted).astype(np.float64).ravel() - zero_point) * unit)
    network.row(what, rows, path.stat().st_size)


def main():
    fixtures = os.environ.get("TAMIS_FIXTURES")
    if not fixtures:
        sys.exit("MISSING: TAMIS_FIXTURES does not name the folder of the networks")
    folder = pathlib.Path(fixtures).resolve() / "mlperf"
    subprocess.run(["cargo", "build", "--release", "--quiet", "--locked", "-p", "host-tools"], cwd=ROOT, check=True)
    for name in sys.argv[1:] or UNITS:
        network = Network(folder, name)
        try:
            if name != "kws_ckpt":
                litert(network, f"{name}_int8.tflite", "the public int8 file, LiteRT")
            litert(network, f"{name}_litert221_int8.tflite", "TensorFlow's converter, LiteRT")
        except ImportError as reason:
            print(f"{name:9} MISSING: {reason}")
        onnxruntime(network)
        tamis(network, [])
        if name != "ad":
            tamis(network, ["--sixteen", "auto"])


main()
