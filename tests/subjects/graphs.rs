//! Graphs to integers: what quantising costs on real networks.

use std::path::Path;
use tamis_quant::calibrate::Method;
use tamis_quant::data::{Inputs, Selection, classes, read_labels};
use tamis_quant::float::Matrix;
use tamis_quant::graph::description::Description;
use tamis_quant::graph::{Activation, Graph, Input, Node, Op, Pooling, Sample, Shape, Window};
use tamis_quant::import::importers::{NetworkOptions, read_network};
use tamis_quant::integer::IntegerModel;
use tamis_quant::pack::{Provenance, is_graph, pack, unpack_graph};
use tamis_quant::program::{Element, Operation, Program, Values};
use tamis_quant::proof::Witness;
use tamis_quant::proof::prove;
use tamis_quant::quantise::graph::{
    Activations, Budget, Granularity, Options, WeightBits, quantise_graph, search_mixed,
};
use tamis_quant::run::AlignedBytes;
use tamis_quant::verify::runtime::check_runtime;
use tamis_quant::verify::simulate::Simulation;
use tamis_quant::verify::{Accuracy, VerifyError};
use tamis_runtime::format::Model;
use tests::graphs::{self, Random};
use tests::networks::is_the_graph_without_rounding;
use tests::tolerances::{LOST_AUC, MNIST_SQNR_DB, MNIST_TOP1, RANDOM_GRAPH_SQNR_DB, REALS_SQNR_DB, SMALL_GRAPH};
use tests::trials::Fixtures;

/// The network, t10k images and their labels.
fn mnist(folder: &Path) -> (Graph, Vec<Sample>, Vec<usize>) {
    let graph = read_network(&folder.join("datacode/model_mnist.nn"), &NetworkOptions::default()).unwrap().graph;
    let read = |name: &str| std::fs::read(folder.join("mnist").join(name)).unwrap();
    let images = Inputs::read(&read("t10k-images-idx3-ubyte.gz"), Selection::default()).unwrap();
    let labels = classes(&read_labels(&read("t10k-labels-idx1-ubyte.gz"), None).unwrap()).unwrap();
    let samples = (0..images.len()).map(|index| images.sample(index, graph.input).unwrap()).collect();
    (graph, samples, labels.into_iter().map(|label| label as usize).collect())
}

/// Packs a graph, takes it apart again, and runs it on every tier against the integer model.
#[track_caller]
fn runs_everywhere(quantised: &Program, samples: &[Sample]) {
    let proof = prove(quantised);
    let provenance = Provenance { source: "test".to_owned(), source_hash: 1 };
    let packed = pack(quantised, &proof, &provenance).unwrap();
    let bytes = AlignedBytes::copy_of(&packed);
    let model = Model::parse(bytes.as_ref()).unwrap();
    let again = unpack_graph(&model).unwrap();
    assert_eq!(&again, quantised, "unpacked");
    assert_eq!(pack(&again, &prove(&again), &provenance).unwrap(), packed, "packed again");
    let inputs: Vec<_> = samples.iter().map(|sample| quantised.input.quantise(sample).unwrap()).collect();
    let check = check_runtime(model, quantised, &inputs, 64, |_, _| (), |_, ()| ()).unwrap();
    assert!(check.equal, "{:?}\n{quantised:#?}", check.tiers);
}

/// With no rounding the simulation is the float graph, with all of them the integer model, where that has no f32 in it;
/// whether it has none.
#[track_caller]
fn simulates(graph: &Graph, quantised: &Program, samples: &[Sample]) -> bool {
    let model = IntegerModel::new(quantised);
    let value = quantised.scores_of(graph).unwrap();
    let simulation = Simulation::of_graph(graph, quantised, value).unwrap();
    let is_real = |value: usize| quantised.element(value) == Element::F32;
    let has_reals = (0..=value).any(is_real);
    is_the_graph_without_rounding(graph, quantised, samples);
    for sample in samples {
        if !has_reals {
            let outputs = simulation.evaluate(sample.into(), &|_| true).outputs;
            assert_eq!(outputs, model.scores(sample, graph).unwrap(), "{quantised:#?}");
        }
    }
    !has_reals
}

/// Every sum of every sample within the bounds that were proved.
#[track_caller]
fn stays_within_bounds(quantised: &Program, samples: &[Sample]) {
    let proof = prove(quantised);
    assert!(proof.holds(), "{}", proof.violations[0]);
    for sample in samples {
        let values = IntegerModel::new(quantised).trace(sample).unwrap();
        for (node, data) in quantised.nodes.iter().zip(values.iter().skip(1)) {
            let tensor = node.op.tensors().map(|tensor| tensor.name.as_str()).next().unwrap_or(&node.name);
            for check in proof.checks.iter().filter(|check| check.tensor == tensor) {
                if let Some(found) = data.integers().get(check.row) {
                    let found = i64::from(*found);
                    assert!(check.low <= found && found <= check.high, "{check:?}: {found}");
                }
            }
        }
    }
}

/// Both taps of a window with a gap lie in padding, around the only row: the maximum of nothing is the least that there
/// is, −128, where a dense layer rounds to −127 and more. Each row's weights, (1, 0.75) and (−1, −0.5), have one sign.
#[test]
fn a_pool_of_padding_alone_lies_within_the_proof() {
    let linear = |weights: &[f64], bias| Op::Linear {
        weights: Matrix::new(2, weights.len() / 2, weights.to_vec()).unwrap(),
        bias,
    };
    let node = |name: &str, read, op| Node { name: name.to_owned(), reads: vec![read], op };
    let window = Window { dilation: [2, 1], before: [1, 0], after: [1, 0], ..Window::of([2, 1]) };
    for kind in [Pooling::Max, Pooling::Average, Pooling::AverageWithPadding] {
        let graph = Graph {
            name: "padding".to_owned(),
            input: Input::Dense { shape: Shape::map(1, 1, 1) },
            nodes: vec![
                node("before", 0, linear(&[1.0, -0.5], vec![0.0; 2])),
                node("pool", 1, Op::Pool { window, kind }),
                node("after", 2, linear(&[1.0, -1.0, 0.75, -0.5], vec![0.25, -0.25])),
            ],
        };
        let samples: Vec<Sample> = [-1e9, -1.0, -0.5, 0.5, 1.0, 1e9].map(|x| Sample::Dense(vec![x])).to_vec();
        // Of reals the maximum of nothing is beyond all integers, and no bias corrects that.
        let options = Options { maps: Activations::U7, bias_correction: false, ..Options::default() };
        let quantised = quantise_graph(&graph, &samples[1..5], &options).unwrap();
        stays_within_bounds(&quantised, &samples);
        runs_everywhere(&quantised, &samples);
    }
}

/// (1,) = 1000 · x, twice: the sums of the second layer are large in units of its weights.
fn chain(inputs: usize, outputs: usize) -> Graph {
    let weights = |outputs: usize, inputs: usize| {
        let values = (0..outputs * inputs).map(|index| ((index * 37 % 19) as f64 - 9.0) / 10.0).collect();
        Matrix::new(outputs, inputs, values).unwrap()
    };
    let node = |name: &str, read, op| Node { name: name.to_owned(), reads: vec![read], op };
    Graph {
        name: "chain".to_owned(),
        input: Input::Dense { shape: Shape::vector(inputs) },
        nodes: vec![
            node("first", 0, Op::Linear { weights: weights(outputs, inputs), bias: vec![0.5; outputs] }),
            node("relu", 1, Op::Activation(Activation::Relu)),
            node("second", 2, Op::Linear { weights: weights(3, outputs), bias: vec![0.0; 3] }),
        ],
    }
}

fn samples_of(graph: &Graph, count: usize, seed: u64) -> Vec<Sample> {
    let mut random = Random(seed);
    (0..count).map(|_| graphs::sample(&mut random, graph.input, false)).collect()
}

#[test]
fn what_cannot_be_quantised_is_named() {
    let graph = chain(4, 8);
    let samples = samples_of(&graph, 10, 1);
    let refusal = |graph: &Graph, samples: &[Sample], options: &Options| {
        quantise_graph(graph, samples, options).unwrap_err().to_string()
    };
    let options = Options::default();
    assert!(refusal(&graph, &[], &options).contains("the range of the input is not known; calibrate"));
    let known = Options { input_range: Some((-1.0, 1.0)), ..options.clone() };
    assert!(refusal(&graph, &[], &known).contains("the range of layer `relu` is not known"));
    let keep = Options { keep_f32: ["secnod".to_owned()].into(), ..options.clone() };
    assert!(refusal(&graph, &samples, &keep).contains("no layer `secnod`; the layers are first, relu, second"));
    let wrong = [samples[0].clone(), Sample::Dense(vec![0.0; 3])];
    assert!(refusal(&graph, &wrong, &options).contains("calibration sample 1: a vector of 3 elements, expected 4"));
    let mut empty = graph;
    empty.nodes.clear();
    assert!(refusal(&empty, &samples, &options).contains("no layers"));
}

/// Biases that only correction could have made so large leave i32, and the proof names the row.
#[test]
fn a_sum_that_can_overflow_is_found_with_inputs_that_show_it() {
    let graph = chain(4, 8);
    let samples = samples_of(&graph, 10, 2);
    let mut quantised = quantise_graph(&graph, &samples, &Options::default()).unwrap();
    assert!(prove(&quantised).holds());
    let Operation::Affine { bias: Some(bias), .. } = &mut quantised.nodes[0].op else { panic!() };
    bias.values = Values::Int(vec![i32::MAX - 5; 8]);
    let proof = prove(&quantised);
    let message = proof.violations[0].to_string();
    assert!(message.starts_with("tensor `first.weight`, row "), "{message}");
    assert!(message.contains("beyond i32") && message.contains("; 8 rows of this tensor can; witness"), "{message}");
    let Some(Witness::Activations { value, .. }) = &proof.violations[0].witness else { panic!() };
    assert!(*value > i64::from(i32::MAX));
}

/// A shift of all samples' mean that rounding makes is gone, and the error with it.
#[test]
fn correction_of_biases_and_equalisation_lower_the_error() {
    let graph = chain(12, 24);
    let samples = samples_of(&graph, 400, 3);
    let mut quiet = graph;
    // One loud channel: with one unit for all, the others have a few steps only.
    let Op::Linear { weights, .. } = &mut quiet.nodes[0].op else { panic!() };
    weights.values.iter_mut().step_by(24).for_each(|weight| *weight *= 60.0);
    let Op::Linear { weights, .. } = &mut quiet.nodes[2].op else { panic!() };
    weights.values[..3].iter_mut().for_each(|weight| *weight /= 60.0);
    let sqnr = |bias_correction, equalise| {
        let options = Options { method: Method::MinMax, bias_correction, equalise, ..Options::default() };
        let quantised = quantise_graph(&quiet, &samples, &options).unwrap();
        runs_everywhere(&quantised, &samples[..20]);
        Accuracy::of_graph(&quiet, &quantised, &samples, None).unwrap().total
    };
    let (plain, corrected, both) = (sqnr(false, false), sqnr(true, false), sqnr(true, true));
    assert!(corrected.mean.abs() <= plain.mean.abs(), "{corrected:?} {plain:?}");
    assert!(corrected.sqnr_db.unwrap() > plain.sqnr_db.unwrap() - 0.01);
    assert!(both.sqnr_db.unwrap() > corrected.sqnr_db.unwrap() + 6.0, "{both:?} {corrected:?}");
}

#[test]
fn a_search_keeps_layers_until_its_budget_is_met() {
    let graph = chain(12, 24);
    let samples = samples_of(&graph, 60, 4);
    let options = Options::default();
    let search = |budget| search_mixed(&graph, &samples, &options, budget, &mut |_, _| ()).unwrap();
    let bytes = search(Budget::SqnrDb(0.0));
    assert!(bytes.kept.is_empty() && bytes.options == options);
    let all = search(Budget::SqnrDb(200.0));
    assert_eq!(all.kept.len(), 2, "{:?}", all.sqnr_db);
    assert!(all.sqnr_db.unwrap() > REALS_SQNR_DB, "{:?}", all.sqnr_db);
    runs_everywhere(&all.graph, &samples);
    let limit = bytes.graph.parameter_len_bytes() + 24 * 3 * 4;
    let one = search(Budget::SizeLenBytes(limit));
    assert!(one.graph.parameter_len_bytes() <= limit && one.sqnr_db >= bytes.sqnr_db, "{:?}", one.kept);
}

/// What the integers stand for is near what was quantised.
#[test]
fn parameters_come_back_as_reals() {
    let graph = chain(12, 24);
    let samples = samples_of(&graph, 60, 5);
    for activations in [Activations::U7, Activations::U8, Activations::I8, Activations::I16] {
        let options = Options { activations, bias_correction: false, round_together: false, ..Options::default() };
        let tensors = quantise_graph(&graph, &samples, &options).unwrap().to_tensors();
        let (_, truth) = Description::of(&graph).unwrap();
        assert_eq!(tensors.keys().collect::<Vec<_>>(), truth.keys().collect::<Vec<_>>());
        for (name, truth) in &truth {
            let found = &tensors[name];
            assert_eq!(found.shape, truth.shape, "{name}");
            for (found, truth) in found.values.iter().zip(&truth.values) {
                assert!((found - truth).abs() < SMALL_GRAPH, "{activations:?} {name}: {found} for {truth}");
            }
        }
    }
}

#[test]
fn a_network_of_layers_is_no_graph() {
    let bytes = AlignedBytes::copy_of(&std::fs::read(tests::own("vectors/tiny.bin")).unwrap());
    let model = Model::parse(bytes.as_ref()).unwrap();
    assert!(!is_graph(&model));
    let message = unpack_graph(&model).unwrap_err().to_string();
    assert!(message.contains("`graph.values`"), "{message}");
}

/// Networks with leaky ReLU and with ReLU, whose inputs calibration sees a part of.
#[test]
fn networks_of_lattice_tune_stay_near_their_floats(fixtures: Fixtures) {
    let folder = fixtures.join("lattice");
    for (name, least) in
        [("a_4_8_2_relu_linear", 30.0), ("c_5_9_4_leaky_linear", 30.0), ("d_784_32_10_relu_linear", 28.0)]
    {
        let path = folder.join(format!("{name}.fann"));
        let graph = read_network(&path, &NetworkOptions::default()).unwrap().graph;
        let samples = samples_of(&graph, 600, 6);
        for activations in [Activations::U7, Activations::U8, Activations::I16] {
            let options = Options { activations, ..Options::default() };
            let quantised = quantise_graph(&graph, &samples[..300], &options).unwrap();
            runs_everywhere(&quantised, &samples[300..400]);
            let found = Accuracy::of_graph(&graph, &quantised, &samples[300..], None).unwrap().total.sqnr_db.unwrap();
            note!("{name} {activations:?}: {found:.2} dB");
            assert!(found > least, "{name} {activations:?}: {found}");
        }
    }
}

/// Which value of the graph an operation stands for is what a file says of itself.
#[test]
fn operations_that_are_not_the_graphs_have_no_simulation() {
    let graph = chain(4, 8);
    let samples = samples_of(&graph, 10, 3);
    let quantised = quantise_graph(&graph, &samples, &Options::default()).unwrap();
    let (mut fitting, mut refused) = (0, 0);
    for node in 0..quantised.nodes.len() {
        for layer in (0..graph.nodes.len() + 3).map(Some).chain([None]) {
            let mut other = quantised.clone();
            other.nodes[node].value.layer = layer;
            match Simulation::of_graph(&graph, &other, quantised.nodes.len()) {
                Ok(simulation) => {
                    fitting += 1;
                    assert_eq!(simulation.evaluate((&samples[0]).into(), &|_| true).outputs.len(), 3);
                }
                Err(error) => {
                    refused += 1;
                    assert!(matches!(error, VerifyError::OtherNetwork { what: "their operations" }), "{error}");
                }
            }
        }
    }
    assert!(fitting >= quantised.nodes.len() && refused > fitting, "{fitting} {refused}");
}

/// Options of every kind, by a number.
fn options(random: &mut Random, graph: &Graph) -> Options {
    let pick = random.below(8);
    let mut options = Options {
        method: [Method::MinMax, Method::Percentile(99.9), Method::MeanSquare, Method::Entropy][random.below(4)],
        weights: [Granularity::PerChannel, Granularity::PerTensor][random.below(2)],
        activations: [Activations::U7, Activations::U8, Activations::I8, Activations::I16][pick % 4],
        weight_bits: if pick == 7 { WeightBits::Sixteen } else { WeightBits::Eight },
        round_together: random.below(2) == 0,
        bias_correction: random.below(2) == 0,
        equalise: random.below(2) == 0,
        ..Options::default()
    };
    if random.below(2) == 0 {
        let keep = |node: &&Node| !matches!(node.op, Op::Flatten | Op::Trees(_));
        options.keep_f32 =
            graph.nodes.iter().filter(keep).filter(|_| random.below(6) == 0).map(|n| n.name.clone()).collect();
    }
    options
}

#[test]
fn random_graphs_run_as_the_integer_model_says_and_stay_near_the_float_graph() {
    let mut random = Random(1);
    let (mut kinds, mut simulated) = (std::collections::BTreeSet::new(), 0);
    for round in 0..120 {
        let graph = if round % 2 == 0 { graphs::dense(&mut random) } else { graphs::sparse(&mut random) };
        let values = random.below(2) == 0;
        let samples: Vec<Sample> = (0..24).map(|_| graphs::sample(&mut random, graph.input, values)).collect();
        let options = options(&mut random, &graph);
        let quantised = quantise_graph(&graph, &samples, &options).unwrap();
        kinds.extend(quantised.nodes.iter().map(|node| node.op.word()));
        runs_everywhere(&quantised, &samples);
        stays_within_bounds(&quantised, &samples);
        simulated += usize::from(simulates(&graph, &quantised, &samples));
        let found = Accuracy::of_graph(&graph, &quantised, &samples, None).unwrap().total.sqnr_db;
        assert!(found.is_none_or(|found| found > RANDOM_GRAPH_SQNR_DB), "round {round}: {found:?} dB, {options:?}");
    }
    assert_eq!(kinds.len(), 17, "{kinds:?}");
    assert!(simulated >= 10, "only {simulated} of 120 graphs are integers throughout");
}

fn show(name: &str, comparison: &Accuracy) {
    let predictions = comparison.predictions.as_ref().unwrap();
    note!(
        "{name:44} {:.2} dB, top-1 {} of {} ({:.4} to {:.4}), right {}, auc {:?} {:?}",
        comparison.total.sqnr_db.unwrap(),
        comparison.top1.unwrap().equal,
        comparison.top1.unwrap().count,
        comparison.top1.unwrap().low,
        comparison.top1.unwrap().high,
        predictions.correct.equal,
        predictions.auc,
        predictions.float_auc,
    );
}

#[test]
fn int8_of_mnist_keeps_its_predictions(folder: Fixtures) {
    let (graph, samples, labels) = mnist(&folder);
    let quantised = quantise_graph(&graph, &samples[..500], &Options::default()).unwrap();
    let all = Accuracy::of_graph(&graph, &quantised, &samples, Some(&labels)).unwrap();
    let apart = Accuracy::of_graph(&graph, &quantised, &samples[500..], Some(&labels[500..])).unwrap();
    show("all 10 000", &all);
    show("the 9 500 not calibrated on", &apart);
    assert!(all.predictions.as_ref().unwrap().correct.equal >= 9690);
    for comparison in [&all, &apart] {
        assert!(comparison.top1.unwrap().share() >= MNIST_TOP1, "{:?}", comparison.top1.unwrap());
        assert!(comparison.total.sqnr_db.unwrap() >= MNIST_SQNR_DB, "{:?}", comparison.total);
    }
    runs_everywhere(&quantised, &samples[..200]);
}

#[test]
fn click_models_keep_their_auc(fixtures: Fixtures) {
    let folder = fixtures.join("angel");
    let rows = std::fs::read(folder.join("data/census_148d_test.dummy")).unwrap();
    let rows = Inputs::read(&rows, Selection::default()).unwrap();
    let labels: Vec<usize> = rows.labels().unwrap().iter().map(|label| usize::from(*label > 0.0)).collect();
    for name in ["lr", "fm", "deepfm", "pnn", "gbdt"] {
        let learning_rate = (name == "gbdt").then_some(0.3);
        let options = NetworkOptions { learning_rate, features: Some(148), ..NetworkOptions::default() };
        let graph = read_network(&folder.join("models").join(name), &options).unwrap().graph;
        let samples: Vec<Sample> = (0..rows.len()).map(|index| rows.sample(index, graph.input).unwrap()).collect();
        let quantised = quantise_graph(&graph, &samples[..500], &Options::default()).unwrap();
        let comparison = Accuracy::of_graph(&graph, &quantised, &samples, Some(&labels)).unwrap();
        show(name, &comparison);
        let predictions = comparison.predictions.as_ref().unwrap();
        let lost = predictions.float_auc.unwrap() - predictions.auc.unwrap();
        assert!(lost <= LOST_AUC, "{name}: {lost}");
        if name == "gbdt" {
            // Thresholds on ones and zeros are exact, and no two scores are so near that rounded leaves change a
            // prediction.
            assert_eq!((predictions.correct.equal, comparison.top1.unwrap().equal), (8262, samples.len()));
        }
        runs_everywhere(&quantised, &samples[..100]);
    }
}
