//! ONNX models that are quantised already, packed as they are, against ONNX Runtime.

use std::path::Path;

use tamis_quant::error_kind::ErrorKind;
use tamis_quant::graph::Sample;
use tamis_quant::graph::description::{Description, Tensors};
use tamis_quant::import::importers::{NetworkForm, read_quantised_network};
use tamis_quant::import::onnx::{Port, read_onnx_model};
use tamis_quant::import::tensors::{read_npz, read_safetensors};
use tamis_quant::program::{Element, GraphInput, Program};
use tests::note;
use tests::packed::{Packed, container, stored_input};
use tests::trials::Fixtures;

/// Models of integers among the cases of one operator; how far their largest element may be off: integers not at all,
/// QLinear forms by 1, reals by one step of what the model makes; and the least share of elements that are not off.
///
/// ONNX Runtime's kernel for machines with AVX2 alone adds products in pairs of 16 bits, which saturate, in
/// 130 and 133.
const CASES: [(&str, f64, f64); 12] = [
    ("120_quantize_u8_ties", 1.0, 0.5),
    ("121_quantize_s8_scale_div", 0.0, 1.0),
    ("125_qdq_conv_relu_u8s8", 1.0, 0.98),
    ("126_qdq_conv_relu_s8s8", 1.0, 0.98),
    ("127_qdq_conv_relu_per_tensor", 1.0, 0.98),
    ("128_qdq_conv_groups2", 1.0, 0.98),
    ("129_qdq_conv_u8u8", 1.0, 0.98),
    ("130_qlinearconv", f64::INFINITY, 0.69),
    ("131_qlinearmatmul", 1.0, 0.9),
    ("132_convinteger", 0.0, 1.0),
    ("133_matmulinteger", f64::INFINITY, 0.9),
    ("134_qdq_gemm_softmax", 0.1, 0.0),
];

/// Models that are no network of bytes with one scale each, and the operator that a refusal names.
const REFUSED: [(&str, &str); 2] =
    [("122_quantize_per_axis1", "QuantizeLinear"), ("123_dequantize_per_axis0", "DequantizeLinear")];

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn program(path: &Path) -> (Program, Vec<String>) {
    let network = read_quantised_network(path, NetworkForm::Onnx).unwrap_or_else(|error| panic!("{error}"));
    let description = Description::of(&network.reals.graph).unwrap().0.to_toml();
    let (program, remarks) =
        network.integers.lower(&description).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    (program, remarks.iter().map(|remark| remark.text().to_owned()).collect())
}

/// Examples of a port in the graph's order, out of a tensor in the model's.
fn examples(port: &Port, values: &[f64]) -> Vec<Vec<f64>> {
    let places = port.places();
    values.chunks_exact(port.len).map(|example| places.iter().map(|place| example[*place]).collect()).collect()
}

#[test]
fn operators_on_integers_are_onnx_runtimes(fixtures: Fixtures) {
    let folder = fixtures.join("mlperf/onnx_ops");
    for (name, operator) in REFUSED {
        let error = read_quantised_network(&folder.join(format!("{name}.onnx")), NetworkForm::Onnx).unwrap_err();
        assert_eq!(error.class(), ErrorKind::Unsupported, "{name}: {error}");
        assert!(error.to_string().contains(operator), "{name}: {error}");
    }
    let mut wrong = Vec::new();
    for (name, limit, least) in CASES {
        let path = folder.join(format!("{name}.onnx"));
        let ((program, remarks), model) = (program(&path), read_onnx_model(&read(&path), None, name).unwrap());
        let (bytes, is_proved) = container(&program);
        assert!(is_proved, "{name}");
        let mut network = Packed::new(&bytes, &program);
        let (arrays, _) = read_safetensors(&read(&folder.join(format!("{name}.safetensors")))).unwrap();
        let (given, made) = (&model.inputs[0], &model.outputs[0]);
        let inputs = examples(given, &arrays[&format!("input.{}", given.name)].values);
        let outputs = examples(made, &arrays[&format!("output.{}", made.name)].values);
        let last = program.nodes.last().unwrap();
        let step = if last.value.element == Element::I32 {
            1.0
        } else {
            f64::from(program.nodes[program.nodes.len() - 2].value.units[0])
        };
        let (mut near, mut count, mut most) = (0, 0, 0f64);
        for (x, expected) in inputs.iter().zip(&outputs) {
            let input = match model.given {
                Some(_) => stored_input(&program, x.iter().copied()),
                None => program.input.quantise(&Sample::Dense(x.clone())).unwrap(),
            };
            network.integers(&input, true);
            let mut found = network.reals(&input);
            if name.contains("softmax") {
                found = tamis_quant::graph::Activation::Softmax.apply(&found);
            }
            assert_eq!(found.len(), expected.len(), "{name}");
            for (found, expected) in found.iter().zip(expected) {
                let off = ((found - expected).abs() / step * 1e4).round() / 1e4;
                most = most.max(off);
                near += usize::from(off == 0.0);
                count += 1;
            }
        }
        note!("{name}: {near} of {count} elements, {most} steps at most; {remarks:?}");
        if most > limit || (near as f64) < least * f64::from(count) {
            wrong.push(format!("{name}: {near} of {count}, {most}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// How a stored input becomes a real.
type Real = fn(f64) -> f64;

/// Networks and how their stored inputs become reals; the last has no classes.
const NETWORKS: [(&str, Real); 4] =
    [("kws_ckpt", |x| (x - 83.0) * 0.584_702_908_992_767_3), ("ic", |x| x), ("vww", |x| x / 255.0), ("ad", |x| x)];
/// The least share of inputs that have ONNX Runtime's class.
const LEAST_AGREEMENT: f64 = 0.99;

#[test]
fn networks_name_the_classes_that_onnx_runtime_names(fixtures: Fixtures) {
    let mut wrong = Vec::new();
    for (name, real) in NETWORKS {
        let folder = fixtures.join("mlperf").join(name);
        let (program, remarks) = program(&folder.join(format!("{name}_qdq.onnx")));
        let (bytes, is_proved) = container(&program);
        assert!(is_proved, "{name}");
        let mut network = Packed::new(&bytes, &program);
        let arrays = read_npz(&read(&folder.join(format!("{name}.npz")))).unwrap();
        let answers = read_npz(&read(&folder.join(format!("{name}_qdq.npz")))).unwrap();
        let rows = |tensors: &Tensors, name: &str| -> Vec<Vec<f64>> {
            let tensor = &tensors[name];
            tensor.values.chunks_exact(tensor.values.len() / tensor.shape[0]).map(<[f64]>::to_vec).collect()
        };
        let mut found: Vec<Vec<f64>> = Vec::new();
        for x in rows(&arrays, "inputs") {
            let sample = Sample::Dense(x.into_iter().map(real).collect());
            let input: GraphInput = program.input.quantise(&sample).unwrap();
            found.push(network.reals(&input));
        }
        let top = |x: &[f64]| (0..x.len()).max_by(|a, b| x[*a].total_cmp(&x[*b]));
        for answer in ["ort_unoptimised", "ort_optimised"] {
            let expected = rows(&answers, answer);
            let agree = found.iter().zip(&expected).filter(|(found, expected)| top(found) == top(expected)).count();
            note!("{name}, {answer}: {agree} of {}; {remarks:?}", found.len());
            if name != "ad" && (agree as f64) < LEAST_AGREEMENT * found.len() as f64 {
                wrong.push(format!("{name}, {answer}: {agree} of {}", found.len()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
