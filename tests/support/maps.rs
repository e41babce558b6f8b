//! Random graphs over maps, with every operation that can follow one.

use crate::graphs::Random;
use tamis_quant::float::Matrix;
use tamis_quant::graph::{
    Activation, Axis, Binary, Coordinates, Fill, Forest, Graph, Input, Node, Op, Pooling, Rounding, Sampling, Shape,
    Tree, Value, Window,
};

const ACTIVATIONS: [Activation; 17] = [
    Activation::Relu,
    Activation::Crelu,
    Activation::LeakyRelu { alpha: 0.1 },
    Activation::Sigmoid,
    Activation::Tanh,
    Activation::Softmax,
    Activation::LogSoftmax,
    Activation::Clip { low: 0.0, high: 6.0 },
    Activation::Clip { low: -0.0, high: 6.0 },
    Activation::Clip { low: f64::NEG_INFINITY, high: 1.5 },
    Activation::HardSigmoid { alpha: 1.0 / 6.0, beta: 0.5 },
    Activation::HardSigmoid { alpha: 0.2, beta: 0.25 },
    Activation::HardSwish,
    Activation::Elu { alpha: 1.0 },
    Activation::Elu { alpha: 0.5 },
    Activation::Abs,
    Activation::Erf,
];

const COORDINATES: [Coordinates; 4] =
    [Coordinates::HalfPixel, Coordinates::PytorchHalfPixel, Coordinates::Asymmetric, Coordinates::AlignCorners];

const SAMPLINGS: [Sampling; 5] = [
    Sampling::Bilinear,
    Sampling::Nearest(Rounding::Floor),
    Sampling::Nearest(Rounding::Ceil),
    Sampling::Nearest(Rounding::HalfDown),
    Sampling::Nearest(Rounding::HalfUp),
];

const BINARIES: [Binary; 6] = [Binary::Add, Binary::Sub, Binary::Mul, Binary::Div, Binary::Max, Binary::Min];

/// A graph of five to twelve nodes over a map, checked.
pub fn random_maps(random: &mut Random) -> Graph {
    let shape = Shape::map(1 + random.below(6), 1 + random.below(6), 1 + random.below(4));
    let mut graph = Graph { name: "maps".to_owned(), input: Input::Dense { shape }, nodes: Vec::new() };
    let nodes = 5 + random.below(8);
    while graph.nodes.len() < nodes {
        let shapes = graph.shapes();
        // Now and then a node that is not the last one.
        let read = if random.below(3) == 0 { random.below(shapes.len()) } else { shapes.len() - 1 };
        let (reads, op) = operation(random, read, &shapes);
        let name = format!("n{}", graph.nodes.len());
        graph.nodes.push(Node { name, reads, op });
        let made = graph.shapes().pop().unwrap();
        // What does not fit, or grows too large to be tried often, is tried again as something else.
        if made.is_empty() || made.len() > 4096 || graph.check().is_err() {
            graph.nodes.pop();
        }
    }
    graph
}

fn operation(random: &mut Random, read: Value, shapes: &[Shape]) -> (Vec<Value>, Op) {
    let shape = shapes[read];
    let channels = shape.channels;
    let one = |op| (vec![read], op);
    match random.below(25) {
        0 => {
            let window = window(random, shape);
            let groups = if channels.is_multiple_of(2) && random.below(3) == 0 { 2 } else { 1 };
            let outputs = groups * (1 + random.below(4));
            let weights = matrix(random, outputs, window.taps() * channels / groups);
            one(Op::Convolution { window, groups, weights, bias: numbers(random, outputs) })
        }
        1 => {
            let window = window(random, shape);
            let outputs = channels * (1 + random.below(2));
            let weights = matrix(random, outputs, window.taps());
            one(Op::Convolution { window, groups: channels, weights, bias: numbers(random, outputs) })
        }
        2 => {
            let window = window(random, shape);
            let outputs = 1 + random.below(3);
            let weights = matrix(random, outputs, window.taps() * channels);
            let usual = |axis: usize| {
                let padding = window.before[axis] + window.after[axis];
                ((shape.axes()[axis] - 1) * window.stride[axis] + window.reach(axis)).saturating_sub(padding)
            };
            let same = [shape.height * window.stride[0], shape.width * window.stride[1]];
            let (window, size) = match random.below(4) {
                0 => (window, [1 + random.below(9), 1 + random.below(9)]),
                1 => (window.same(same), same),
                2 => (Window { before: [0; 2], after: [0; 2], ..window }, same),
                _ => (window, [usual(0).max(1), usual(1).max(1)]),
            };
            one(Op::TransposedConvolution { window, groups: 1, size, weights, bias: numbers(random, outputs) })
        }
        3 | 4 => {
            let window = match random.below(3) {
                0 => Window::of([shape.height, shape.width]),
                1 => {
                    let window = window(random, shape);
                    Window { stride: window.kernel, ..window }
                }
                _ => window(random, shape),
            };
            let kinds = [Pooling::Max, Pooling::Average, Pooling::AverageWithPadding];
            one(Op::Pool { window, kind: kinds[random.below(3)] })
        }
        5 => {
            let axis = [Axis::Height, Axis::Width, Axis::Channels][random.below(3)];
            (vec![read, read], Op::Concat { axis })
        }
        6 => (vec![read, read], Op::Add),
        7 => (vec![read, random.below(shapes.len())], Op::Binary(BINARIES[random.below(6)])),
        8 => {
            let axes = [shape.height, shape.width, channels].map(|len| if random.below(2) == 0 { 1 } else { len });
            let shape = Shape::of_axes(axes);
            (vec![], Op::Constant { shape, values: numbers(random, shape.len()) })
        }
        9 => one(Op::Scale(random.real())),
        10 => one(Op::PerChannel { factors: numbers(random, channels), offsets: numbers(random, channels) }),
        11 => one(Op::PRelu { slopes: numbers(random, channels) }),
        12 => one(Op::Activation(ACTIVATIONS[random.below(ACTIVATIONS.len())])),
        13 => one(Op::Activation([Activation::Exp, Activation::Sqrt][random.below(2)])),
        14 => one(Op::Flatten),
        15 => {
            let [height, width, channels] = shape.axes();
            let shapes = [[channels, height, width], [1, 1, height * width * channels], [height * width, 1, channels]];
            one(Op::Reshape(Shape::of_axes(shapes[random.below(3)])))
        }
        16 => {
            let orders = [[2, 0, 1], [1, 2, 0], [0, 1, 2], [1, 0, 2]];
            one(Op::Transpose(orders[random.below(4)]))
        }
        17 => {
            let start = shape.axes().map(|len| if random.below(2) == 0 { 0 } else { random.below(len) });
            let step = [1 + random.below(2), 1 + random.below(2), 1];
            let size = [0, 1, 2].map(|axis| {
                let room = (shape.axes()[axis] - start[axis]).div_ceil(step[axis]);
                if random.below(2) == 0 { room } else { 1 + random.below(room) }
            });
            one(Op::Slice { start, size, step })
        }
        18 => {
            let fills = [Fill::Value(0.0), Fill::Value(-1.5), Fill::Value(-0.0), Fill::Reflect, Fill::Edge];
            let sides = |random: &mut Random| [random.below(2), random.below(3), random.below(2)];
            one(Op::Pad { before: sides(random), after: sides(random), fill: fills[random.below(5)] })
        }
        19 => one(Op::Resize {
            size: [1 + random.below(8), 1 + random.below(8)],
            sampling: SAMPLINGS[random.below(5)],
            coordinates: COORDINATES[random.below(4)],
        }),
        20 => linear(random, read, shape.len()),
        21 => linear(random, read, channels),
        22 => {
            let width = [1, channels, shape.len()][random.below(3)];
            match random.below(3) {
                0 => one(Op::FmTerm { width }),
                1 => one(Op::BiInteraction { width }),
                _ => one(Op::InnerProducts { width }),
            }
        }
        23 => {
            let features = (0..3).map(|_| Some(random.below(shapes[0].len()) as u32)).collect();
            let tree = Tree { features, thresholds: numbers(random, 3), leaves: numbers(random, 3) };
            (vec![0], Op::Trees(Forest { rate: 0.5, trees: vec![tree] }))
        }
        _ => one(Op::Activation(Activation::Relu)),
    }
}

fn linear(random: &mut Random, read: Value, inputs: usize) -> (Vec<Value>, Op) {
    let outputs = 1 + random.below(5);
    (vec![read], Op::Linear { weights: matrix(random, outputs, inputs), bias: numbers(random, outputs) })
}

/// Windows with all kinds of padding, not each of which fits.
fn window(random: &mut Random, shape: Shape) -> Window {
    let window = Window {
        kernel: [1 + random.below(3), 1 + random.below(3)],
        stride: [1 + random.below(2), 1 + random.below(2)],
        dilation: if random.below(4) == 0 { [2, 1] } else { [1, 1] },
        before: [0; 2],
        after: [0; 2],
    };
    match random.below(5) {
        0 => window,
        1 | 2 => window.same([shape.height, shape.width]),
        3 => Window { before: [1, 2], after: [1, 2], ..window },
        _ => Window { before: [random.below(2), random.below(2)], after: [random.below(3), 1], ..window },
    }
}

fn numbers(random: &mut Random, count: usize) -> Vec<f64> {
    (0..count).map(|_| random.real()).collect()
}

fn matrix(random: &mut Random, outputs: usize, inputs: usize) -> Matrix<f64> {
    Matrix::new(outputs, inputs, numbers(random, outputs * inputs)).unwrap()
}
