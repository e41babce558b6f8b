//! Channels without an effect, taken out of networks over maps: fewer products, the same bytes.

use tamis_quant::float::Matrix;
use tamis_quant::graph::{Activation, Axis, Binary, Graph, Input, Node, Op, Pooling, Sample, Shape, Window};
use tamis_quant::integer::{Data, IntegerModel};
use tamis_quant::program::Program;
use tamis_quant::quantise::graph::{GraphQuantError, Options, quantise_reported};
use tamis_quant::removal::Removed;
use tests::graphs::Random;
use tests::maps::random_maps;
use tests::networks::{NETWORKS, network, runs_everywhere};
use tests::note;
use tests::trials::Fixtures;

/// Quantised with the pass and without it.
fn both(graph: &Graph, samples: &[Sample], options: &Options) -> Result<(Program, Program, Removed), GraphQuantError> {
    let whole = quantise_reported(graph, samples, &Options { remove_channels: false, ..options.clone() }, &|_, _| ())?;
    let less = quantise_reported(graph, samples, options, &|_, _| ())?;
    assert_eq!(whole.removed, Removed::default());
    Ok((whole.program, less.program, less.removed))
}

/// Every output byte, and of every value the channels that are left.
#[track_caller]
fn same_bytes(whole: &Program, less: &Program, samples: &[Sample]) {
    assert_eq!(whole.nodes.len(), less.nodes.len());
    let (before, after) = (IntegerModel::new(whole), IntegerModel::new(less));
    for sample in samples {
        let (before, after) = (before.trace(sample).unwrap(), after.trace(sample).unwrap());
        for (index, node) in less.nodes.iter().enumerate() {
            let wanted = match (&before[index + 1], &node.value.kept) {
                (data, None) => data.clone(),
                (data, Some(kept)) => {
                    let pixels = data.integers().chunks(whole.nodes[index].value.shape.channels);
                    Data::Int(pixels.flat_map(|pixel| kept.iter().map(|channel| pixel[*channel])).collect())
                }
            };
            assert!(wanted == after[index + 1], "`{}`", node.name);
        }
        assert!(before.last() == after.last());
    }
}

#[test]
fn public_networks_give_the_same_bytes_with_fewer_channels(folder: Fixtures) {
    for (name, real, encoding) in NETWORKS {
        let network = network(&folder, name, real);
        // Rounding layer by layer changes nothing about which channels are constant, and takes long.
        let options = Options { round_together: false, ..network.options(encoding) };
        let (whole, less, removed) = both(&network.graph, &network.calibration[..16], &options).unwrap();
        same_bytes(&whole, &less, &network.inputs[..8]);
        note!("{name}: {removed:?}");
        if name == "vww" {
            assert!(removed.macs - removed.removed_macs <= 4_200_000, "{removed:?}");
            assert!(removed.removed_len_bytes > 100_000, "{removed:?}");
            runs_everywhere(&less, &network.inputs[..2]);
        } else {
            assert_eq!((removed.removed_channels, &whole), (0, &less), "{name}: nothing of it is without effect");
        }
    }
}

/// Weights of which whole rows and columns are 0, and biases on both sides of it.
fn thinned(random: &mut Random, weights: &mut Matrix<f64>, bias: &mut [f64], reads: usize) {
    for (row, bias) in bias.iter_mut().enumerate() {
        if random.below(2) == 0 {
            weights.values.iter_mut().skip(row).step_by(weights.outputs).for_each(|weight| *weight = 0.0);
        }
        if random.below(3) == 0 {
            *bias = -bias.abs();
        }
    }
    let dead: Vec<bool> = (0..reads).map(|_| random.below(4) == 0).collect();
    for column in (0..weights.inputs).filter(|column| dead[column % reads]) {
        weights.values[column * weights.outputs..][..weights.outputs].fill(0.0);
    }
}

/// The same graph with many channels that are constant or that nothing reads.
fn with_dead_channels(random: &mut Random, mut graph: Graph) -> Graph {
    let shapes = graph.shapes();
    for node in &mut graph.nodes {
        let channels = shapes[node.reads.first().copied().unwrap_or(0)].channels;
        match &mut node.op {
            Op::Convolution { weights, bias, groups, .. } => thinned(random, weights, bias, channels / *groups),
            Op::TransposedConvolution { weights, bias, .. } => thinned(random, weights, bias, channels),
            Op::Linear { weights, bias } => {
                let reads = weights.inputs;
                thinned(random, weights, bias, reads);
            }
            _ => {}
        }
    }
    graph
}

#[test]
fn random_graphs_give_the_same_bytes_with_fewer_channels() {
    let mut random = Random(88);
    let (mut done, mut smaller) = (0, 0);
    while done < 400 {
        let graph = if done % 2 == 0 { random_maps(&mut random) } else { blocks(&mut random) };
        let graph = with_dead_channels(&mut random, graph);
        let samples: Vec<Sample> = (0..4).map(|_| tests::graphs::sample(&mut random, graph.input, false)).collect();
        match both(&graph, &samples, &Options::default()) {
            Ok((whole, less, removed)) => {
                same_bytes(&whole, &less, &samples);
                runs_everywhere(&less, &samples[..1]);
                done += 1;
                smaller += usize::from(removed.removed_channels > 0);
            }
            Err(
                GraphQuantError::Unsupported { .. }
                | GraphQuantError::Overflow { .. }
                | GraphQuantError::NotCalibrated { .. },
            ) => {}
            Err(error) => panic!("{error}"),
        }
    }
    note!("{smaller} of {done} graphs lost channels");
    assert!(smaller > done / 4, "{smaller}");
}

/// A chain like those of public networks, of odd sizes: convolutions with ReLUs, depthwise ones, residuals, pools and
/// joins, and a dense layer at the end.
fn blocks(random: &mut Random) -> Graph {
    let shape = Shape::map(3 + random.below(6), 3 + random.below(6), 1 + random.below(3));
    let mut graph = Graph { name: "blocks".to_owned(), input: Input::Dense { shape }, nodes: Vec::new() };
    fn push(graph: &mut Graph, reads: Vec<usize>, op: Op) -> usize {
        let name = format!("n{}", graph.nodes.len());
        graph.nodes.push(Node { name, reads, op });
        graph.nodes.len()
    }
    fn layer(random: &mut Random, graph: &mut Graph, read: usize, kernel: usize, outputs: Option<usize>) -> usize {
        let shape = graph.shapes()[read];
        let window = Window { stride: [1 + random.below(2), 1], ..Window::of([kernel, kernel]) };
        let window = match random.below(3) {
            0 if shape.height >= kernel && shape.width >= kernel => window,
            _ => window.same([shape.height, shape.width]),
        };
        let (groups, outputs, inputs) = match outputs {
            Some(outputs) => (1, outputs, shape.channels),
            None => (shape.channels, shape.channels, 1),
        };
        let count = outputs * window.taps() * inputs;
        let values = (0..count).map(|_| random.real()).collect();
        let weights = Matrix::new(outputs, window.taps() * inputs, values).unwrap();
        let bias = (0..outputs).map(|_| random.real()).collect();
        let made = push(graph, vec![read], Op::Convolution { window, groups, weights, bias });
        push(graph, vec![made], Op::Activation(Activation::Relu))
    }
    let outputs = 2 + random.below(6);
    let mut at = layer(random, &mut graph, 0, 3, Some(outputs));
    for _ in 0..2 + random.below(3) {
        at = match random.below(5) {
            0 | 1 => {
                let depthwise = layer(random, &mut graph, at, 3, None);
                let outputs = 2 + random.below(6);
                layer(random, &mut graph, depthwise, 1, Some(outputs))
            }
            2 => {
                let channels = graph.shapes()[at].channels;
                let a = layer(random, &mut graph, at, 1, Some(channels));
                let (from, to) = (graph.shapes()[at], graph.shapes()[a]);
                if from == to { push(&mut graph, vec![at, a], Op::Binary(Binary::Add)) } else { a }
            }
            3 => {
                let window = Window::of([3, 3]).same([graph.shapes()[at].height, graph.shapes()[at].width]);
                let kind = [Pooling::Max, Pooling::Average, Pooling::AverageWithPadding][random.below(3)];
                push(&mut graph, vec![at], Op::Pool { window, kind })
            }
            _ => {
                let (a, b) = (2 + random.below(4), 2 + random.below(4));
                let (a, b) = (layer(random, &mut graph, at, 1, Some(a)), layer(random, &mut graph, at, 1, Some(b)));
                let same = graph.shapes()[a].pixels() == graph.shapes()[b].pixels();
                if same { push(&mut graph, vec![a, b], Op::Concat { axis: Axis::Channels }) } else { a }
            }
        };
    }
    let shape = graph.shapes()[at];
    if random.below(2) == 0 {
        let window = Window::of([shape.height, shape.width]);
        at = push(&mut graph, vec![at], Op::Pool { window, kind: Pooling::Average });
    }
    let flat = push(&mut graph, vec![at], Op::Flatten);
    let inputs = graph.shapes()[flat].len();
    let weights = Matrix::new(3, inputs, (0..3 * inputs).map(|_| random.real()).collect()).unwrap();
    let bias = (0..3).map(|_| random.real()).collect();
    push(&mut graph, vec![flat], Op::Linear { weights, bias });
    graph.check().unwrap();
    graph
}
