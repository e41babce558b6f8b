//! Random networks of convolutions with every kind of window, as integers.

use crate::graphs::{Random, sample};
use tamis_quant::float::Matrix;
use tamis_quant::graph::{Activation, Binary, Graph, Input, Node, Op, Pooling, Sample, Shape, Value, Window};
use tamis_quant::program::Program;
use tamis_quant::quantise::graph::{Activations, GraphQuantError, Options, quantise_graph};

/// Elements of a map beyond which another layer is drawn.
const MOST_ELEMENTS: usize = 3000;
/// Elements of maps, one after the other.
const MAPS: [Activations; 4] = [Activations::I8, Activations::U8, Activations::U7, Activations::I16];

/// A network and four examples.
#[derive(Debug, Clone)]
pub struct Drawn {
    /// What it was drawn from.
    pub seed: u64,
    /// The network.
    pub program: Program,
    /// What calibrated it.
    pub samples: Vec<Sample>,
}

/// The networks of the seeds from 1 on, without those that are refused because a window lies in the padding alone.
pub fn programs() -> impl Iterator<Item = Drawn> {
    let mut done = 0;
    (1..).filter_map(move |seed| {
        let graph = graph(seed);
        let mut random = Random(seed ^ 0xFFFF);
        let samples: Vec<Sample> = (0..4).map(|_| sample(&mut random, graph.input, false)).collect();
        let options = Options { maps: MAPS[done % MAPS.len()], ..Options::default() };
        match quantise_graph(&graph, &samples, &options) {
            Ok(program) => {
                done += 1;
                Some(Drawn { seed, program, samples })
            }
            Err(GraphQuantError::Unsupported { .. }) => None,
            Err(error) => panic!("{seed}: {error}"),
        }
    })
}

struct Growing {
    graph: Graph,
    random: Random,
}

impl Growing {
    fn push(&mut self, reads: &[Value], op: Op) -> Value {
        let name = format!("n{}", self.graph.nodes.len());
        self.graph.nodes.push(Node { name, reads: reads.to_vec(), op });
        self.graph.nodes.len()
    }

    fn numbers(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.random.real()).collect()
    }

    fn matrix(&mut self, outputs: usize, inputs: usize) -> Matrix<f64> {
        Matrix::new(outputs, inputs, self.numbers(outputs * inputs)).unwrap()
    }

    /// 1×1 to 10×4, strides of 1 to 3, dilated by up to 2, padded on each side by itself.
    fn window(&mut self) -> Window {
        let random = &mut self.random;
        let mut window = Window {
            kernel: [1 + random.below(10), 1 + random.below(4)],
            stride: [1 + random.below(3), 1 + random.below(3)],
            dilation: [1 + random.below(2), 1 + random.below(2)],
            ..Window::of([1, 1])
        };
        for axis in 0..2 {
            let reach = window.reach(axis);
            (window.before[axis], window.after[axis]) = (random.below(reach), random.below(reach));
        }
        window
    }

    /// A layer over what a value is, or none where its window does not fit.
    fn layer(&mut self, read: Value) -> Option<Value> {
        let shape = self.graph.shapes()[read];
        let (window, channels) = (self.window(), shape.channels);
        let divisors: Vec<usize> = (1..=channels).filter(|groups| channels.is_multiple_of(*groups)).collect();
        let groups = match self.random.below(3) {
            0 => channels,
            1 => divisors[self.random.below(divisors.len())],
            _ => 1,
        };
        let outputs = groups * (1 + self.random.below(4));
        let op = if self.random.below(6) == 0 {
            let size = |axis: usize| {
                let whole = (shape.axes()[axis] - 1) * window.stride[axis] + window.reach(axis);
                whole.checked_sub(window.before[axis] + window.after[axis])
            };
            let size = [size(0)?.max(1), size(1)?.max(1)];
            let weights = self.matrix(outputs, window.taps() * channels);
            Op::TransposedConvolution { window, groups: 1, size, weights, bias: self.numbers(outputs) }
        } else {
            let weights = self.matrix(outputs, window.taps() * channels / groups);
            Op::Convolution { window, groups, weights, bias: self.numbers(outputs) }
        };
        let made = self.push(&[read], op);
        let fits = |graph: &Graph| graph.shapes().last().is_some_and(|shape| (1..MOST_ELEMENTS).contains(&shape.len()));
        if !fits(&self.graph) || self.graph.check().is_err() {
            self.graph.nodes.pop();
            return None;
        }
        Some(match self.random.below(4) {
            0 => made,
            1 => self.push(&[made], Op::Activation(Activation::Clip { low: 0.0, high: 6.0 })),
            2 if self.graph.shapes()[made] == shape => self.push(&[made, read], Op::Binary(Binary::Add)),
            _ => self.push(&[made], Op::Activation(Activation::Relu)),
        })
    }
}

/// One to four layers over a map of odd size, with a dense layer at the end or without.
fn graph(seed: u64) -> Graph {
    let mut random = Random(seed);
    let shape = Shape::map(1 + random.below(13), 1 + random.below(11), 1 + random.below(6));
    let graph = Graph { name: "windows".to_owned(), input: Input::Dense { shape }, nodes: Vec::new() };
    let mut growing = Growing { graph, random };
    let (layers, mut at, mut count) = (1 + growing.random.below(4), 0, 0);
    while count < layers {
        if let Some(made) = growing.layer(at) {
            (at, count) = (made, count + 1);
        }
    }
    let shape = growing.graph.shapes()[at];
    match growing.random.below(3) {
        0 => {}
        way => {
            if way == 1 {
                let window = Window::of([shape.height, shape.width]);
                at = growing.push(&[at], Op::Pool { window, kind: Pooling::Average });
            }
            let flat = growing.push(&[at], Op::Flatten);
            let inputs = growing.graph.shapes()[flat].len();
            let (weights, bias) = (growing.matrix(3, inputs), growing.numbers(3));
            growing.push(&[flat], Op::Linear { weights, bias });
        }
    }
    growing.graph.check().unwrap();
    growing.graph
}
