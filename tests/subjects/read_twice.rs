//! Layers that are read in two ways, and maps that are read twice: each is packed, taken apart and run.

use tamis_quant::float::Matrix;
use tamis_quant::graph::description::Description;
use tamis_quant::graph::{Activation, Axis, Binary, Graph, Input, Node, Op, Pooling, Sample, Shape, Value, Window};
use tamis_quant::integer::IntegerModel;
use tamis_quant::program::{Operation, Program};
use tamis_quant::quantise::graph::{Options, quantise_graph};
use tamis_quant::quantised::{from_graph, without_roundings};
use tests::graphs::Random;
use tests::networks::runs_everywhere;

const SHAPE: Shape = Shape::map(5, 4, 3);

/// A graph over a map of [`SHAPE`].
struct Building {
    graph: Graph,
    random: Random,
}

impl Building {
    fn new(name: &str) -> Self {
        let graph = Graph { name: name.to_owned(), input: Input::Dense { shape: SHAPE }, nodes: Vec::new() };
        Self { graph, random: Random(17) }
    }

    fn push(&mut self, reads: &[Value], op: Op) -> Value {
        let name = format!("n{}", self.graph.nodes.len());
        self.graph.nodes.push(Node { name, reads: reads.to_vec(), op });
        self.graph.nodes.len()
    }

    /// Weights of whole numbers times a step, so that a file with roundings can hold them.
    fn weights(&mut self, outputs: usize, inputs: usize) -> Matrix<f64> {
        let mut weight = |_| (self.random.below(201) as f64 - 100.0) / 64.0;
        Matrix::new(outputs, inputs, (0..outputs * inputs).map(&mut weight).collect()).unwrap()
    }

    fn convolution(&mut self, read: Value, outputs: usize) -> Value {
        let shape = self.graph.shapes()[read];
        let window = Window::of([3, 3]).same([shape.height, shape.width]);
        let weights = self.weights(outputs, 9 * shape.channels);
        let bias = (0..outputs).map(|output| output as f64 / 16.0 - 0.25).collect();
        self.push(&[read], Op::Convolution { window, groups: 1, weights, bias })
    }

    /// A dense layer over all that there is.
    fn ending(mut self, read: Value) -> Self {
        let inputs = self.graph.shapes()[read].len();
        let flat = self.push(&[read], Op::Flatten);
        let weights = self.weights(3, inputs);
        self.push(&[flat], Op::Linear { weights, bias: vec![0.5, -0.5, 0.0] });
        self.graph.check().unwrap();
        self
    }

    fn samples(&mut self) -> Vec<Sample> {
        (0..16).map(|_| Sample::Dense((0..SHAPE.len()).map(|_| self.random.real()).collect())).collect()
    }
}

fn relu(building: &mut Building, read: Value) -> Value {
    building.push(&[read], Op::Activation(Activation::Relu))
}

/// Quantised with biases corrected, packed, and run on every tier.
#[track_caller]
fn quantised(mut building: Building) -> Program {
    let samples = building.samples();
    let program = quantise_graph(&building.graph, &samples, &Options::default()).unwrap();
    runs_everywhere(&program, &samples);
    let model = IntegerModel::new(&program);
    for sample in &samples {
        let (real, found) =
            (building.graph.evaluate_logits(sample).unwrap(), model.scores(sample, &building.graph).unwrap());
        let most = real.iter().fold(1.0, |most: f64, real| most.max(real.abs()));
        for (real, found) in real.iter().zip(&found) {
            assert!((real - found).abs() < most / 8.0, "{}: {real}, {found}", building.graph.name);
        }
    }
    program
}

fn convolutions(program: &Program) -> usize {
    program.nodes.iter().filter(|node| matches!(node.op, Operation::Convolution(_))).count()
}

#[test]
fn a_convolution_that_a_clip_and_something_else_read() {
    for beside in 0..4 {
        let mut building = Building::new("clip and more");
        let made = building.convolution(0, 4);
        let clipped = relu(&mut building, made);
        let other = match beside {
            0 => made,
            1 => building.push(&[made], Op::Activation(Activation::Clip { low: -1.0, high: 1.0 })),
            2 => building.push(&[made], Op::Pool { window: Window::of([1, 1]), kind: Pooling::Max }),
            _ => building.push(&[made], Op::Activation(Activation::Tanh)),
        };
        let sum = building.push(&[clipped, other], Op::Binary(Binary::Add));
        quantised(building.ending(sum));
    }
}

#[test]
fn a_map_that_a_sum_reads_twice() {
    for from in 0..3 {
        let mut building = Building::new("a + a");
        let made = if from == 0 { 0 } else { building.convolution(0, 4) };
        let read = if from == 2 { relu(&mut building, made) } else { made };
        let sum = building.push(&[read, read], Op::Binary(Binary::Add));
        let program = quantised(building.ending(sum));
        assert_eq!(convolutions(&program), usize::from(from > 0));
    }
}

/// Two dense layers one behind the other, the second's values a hundredth of the first's, so that they have units of
/// their own.
fn join_of_unequal(building: &mut Building) -> Value {
    let flat = building.push(&[0], Op::Flatten);
    let parts = [1.0, 0.01].map(|factor| {
        let weights = building.weights(4, SHAPE.len());
        let weights = Matrix::new(4, SHAPE.len(), weights.values.iter().map(|weight| weight * factor).collect());
        building.push(&[flat], Op::Linear { weights: weights.unwrap(), bias: vec![0.0; 4] })
    });
    building.push(&parts, Op::Concat { axis: Axis::Channels })
}

#[test]
fn a_join_of_two_units_that_knows_one_reader_of_one() {
    for reader in 0..6 {
        let mut building = Building::new("a join");
        let joined = join_of_unequal(&mut building);
        let flat = building.push(&[0], Op::Flatten);
        let weights = building.weights(8, SHAPE.len());
        let other = building.push(&[flat], Op::Linear { weights, bias: vec![0.25; 8] });
        let read = match reader {
            // The small values alone, and some of both, the other way round.
            0 => building.push(&[joined], Op::Slice { start: [0, 0, 4], size: [1, 1, 4], step: [1, 1, 1] }),
            1 => building.push(&[joined], Op::Slice { start: [0, 0, 1], size: [1, 1, 3], step: [1, 1, 3] }),
            2 => building.push(&[joined], Op::Reshape(Shape::map(2, 2, 2))),
            3 => building.push(&[joined, other], Op::Binary(Binary::Mul)),
            4 => building.push(&[joined, other], Op::Binary(Binary::Add)),
            _ => building.push(&[joined, other], Op::Binary(Binary::Sub)),
        };
        quantised(building.ending(read));
    }
}

/// A rounding to signed bytes and back to reals.
fn rounding(building: &mut Building, read: Value, scale: f64, zero: f64) -> Value {
    let channels = building.graph.shapes()[read].channels;
    // Files have their scales as f32.
    let scale = f64::from(scale as f32);
    let (scales, zero_points) = (vec![scale; channels], vec![zero; channels]);
    let stored = building.push(&[read], Op::Quantise { scales, zero_points, low: -128.0, high: 127.0 });
    let (factors, offsets) = (vec![scale; channels], vec![-zero * scale; channels]);
    building.push(&[stored], Op::PerChannel { factors, offsets })
}

/// The integers of a graph with roundings, packed and run on every tier; how many convolutions there are, and the
/// tensors of their weights.
#[track_caller]
fn packed(mut building: Building) -> Program {
    let samples = building.samples();
    let description = Description::of(&without_roundings(&building.graph, false)).unwrap().0.to_toml();
    let (program, _) = from_graph(&building.graph, None).unwrap().lower(&description).unwrap();
    runs_everywhere(&program, &samples);
    let model = IntegerModel::new(&program);
    for sample in &samples {
        let real = building.graph.evaluate(sample).unwrap();
        let found = model.evaluate(sample).unwrap();
        for (real, found) in real.iter().zip(&found) {
            assert!((real - found).abs() < 1e-5, "{}: {real}, {found}", building.graph.name);
        }
    }
    program
}

#[test]
fn a_layer_that_two_roundings_read() {
    for layer in 0..2 {
        let mut building = Building::new("two roundings");
        let given = rounding(&mut building, 0, 1.0 / 128.0, 0.0);
        let made = if layer == 0 {
            building.convolution(given, 4)
        } else {
            let weights = building.weights(4, SHAPE.len());
            building.push(&[given], Op::Linear { weights, bias: vec![0.25; 4] })
        };
        let clipped = relu(&mut building, made);
        let a = rounding(&mut building, made, 0.1237, 3.0);
        let b = rounding(&mut building, clipped, 0.0613, -128.0);
        let sum = building.push(&[a, b], Op::Binary(Binary::Add));
        let last = rounding(&mut building, sum, 0.2711, -7.0);
        let twice = building.push(&[last, last], Op::Binary(Binary::Add));
        rounding(&mut building, twice, 0.5303, 5.0);
        building.graph.check().unwrap();
        let program = packed(building);
        assert_eq!(convolutions(&program), 2, "one a rounding");
    }
}
