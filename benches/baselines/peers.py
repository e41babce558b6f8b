"""Times general runtimes on small dense int8 networks, one thread, on one processor; prints one JSON object.

    python peers.py [--processor N] [--rounds N]

onnxruntime: opset 17, Gemm and Relu, quantised statically to QOperator (u8 activations, i8 weights), inputs and outputs
bound beforehand. LiteRT: FULLY_CONNECTED with fused ReLU, int8 per tensor, written with the schema's object API; the
time is that of Invoke on the wrapped interpreter. Both figures hold the call from Python; `floor` is the same call on a
network that does almost nothing. A package that is not there is named in `missing`.
"""

import argparse
import json
import os
import pathlib
import tempfile
import time

SHAPES = {
    "784-128-10": (784, 128, 10),
    "256-32-32-1": (256, 32, 32, 1),
    "768-256-1": (768, 256, 1),
    "64-256-128-1": (64, 256, 128, 1),
}
FLOOR = (4, 4)
# What the bare calls below borrow from: their owners must live as long as the program.
OWNERS = []


def onnx_call(widths, folder):
    """A bound session of a statically quantised network."""
    import numpy as np
    import onnx
    import onnxruntime as ort
    from onnx import TensorProto, helper, numpy_helper
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

    rng = np.random.default_rng(1)
    nodes, tensors, last = [], [], "x"
    for index, (inputs, outputs) in enumerate(zip(widths, widths[1:])):
        weights = rng.normal(0, (2 / inputs) ** 0.5, (inputs, outputs)).astype(np.float32)
        tensors += [
            numpy_helper.from_array(weights, f"w{index}"),
            numpy_helper.from_array(np.zeros(outputs, np.float32), f"b{index}"),
        ]
        final = index == len(widths) - 2
        nodes.append(helper.make_node("Gemm", [last, f"w{index}", f"b{index}"], ["y" if final else f"s{index}"]))
        if not final:
            nodes.append(helper.make_node("Relu", [f"s{index}"], [f"h{index}"]))
            last = f"h{index}"
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, widths[0]])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, widths[-1]])],
        tensors,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    name = "-".join(map(str, widths))
    source, target = folder / f"{name}.onnx", folder / f"{name}.int8.onnx"
    onnx.save(model, source)

    class Samples(CalibrationDataReader):
        left = 16

        def get_next(self):
            self.left -= 1
            return {"x": rng.random((1, widths[0]), np.float32)} if self.left >= 0 else None

    quantize_static(
        source,
        target,
        Samples(),
        quant_format=QuantFormat.QOperator,
        activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8,
    )
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = ort.InferenceSession(str(target), options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    values = [
        ort.OrtValue.ortvalue_from_numpy(x)
        for x in (rng.random((1, widths[0]), np.float32), np.zeros((1, widths[-1]), np.float32))
    ]
    binding.bind_ortvalue_input("x", values[0])
    binding.bind_ortvalue_output("y", values[1])
    OWNERS.append((session, binding, values))
    run, plain = session._sess.run_with_iobinding, (binding._iobinding, None)
    return lambda: run(*plain)


def litert_call(widths, _folder):
    """An interpreter's Invoke."""
    import flatbuffers
    import numpy as np
    from ai_edge_litert import interpreter as litert
    from ai_edge_litert import schema_py_generated as schema

    rng = np.random.default_rng(1)
    model, graph = schema.ModelT(), schema.SubGraphT()
    model.version, model.description, model.buffers = 3, "net", [schema.BufferT()]
    code = schema.OperatorCodeT()
    code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.FULLY_CONNECTED
    code.version = 4
    model.operatorCodes, graph.tensors, graph.operators = [code], [], []

    def tensor(shape, kind, scale, zero, data=None):
        made = schema.TensorT()
        made.shape, made.type, made.name, made.buffer = list(shape), kind, f"t{len(graph.tensors)}", 0
        made.quantization = schema.QuantizationParametersT()
        made.quantization.scale, made.quantization.zeroPoint = [scale], [zero]
        if data is not None:
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(data.tobytes(), np.uint8)
            model.buffers.append(buffer)
            made.buffer = len(model.buffers) - 1
        graph.tensors.append(made)
        return len(graph.tensors) - 1

    int8, int32 = schema.TensorType.INT8, schema.TensorType.INT32
    last = tensor((1, widths[0]), int8, 1 / 255, -128)
    graph.inputs, scale = [last], 1 / 255
    for index, (inputs, outputs) in enumerate(zip(widths, widths[1:])):
        weights = tensor((outputs, inputs), int8, 0.01, 0, rng.integers(-127, 128, (outputs, inputs)).astype(np.int8))
        bias = tensor((outputs,), int32, scale * 0.01, 0, np.zeros(outputs, np.int32))
        final = index == len(widths) - 2
        result = tensor((1, outputs), int8, 0.05, 0 if final else -128)
        operator, options = schema.OperatorT(), schema.FullyConnectedOptionsT()
        if not final:
            options.fusedActivationFunction = schema.ActivationFunctionType.RELU
        operator.opcodeIndex, operator.inputs, operator.outputs = 0, [last, weights, bias], [result]
        operator.builtinOptionsType, operator.builtinOptions = schema.BuiltinOptions.FullyConnectedOptions, options
        graph.operators.append(operator)
        last, scale = result, 0.05
    graph.outputs, model.subgraphs = [last], [graph]
    builder = flatbuffers.Builder(1 << 20)
    builder.Finish(model.Pack(builder), file_identifier=b"TFL3")
    content = bytes(builder.Output())
    interpreter = litert.Interpreter(model_content=content, num_threads=1)
    interpreter.allocate_tensors()
    place = interpreter.get_input_details()[0]["index"]
    interpreter.set_tensor(place, rng.integers(-128, 128, (1, widths[0])).astype(np.int8))
    OWNERS.append((interpreter, content))
    return interpreter._interpreter.Invoke


PEERS = {"onnxruntime": ("onnxruntime", onnx_call), "litert": ("ai_edge_litert", litert_call)}


def calibrate(call):
    """How many calls take about 200 microseconds."""
    for _ in range(50):
        call()
    count = 1
    while True:
        took = min(sample(call, count) for _ in range(3))
        if took > 70_000:
            return max(1, int(count * 200_000 / took))
        count *= 2


def sample(call, count):
    start = time.thread_time_ns()
    for _ in range(count):
        call()
    return time.thread_time_ns() - start


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--processor", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=40)
    arguments = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {arguments.processor})
    result = {"versions": {}, "missing": [], "figures": {}}
    cases = []
    with tempfile.TemporaryDirectory() as folder:
        for peer, (module, make) in PEERS.items():
            try:
                result["versions"][peer] = getattr(__import__(module), "__version__", "unknown")
                calls = {
                    name: make(widths, pathlib.Path(folder)) for name, widths in {"floor": FLOOR, **SHAPES}.items()
                }
            except ImportError as reason:
                result["missing"].append(f"{peer}: {reason}")
                continue
            cases += [(f"{peer}/{name}", call, calibrate(call), []) for name, call in calls.items()]
        for _ in range(arguments.rounds):
            for _, call, count, samples in cases:
                sample(call, max(1, count // 8))
                samples.append(sample(call, count) / count)
    for name, _, _, samples in cases:
        samples.sort()
        at = lambda share: round(samples[int((len(samples) - 1) * share)], 1)
        result["figures"][name] = {"p10": at(0.1), "median": at(0.5)}
    print(json.dumps(result))


main()
