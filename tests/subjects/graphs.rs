//! Graphs to integers: what quantising costs on real networks.

use std::path::PathBuf;
use tamis_quant::calibrate::Method;
use tamis_quant::data::{Inputs, Selection, classes, read_labels};
use tamis_quant::graph::{Graph, Sample};
use tamis_quant::import::hub::{NetworkOptions, read_network};
use tamis_quant::quantise::graph::{Activations, Granularity, Options, WeightBits, quantise_graph};
use tamis_quant::verify::graph::{Comparison, compare_graphs};
use tests::fixtures;

/// The network, t10k images and their labels.
fn mnist(folder: &PathBuf) -> (Graph, Vec<Sample>, Vec<usize>) {
    let graph = read_network(&folder.join("datacode/model_mnist.nn"), &NetworkOptions::default()).unwrap().graph;
    let read = |name: &str| std::fs::read(folder.join("mnist").join(name)).unwrap();
    let images = Inputs::read(&read("t10k-images-idx3-ubyte.gz"), Selection::default()).unwrap();
    let labels = classes(&read_labels(&read("t10k-labels-idx1-ubyte.gz"), None).unwrap()).unwrap();
    let samples = (0..images.len()).map(|index| images.sample(index, graph.input).unwrap()).collect();
    (graph, samples, labels.into_iter().map(|label| label as usize).collect())
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
fn figures_of_mnist() {
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
