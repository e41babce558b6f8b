"""Times the public networks of MLPerf Tiny beside LiteRT and ONNX Runtime, one thread, on one processor.

    python convolutions.py FOLDER --host-tools PROGRAM --profile PROGRAM [--tiers A,B] [--rounds N] [--processor N]

FOLDER has a folder each for kws, ic, vww and ad with NAME_int8.tflite, NAME_float.tflite, NAME_float.onnx and, where
there is one, NAME_qdq.onnx (KWS' lies in kws_ckpt). The int8 TFLite file is packed into a container, so that ours and
LiteRT's int8 run the same integers; ours is what the runtime's example `profile` says of it. All are asked in turns.
A figure is the tenth percentile of the calls of a turn, in microseconds, and of all turns the least; theirs hold a call
from Python (LiteRT: Invoke; ONNX Runtime: run with bound inputs and outputs). What is not there is left out, and said.
"""

import argparse
import os
import pathlib
import re
import subprocess
import tempfile
import time

NETS = {"kws": "kws_ckpt/kws_ckpt_qdq.onnx", "ic": "ic/ic_qdq.onnx", "vww": "vww/vww_qdq.onnx", "ad": "ad/ad_qdq.onnx"}
CALLS = 300
# What the bare calls below borrow from.
OWNERS = []


def litert(path):
    import numpy as np
    from ai_edge_litert import interpreter as made

    net = made.Interpreter(model_path=str(path), num_threads=1)
    net.allocate_tensors()
    for one in net.get_input_details():
        values = np.random.default_rng(1).integers(0, 127, one["shape"])
        net.set_tensor(one["index"], values.astype(one["dtype"]))
    OWNERS.append(net)
    return net._interpreter.Invoke


def onnx(path):
    import numpy as np
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    one = session.get_inputs()[0]
    shape = [size if isinstance(size, int) else 1 for size in one.shape]
    binding = session.io_binding()
    value = ort.OrtValue.ortvalue_from_numpy(np.random.default_rng(1).random(shape, np.float32))
    binding.bind_ortvalue_input(one.name, value)
    binding.bind_output(session.get_outputs()[0].name)
    OWNERS.append((session, binding, value))
    return lambda: session.run_with_iobinding(binding)


def tenth(call):
    times = []
    for _ in range(CALLS):
        start = time.perf_counter_ns()
        call()
        times.append(time.perf_counter_ns() - start)
    return sorted(times)[CALLS // 10] / 1e3


def ours(profile, container, tier):
    said = subprocess.run([profile, container, tier, str(CALLS)], check=True, capture_output=True, text=True).stdout
    return float(re.search(r"tenth percentile ([0-9.]+)", said).group(1))


def peers(folder, name):
    """What can be loaded of what is there, by name."""
    found = {}
    for said, load, path in [
        ("LiteRT int8", litert, folder / name / f"{name}_int8.tflite"),
        ("LiteRT f32", litert, folder / name / f"{name}_float.tflite"),
        ("ONNX Runtime int8", onnx, folder / NETS[name]),
        ("ONNX Runtime f32", onnx, folder / name / f"{name}_float.onnx"),
    ]:
        try:
            call = load(path)
            call()
            found[said] = call
        except Exception as error:
            print(f"{name}: no {said}: {str(error).splitlines()[0]}")
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--host-tools", required=True)
    parser.add_argument("--profile", required=True)
    parser.add_argument("--tiers", default="avx512,avxvnni,avx2")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--processor", type=int, default=0)
    arguments = parser.parse_args()
    os.sched_setaffinity(0, [arguments.processor])
    with tempfile.TemporaryDirectory() as made:
        for name in NETS:
            container = pathlib.Path(made) / f"{name}.bin"
            source = arguments.folder / name / f"{name}_int8.tflite"
            command = [arguments.host_tools, "pack", source, "-o", container, "--quiet"]
            subprocess.run(command, check=True, capture_output=True)
            calls = {said: lambda call=call: tenth(call) for said, call in peers(arguments.folder, name).items()}
            for tier in arguments.tiers.split(","):
                calls[tier] = lambda tier=tier, container=container: ours(arguments.profile, container, tier)
            best = dict.fromkeys(calls, float("inf"))
            for _ in range(arguments.rounds):
                for said, call in calls.items():
                    best[said] = min(best[said], call())
            print(name, "  ".join(f"{said} {figure:.2f}" for said, figure in best.items()), flush=True)


if __name__ == "__main__":
    main()
