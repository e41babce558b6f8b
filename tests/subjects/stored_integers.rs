//! Operations on integers themselves between roundings, as QLinear forms have them: the packed integers are what the
//! graph computes, and the graph of reals is what they stand for.

use tamis_quant::graph::{Activation, Binary, Fill, Graph, Input, Node, Op, Pooling, Sample, Shape, Value};
use tamis_quant::program::Element;
use tamis_quant::quantised::{QuantisedError, from_graph, without_roundings};
use tamis_quant::spatial::{Axis, Coordinates, Rounding, Sampling, Window};
use tests::packed::{Packed, container};
use tests::sample_models::Random;

/// Of bytes: the least, the greatest, a scale and a zero point in the middle.
#[derive(Clone, Copy)]
struct Bytes {
    low: f64,
    high: f64,
    scale: f64,
    zero: f64,
}

const BYTES: [Bytes; 2] = [
    Bytes { low: -128.0, high: 127.0, scale: 0.03125, zero: -7.0 },
    Bytes { low: 0.0, high: 255.0, scale: 0.015625, zero: 130.0 },
];
const SHAPE: Shape = Shape::map(5, 4, 3);

impl Bytes {
    fn quantise(self, channels: usize) -> Op {
        let Self { low, high, scale, zero } = self;
        Op::Quantise { scales: vec![scale; channels], zero_points: vec![zero; channels], low, high }
    }

    fn dequantise(self, channels: usize) -> Op {
        Op::PerChannel { factors: vec![self.scale; channels], offsets: vec![-self.scale * self.zero; channels] }
    }

    /// A byte that is there.
    fn any(self, random: &mut Random) -> f64 {
        self.low + (random.draw() % 256) as f64
    }
}

/// The input rounded, the operations on its integers, each of the value before it and, where it takes two, of the
/// integers of the input, and back to reals.
fn graph(bytes: Bytes, between: &[Op]) -> Graph {
    let mut nodes = vec![Node { name: "quantise".to_owned(), reads: vec![0], op: bytes.quantise(SHAPE.channels) }];
    for (at, op) in between.iter().enumerate() {
        let takes_two = matches!(op, Op::Concat { .. } | Op::Binary(_));
        let reads: Vec<Value> = if takes_two { vec![at + 1, 1] } else { vec![at + 1] };
        nodes.push(Node { name: format!("between{at}"), reads, op: op.clone() });
    }
    let mut graph = Graph { name: "stored".to_owned(), input: Input::Dense { shape: SHAPE }, nodes };
    let channels = graph.shapes()[graph.nodes.len()].channels;
    let (reads, op) = (vec![graph.nodes.len()], bytes.dequantise(channels));
    graph.nodes.push(Node { name: "dequantise".to_owned(), reads, op });
    graph.check().unwrap();
    graph
}

fn operations(bytes: Bytes, random: &mut Random) -> Vec<Vec<Op>> {
    let window = Window { kernel: [3, 2], stride: [2, 1], before: [1, 0], after: [1, 1], dilation: [1, 1] };
    let max = Op::Pool { window, kind: Pooling::Max };
    let pad = |fill| Op::Pad { before: [1, 0, 0], after: [0, 2, 1], fill: Fill::Value(fill) };
    let mut ends = [bytes.any(random), bytes.any(random)];
    ends.sort_by(f64::total_cmp);
    let clip = Op::Activation(Activation::Clip { low: ends[0], high: ends[1] });
    let resize =
        |coordinates, rounding| Op::Resize { size: [7, 9], sampling: Sampling::Nearest(rounding), coordinates };
    vec![
        vec![max.clone()],
        vec![pad(0.0)],
        vec![pad(bytes.zero)],
        vec![pad(bytes.any(random))],
        vec![Op::Activation(Activation::Relu)],
        vec![clip.clone()],
        vec![Op::Concat { axis: Axis::Channels }],
        vec![clip.clone(), Op::Binary(Binary::Max)],
        vec![clip.clone(), Op::Binary(Binary::Min)],
        vec![resize(Coordinates::Asymmetric, Rounding::Floor)],
        vec![resize(Coordinates::HalfPixel, Rounding::HalfUp)],
        vec![Op::Flatten],
        vec![clip.clone(), Op::Concat { axis: Axis::Height }, max, pad(bytes.any(random)), clip],
    ]
}

#[test]
fn integers_are_what_the_graph_computes_and_reals_what_they_stand_for() {
    let mut random = Random(11);
    for bytes in BYTES {
        for between in operations(bytes, &mut random) {
            let graph = graph(bytes, &between);
            let (program, _) = from_graph(&graph, None).unwrap().lower("").unwrap();
            let (container, is_proved) = container(&program);
            assert!(is_proved, "{between:?}");
            let mut packed = Packed::new(&container, &program);
            let reals = without_roundings(&graph, false);
            for _ in 0..20 {
                // Within what bytes hold, so that nothing is cut off but by what stands between.
                let real = |random: &mut Random| {
                    let integer = bytes.low + f64::from(random.real().abs().min(1.0)) * (bytes.high - bytes.low);
                    (integer - bytes.zero) * bytes.scale
                };
                let x: Vec<f64> = (0..SHAPE.len()).map(|_| real(&mut random)).collect();
                let expected = graph.evaluate(&Sample::Dense(x.clone())).unwrap();
                let input = program.input.quantise(&Sample::Dense(x.clone())).unwrap();
                packed.integers(&input, true);
                assert_eq!(packed.reals(&input), expected, "{between:?}");
                // Each of these operations moves a value no farther than a rounding moves what it reads.
                let found = reals.evaluate(&Sample::Dense(x)).unwrap();
                for (found, expected) in found.iter().zip(&expected) {
                    let off = (found - expected).abs();
                    assert!(off <= bytes.scale * 0.5 + 1e-9, "{between:?}: {found} and {expected}");
                }
            }
        }
    }
}

/// What has no byte, and what would be reals.
#[test]
fn what_makes_no_integers_is_refused_by_the_words_for_integers() {
    let bytes = BYTES[1];
    let mean = Op::Pool { window: Window::of([2, 2]), kind: Pooling::Average };
    let pad = |fill| Op::Pad { before: [1, 0, 0], after: [0; 3], fill };
    for op in [mean, pad(Fill::Edge), pad(Fill::Value(0.5)), pad(Fill::Value(256.0)), Op::Activation(Activation::Tanh)]
    {
        let error = from_graph(&graph(bytes, std::slice::from_ref(&op)), None).unwrap_err();
        let QuantisedError::Unsupported { what, instead, .. } = error else { panic!("{op:?}: {error}") };
        assert!(what.contains("of integers") && instead.contains("DequantizeLinear"), "{op:?}: {what}; {instead}");
    }
    // An input of integers that is padded: only what reads it says what its bytes stand for.
    let pad = Node { name: "pad".to_owned(), reads: vec![0], op: pad(Fill::Value(0.0)) };
    let real = Node { name: "real".to_owned(), reads: vec![1], op: bytes.dequantise(SHAPE.channels) };
    let given = Graph { name: "given".to_owned(), input: Input::Dense { shape: SHAPE }, nodes: vec![pad, real] };
    let error = from_graph(&given, Some(Element::U8)).unwrap_err().to_string();
    assert!(error.contains("Pad of an input of integers"), "{error}");
}
