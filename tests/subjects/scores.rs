//! Which values of a graph are its scores, what stands for them in a container, and scores that are no numbers.

use tamis_quant::data::Outputs;
use tamis_quant::float::Matrix;
use tamis_quant::graph::{Activation, Graph, Input, Node, Op, Sample, SampleError, Shape, Value};
use tamis_quant::pack::{Provenance, pack, unpack_graph};
use tamis_quant::program::Program;
use tamis_quant::proof::prove;
use tamis_quant::quantise::graph::{Options, quantise_graph};
use tamis_quant::run::AlignedBytes;
use tamis_quant::verify::{Accuracy, Case, Gates, Report, VerifyError, logits_of};
use tamis_runtime::format::Model;
use tests::sample_models::Random;

const INPUTS: usize = 6;
const OUTPUTS: usize = 4;

/// A layer, and what follows it, each reading the one before.
fn network(behind: Vec<Op>) -> Graph {
    let mut random = Random(3);
    let weights = (0..OUTPUTS * INPUTS).map(|_| f64::from(random.real())).collect();
    let layer =
        Op::Linear { weights: Matrix::new(OUTPUTS, INPUTS, weights).unwrap(), bias: vec![0.1, -0.2, 0.3, -0.4] };
    let node = |(value, op): (Value, Op)| Node { name: format!("n{value}"), reads: vec![value], op };
    let nodes = std::iter::once(layer).chain(behind).enumerate().map(node).collect();
    let graph = Graph { name: "scores".to_owned(), input: Input::Dense { shape: Shape::vector(INPUTS) }, nodes };
    graph.check().unwrap();
    graph
}

fn samples() -> Vec<Sample> {
    let mut random = Random(4);
    (0..100).map(|_| Sample::Dense((0..INPUTS).map(|_| f64::from(random.real())).collect())).collect()
}

fn verified(graph: &Graph) -> Report {
    let program = quantise_graph(graph, &samples(), &Options::default()).unwrap();
    let bytes = AlignedBytes::copy_of(&pack(&program, &prove(&program), &Provenance::default()).unwrap());
    let model = Model::parse(bytes.as_ref()).unwrap();
    // What the description alone says is what the checkpoint says.
    let unpacked = unpack_graph(&model).unwrap();
    let scores = &unpacked.nodes[logits_of(&unpacked).unwrap() - 1].value;
    assert_eq!(scores.len(), OUTPUTS);
    let samples = samples();
    Case::of_graph(model, graph, &samples, None).unwrap().verify(&Gates::default(), &mut |_, _| ()).unwrap()
}

const SOFTMAX: Op = Op::Activation(Activation::Softmax);
const SIGMOID: Op = Op::Activation(Activation::Sigmoid);

/// What is only given another shape in front of a softmax, behind it or both is compared before it all the same: the
/// container's probabilities with the checkpoint's scores would be less than a decibel.
#[test]
fn scores_are_found_through_other_shapes() {
    let (map, flat) = (Op::Reshape(Shape::map(2, 1, 2)), Op::Flatten);
    let relu = Op::Activation(Activation::Relu);
    for behind in [
        vec![SOFTMAX],
        vec![flat.clone(), SOFTMAX],
        vec![map.clone(), flat.clone(), SOFTMAX],
        vec![relu.clone(), map.clone(), flat.clone(), SOFTMAX],
        vec![SOFTMAX, map.clone()],
        vec![map.clone(), flat.clone(), SIGMOID, map.clone(), flat.clone()],
        vec![map.clone(), SIGMOID],
        vec![relu, map],
    ] {
        let graph = network(behind);
        let report = verified(&graph);
        let found = report.accuracy.total.sqnr_db.unwrap();
        assert!(report.passed && found > 30.0, "{found} dB of {:?}", graph.nodes);
        assert_eq!(report.accuracy.total.count, 100 * OUTPUTS);
    }
}

/// A description that is damaged, or another network's, gives no scores: the outputs would be taken for them.
#[test]
fn scores_by_a_description_of_something_else_are_refused() {
    let graph = network(vec![SOFTMAX]);
    let program = quantise_graph(&graph, &samples(), &Options::default()).unwrap();
    assert_eq!(program.nodes[logits_of(&program).unwrap() - 1].value.layer, Some(1));
    let of = |description: String| logits_of(&Program { description, ..program.clone() });
    assert!(matches!(of(program.description.replace("[[node]]", "[[node")), Err(VerifyError::Pack(_))));
    assert!(matches!(of("[network]\nname = \"scores\"".to_owned()), Err(VerifyError::Pack(_))));
    let deeper = network(vec![Op::Activation(Activation::Relu), Op::Activation(Activation::Abs), SOFTMAX]);
    let other = quantise_graph(&deeper, &samples(), &Options::default()).unwrap();
    assert!(matches!(of(other.description), Err(VerifyError::OtherNetwork { .. })));
}

/// Behind a rounded sigmoid classes are told by what it reads, also where it is dequantised again.
#[test]
fn scores_of_rounded_probabilities_are_what_they_are_made_of() {
    let rounded = Op::Quantise {
        scales: vec![1.0 / 256.0; OUTPUTS],
        zero_points: vec![-128.0; OUTPUTS],
        low: -128.0,
        high: 127.0,
    };
    let back = Op::PerChannel { factors: vec![1.0 / 256.0; OUTPUTS], offsets: vec![0.5; OUTPUTS] };
    for (behind, scores, logits) in [
        (vec![SIGMOID], 1, 1),
        (vec![SIGMOID, rounded.clone()], 1, 3),
        (vec![SIGMOID, rounded.clone(), back.clone()], 1, 4),
        (vec![SIGMOID, back.clone()], 3, 3),
        (vec![rounded, back], 3, 3),
    ] {
        let graph = network(behind);
        assert_eq!((graph.scores(), graph.logits()), (scores, logits), "{:?}", graph.nodes);
    }
}

/// What a sigmoid reads of the input, in whatever shape, is no score: the output is compared as it is.
#[test]
fn a_sigmoid_of_the_input_is_all_that_there_is() {
    for behind in [vec![SIGMOID], vec![Op::Reshape(Shape::map(2, 1, 3)), SIGMOID, Op::Flatten], vec![SOFTMAX]] {
        let nodes = behind.iter().cloned().enumerate();
        let nodes = nodes.map(|(value, op)| Node { name: format!("n{value}"), reads: vec![value], op }).collect();
        let input = Input::Dense { shape: Shape::vector(INPUTS) };
        let graph = Graph { name: "alone".to_owned(), input, nodes };
        assert_eq!(graph.logits(), graph.output());
        let program = quantise_graph(&graph, &samples(), &Options::default()).unwrap();
        assert_eq!(logits_of(&program).unwrap(), program.scores_of(&graph).unwrap());
        assert_eq!(program.len(logits_of(&program).unwrap()), INPUTS);
    }
}

/// Biases that the quantiser adds where a layer has none, so that rounding leaves no mean, are no lost ones.
#[test]
fn corrections_are_no_lost_biases() {
    for seed in 0..60 {
        let mut random = Random(seed);
        let mut layer = |inputs: usize, outputs: usize| {
            let weights = (0..inputs * outputs).map(|_| f64::from(random.real())).collect();
            Op::Linear { weights: Matrix::new(outputs, inputs, weights).unwrap(), bias: vec![0.0; outputs] }
        };
        let ops = [layer(INPUTS, 16), Op::Activation(Activation::Relu), layer(16, OUTPUTS)];
        let nodes = ops.into_iter().enumerate();
        let nodes = nodes.map(|(value, op)| Node { name: format!("n{value}"), reads: vec![value], op }).collect();
        let input = Input::Dense { shape: Shape::vector(INPUTS) };
        let report = verified(&Graph { name: "unbiased".to_owned(), input, nodes });
        assert!(report.passed, "{seed}: {:?}", report.mistakes);
    }
}

/// The root of a negative number is none: no statistic is made of it, which would say that there is no error.
#[test]
fn outputs_that_are_no_numbers_are_refused() {
    let weights = (0..OUTPUTS * OUTPUTS).map(|at| f64::from(u8::from(at % (OUTPUTS + 1) == 0))).collect();
    let last = Op::Linear { weights: Matrix::new(OUTPUTS, OUTPUTS, weights).unwrap(), bias: vec![0.0; OUTPUTS] };
    let graph = network(vec![Op::Activation(Activation::Sqrt), last]);
    let samples = samples();
    let program = quantise_graph(&graph, &samples, &Options::default()).unwrap();
    let (index, error) = Accuracy::of_graph(&graph, &program, &samples, None).unwrap_err();
    let truth = graph.evaluate(&samples[index]).unwrap();
    let output = truth.iter().position(|value| value.is_nan()).unwrap();
    assert!(matches!(error, SampleError::NoNumber { output: found, .. } if found == output), "{error}");
    assert!(samples[..index].iter().all(|sample| graph.evaluate(sample).unwrap().iter().all(|x| x.is_finite())));
}

/// Beside a truth of zeros an error has no ratio to it, and no least one is kept.
#[test]
fn an_error_beside_zeros_keeps_no_ratio() {
    let (graph, samples) = (network(vec![]), samples());
    let program = quantise_graph(&graph, &samples, &Options::default()).unwrap();
    let bytes = AlignedBytes::copy_of(&pack(&program, &prove(&program), &Provenance::default()).unwrap());
    let zeros = Outputs { columns: OUTPUTS, values: vec![0.0; samples.len() * OUTPUTS] };
    let case = Case::of_outputs(Model::parse(bytes.as_ref()).unwrap(), &zeros, &samples, None).unwrap();
    let gates = Gates::from_toml("min_sqnr_db = -1000.0").unwrap();
    let report = case.allowing_constants(true).verify(&gates, &mut |_, _| ()).unwrap();
    let gate = report.gates.iter().find(|gate| gate.gate == "min_sqnr_db").unwrap();
    assert!(!gate.passed && !report.passed && gate.found == "not measured", "{gate:?}");
}

/// A weight that is none is named as a trainer has it, by output and input.
#[test]
fn weights_that_are_no_numbers_are_named_by_their_place() {
    let mut graph = network(vec![]);
    let Op::Linear { weights, .. } = &mut graph.nodes[0].op else { unreachable!() };
    weights.values[OUTPUTS * 5 + 2] = f64::NAN;
    let error = graph.check().unwrap_err().to_string();
    assert!(error.contains("output 2, input 5 of the weight is NaN"), "{error}");
}
