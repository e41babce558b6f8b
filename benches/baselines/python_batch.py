"""Rows a second from Python: the package tamis beside ONNX Runtime's int8, the same network, rows and threads.

    TAMIS_FIXTURES=FOLDER python python_batch.py

The Python needs the packages tamis (`pip install ./quant/python`), onnx, onnxruntime, numpy and safetensors. The
network is datacode/model_mnist.nn of the fixtures, 784-128-10; a batch is MNIST's 10,000 test images in f32, which
both quantise themselves. ONNX Runtime gets it as `accuracy.py` writes it, by quantize_static to QDQ, calibrated on
500 images, with u8 activations and i8 weights; Tamis with its defaults and with `--activations u8`. All take turns in
one process, so that whatever else the machine does falls on all; a ratio is one of neighbours, and its median and
tenths are printed. Before each turn the process rests: ONNX Runtime's threads spin for a while after a call, and would
hold a core that the next one needs. Memory for outputs is each one's own affair.
"""

import os
import pathlib
import sys
import tempfile
import time

import accuracy
import numpy as np
import onnxruntime as ort
import safetensors.numpy
import tamis
from accuracy import CALIBRATION, Images, QuantFormat, QuantType, float_model, idx, quantize_static

ROUNDS = 60
REST_SECONDS = 0.1


def session(path, threads):
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def seconds(call):
    time.sleep(REST_SECONDS)
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main():
    fixtures = pathlib.Path(os.environ.get("TAMIS_FIXTURES") or sys.exit("MISSING: TAMIS_FIXTURES"))
    network = fixtures / "datacode/model_mnist.nn"
    pixels = idx(fixtures / "mnist/t10k-images-idx3-ubyte.gz", 16).reshape(-1, 784)
    images = (pixels / np.float32(255)).astype(np.float32)
    ours = {
        "default": tamis.quantise(network, calibrate=images[:CALIBRATION]),
        "u8": tamis.quantise(network, calibrate=images[:CALIBRATION], activations="u8"),
    }
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        exported = folder / "float.safetensors"
        accuracy.said(accuracy.TARGET / "release/host-tools", "export", network, "-o", exported)
        float_model(safetensors.numpy.load_file(exported), folder / "float.onnx")
        quantize_static(
            folder / "float.onnx", folder / "int8.onnx", Images(images[:CALIBRATION]), quant_format=QuantFormat.QDQ,
            activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8, per_channel=True,
        )  # fmt: skip
        for threads in (1, 2):
            theirs = session(folder / "int8.onnx", threads)
            calls = {"ONNX Runtime int8": lambda: theirs.run(None, {"x": images})}
            for name, model in ours.items():
                calls[f"tamis {name}"] = lambda model=model: model(images, threads=threads)
            taken = {name: [] for name in calls}
            for _ in range(ROUNDS):
                for name, call in calls.items():
                    taken[name].append(seconds(call))
            base = np.array(taken["ONNX Runtime int8"])
            print(f"{threads} thread{'s' * (threads > 1)}, batches of {len(images):,}, {ROUNDS} rounds")
            for name, times in taken.items():
                ratios = np.sort(base / np.array(times))
                low, middle, high = ratios[[ROUNDS // 10, ROUNDS // 2, -1 - ROUNDS // 10]]
                best = len(images) / min(times)
                over = f"{middle:.2f} ({low:.2f} to {high:.2f})"
                print(f"  {name:<20} best {best:>12,.0f} rows/s; rate over theirs {over}")


main()
