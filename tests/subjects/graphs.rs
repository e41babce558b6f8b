//! Graphs to integers: what quantising costs on real networks.

use std::path::PathBuf;
use tamis_quant::calibrate::Method;
use tamis_quant::data::{Inputs, Selection, classes, read_labels};
use tamis_quant::graph::{Graph, Op, Sample};
use tamis_quant::import::hub::{NetworkOptions, read_network};
use tamis_quant::pack::{Provenance, pack_graph, unpack_graph};
use tamis_quant::proof::graph::prove_graph;
use tamis_quant::quantise::graph::{Activations, Granularity, Options, QuantGraph, WeightBits, quantise_graph};
use tamis_quant::run::AlignedBytes;
use tamis_quant::verify::graph::{Comparison, GraphModel, check_graph_runtime, compare_graphs};
use tamis_runtime::format::Model;
use tests::fixtures;
use tests::graphs::{self, Random};

/// The network, t10k images and their labels.
fn mnist(folder: &PathBuf) -> (Graph, Vec<Sample>, Vec<usize>) {
    let graph = read_network(&folder.join("datacode/model_mnist.nn"), &NetworkOptions::default()).unwrap().graph;
    let read = |name: &str| std::fs::read(folder.join("mnist").join(name)).unwrap();
    let images = Inputs::read(&read("t10k-images-idx3-ubyte.gz"), Selection::default()).unwrap();
    let labels = classes(&read_labels(&read("t10k-labels-idx1-ubyte.gz"), None).unwrap()).unwrap();
    let samples = (0..images.len()).map(|index| images.sample(index, graph.input).unwrap()).collect();
    (graph, samples, labels.into_iter().map(|label| label as usize).collect())
}

/// Packs a graph, takes it apart again, and runs it on every tier against the integer model.
#[track_caller]
fn runs_everywhere(quantised: &QuantGraph, samples: &[Sample]) {
    let proof = prove_graph(quantised);
    let provenance = Provenance { source: "test".to_owned(), source_hash: 1 };
    let packed = pack_graph(quantised, &provenance, &proof).unwrap();
    let bytes = AlignedBytes::copy_of(&packed);
    let model = Model::parse(bytes.as_ref()).unwrap();
    let again = unpack_graph(&model).unwrap();
    assert_eq!(&again, quantised, "unpacked");
    assert_eq!(pack_graph(&again, &provenance, &prove_graph(&again)).unwrap(), packed, "packed again");
    let check = check_graph_runtime(model, quantised, samples).unwrap();
    assert!(check.equal, "{:?}\n{quantised:#?}", check.tiers);
}

/// Every sum of every sample within the bounds that were proved.
#[track_caller]
fn stays_within_bounds(quantised: &QuantGraph, samples: &[Sample]) {
    let proof = prove_graph(quantised);
    assert!(proof.holds(), "{}", proof.violations[0]);
    for sample in samples {
        let values = GraphModel::new(quantised).trace(sample).unwrap();
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

/// Options of every kind, by a number.
fn options(random: &mut Random, graph: &Graph) -> Options {
    let pick = random.below(8);
    let mut options = Options {
        method: [Method::MinMax, Method::Percentile(99.9), Method::MeanSquare, Method::Entropy][random.below(4)],
        weights: [Granularity::PerChannel, Granularity::PerTensor][random.below(2)],
        activations: [Activations::U7, Activations::U8, Activations::I8, Activations::I16][pick % 4],
        weight_bits: if pick == 7 { WeightBits::Sixteen } else { WeightBits::Eight },
        bias_correction: random.below(2) == 0,
        equalise: random.below(2) == 0,
        ..Options::default()
    };
    if random.below(2) == 0 {
        let keep = |node: &&tamis_quant::graph::Node| !matches!(node.op, Op::Flatten | Op::Trees(_));
        options.keep_f32 =
            graph.nodes.iter().filter(keep).filter(|_| random.below(6) == 0).map(|n| n.name.clone()).collect();
    }
    options
}

#[test]
pub fn random_graphs_run_as_the_integer_model_says_and_stay_near_the_float_graph() {
    let mut random = Random(1);
    let mut kinds = std::collections::BTreeSet::new();
    for round in 0..120 {
        let graph = if round % 2 == 0 { graphs::dense(&mut random) } else { graphs::sparse(&mut random) };
        let values = random.below(2) == 0;
        let samples: Vec<Sample> = (0..24).map(|_| graphs::sample(&mut random, graph.input, values)).collect();
        let options = options(&mut random, &graph);
        let quantised = quantise_graph(&graph, &samples, &options).unwrap();
        kinds.extend(quantised.nodes.iter().map(|node| node.op.word()));
        runs_everywhere(&quantised, &samples);
        stays_within_bounds(&quantised, &samples);
        let found = compare_graphs(&graph, &quantised, &samples, None).unwrap().logits.sqnr_db;
        if found.is_some_and(|found| found < 22.0) {
            println!("round {round}: {found:?} dB, {options:?} {:?}", graph.nodes.last().map(|n| n.op.clone()));
        }
    }
    assert_eq!(kinds.len(), 17, "{kinds:?}");
}

fn show(name: &str, comparison: &Comparison) {
    let predictions = comparison.predictions.as_ref().unwrap();
    println!(
        "{name:44} {:.2} dB, top-1 {} of {} ({:.4} to {:.4}), right {}, auc {:?} {:?}",
        comparison.logits.sqnr_db.unwrap(),
        comparison.top1.equal,
        comparison.top1.count,
        comparison.top1.low,
        comparison.top1.high,
        predictions.correct.equal,
        predictions.auc,
        predictions.float_auc,
    );
}

#[test]
#[ignore = "a table of figures, not a check"]
pub fn figures_of_mnist() {
    let Some(folder) = fixtures("MNIST figures") else { return };
    let (graph, samples, labels) = mnist(&folder);
    let base = Options::default();
    let methods = [Method::MinMax, Method::Percentile(99.99), Method::MeanSquare, Method::Entropy];
    let mut table: Vec<(String, Options)> = Vec::new();
    for method in methods {
        for equalise in [false, true] {
            for bias_correction in [false, true] {
                let name = format!("{method:?} equalise {equalise} correct {bias_correction}");
                table.push((name, Options { method, equalise, bias_correction, ..base.clone() }));
            }
        }
    }
    table.push(("per tensor".to_owned(), Options { weights: Granularity::PerTensor, ..base.clone() }));
    for activations in [Activations::U8, Activations::I8, Activations::I16] {
        table.push((format!("{activations:?}"), Options { activations, ..base.clone() }));
    }
    let wide = Options { activations: Activations::I16, weight_bits: WeightBits::Sixteen, ..base.clone() };
    table.push(("i16 weights and activations".to_owned(), wide));
    for (name, options) in table {
        let quantised = quantise_graph(&graph, &samples[..500], &options).unwrap();
        show(&name, &compare_graphs(&graph, &quantised, &samples[500..3500], Some(&labels[500..3500])).unwrap());
    }
}

#[test]
pub fn mnist_holds() {
    let Some(folder) = fixtures("int8 of model_mnist.nn") else { return };
    let (graph, samples, labels) = mnist(&folder);
    let quantised = quantise_graph(&graph, &samples[..500], &Options::default()).unwrap();
    let all = compare_graphs(&graph, &quantised, &samples, Some(&labels)).unwrap();
    let apart = compare_graphs(&graph, &quantised, &samples[500..], Some(&labels[500..])).unwrap();
    show("all 10 000", &all);
    show("the 9 500 not calibrated on", &apart);
    assert!(all.predictions.as_ref().unwrap().correct.equal >= 9690);
    for comparison in [&all, &apart] {
        assert!(comparison.top1.share() >= 0.999, "{:?}", comparison.top1);
        assert!(comparison.logits.sqnr_db.unwrap() >= 41.0, "{:?}", comparison.logits);
    }
    runs_everywhere(&quantised, &samples[..200]);
}

#[test]
pub fn census() {
    let Some(folder) = fixtures("quantised click models").map(|folder| folder.join("angel")) else { return };
    let rows = std::fs::read(folder.join("data/census_148d_test.dummy")).unwrap();
    let rows = Inputs::read(&rows, Selection::default()).unwrap();
    let labels: Vec<usize> = rows.labels().unwrap().iter().map(|label| usize::from(*label > 0.0)).collect();
    for name in ["lr", "fm", "deepfm", "pnn", "gbdt"] {
        let options = NetworkOptions { learning_rate: Some(0.3), ..NetworkOptions::default() };
        let graph = read_network(&folder.join("models").join(name), &options).unwrap().graph;
        let samples: Vec<Sample> = (0..rows.len()).map(|index| rows.sample(index, graph.input).unwrap()).collect();
        let quantised = quantise_graph(&graph, &samples[..500], &Options::default()).unwrap();
        let comparison = compare_graphs(&graph, &quantised, &samples, Some(&labels)).unwrap();
        show(name, &comparison);
        let predictions = comparison.predictions.unwrap();
        let lost = predictions.float_auc.unwrap() - predictions.auc.unwrap();
        assert!(lost <= 0.001, "{name}: {lost}");
        runs_everywhere(&quantised, &samples[..100]);
    }
}
