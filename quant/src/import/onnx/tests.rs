//! Chains of operators on random shapes against plain loops over row-major tensors, and what exporters write.

use super::writer::{Writer, bytes, integers, ints, one, reals};
use super::{OnnxError, Port};
use crate::error_kind::ErrorKind;
use crate::graph::{Graph, Op, Sample};

/// A row-major tensor.
#[derive(Clone)]
struct Plain {
    dims: Vec<usize>,
    values: Vec<f64>,
}

impl Plain {
    fn index(&self, mut at: usize) -> Vec<usize> {
        let mut index = vec![0; self.dims.len()];
        for axis in (0..self.dims.len()).rev() {
            index[axis] = at % self.dims[axis];
            at /= self.dims[axis];
        }
        index
    }

    fn at(&self, index: &[usize]) -> f64 {
        self.values[index.iter().zip(&self.dims).fold(0, |at, (index, size)| at * size + index)]
    }

    fn made(dims: Vec<usize>, of: impl Fn(&[usize]) -> f64) -> Self {
        let mut made = Self { values: vec![0.0; dims.iter().product()], dims };
        for at in 0..made.values.len() {
            made.values[at] = of(&made.index(at));
        }
        made
    }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % end as u64) as usize
    }

    fn shuffled(&mut self, len: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..len).collect();
        (1..len).for_each(|at| order.swap(at, self.below(at + 1)));
        order
    }
}

/// Writes one more node, and does what it does.
fn step(writer: &mut Writer, x: &Plain, random: &mut Random) -> Plain {
    let rank = x.dims.len();
    let axis = random.below(rank);
    let name = format!("c{}", writer.values);
    match random.below(6) {
        0 => {
            let order = random.shuffled(rank);
            writer.node("Transpose", &[], &[ints("perm", &order.iter().map(|axis| *axis as i64).collect::<Vec<_>>())]);
            let dims = order.iter().map(|axis| x.dims[*axis]).collect();
            Plain::made(dims, |index| {
                let mut from = vec![0; rank];
                order.iter().zip(index).for_each(|(axis, at)| from[*axis] = *at);
                x.at(&from)
            })
        }
        1 => {
            // Factors in another order, or neighbours as one.
            let mut dims = x.dims.clone();
            if random.below(2) == 0 && rank > 1 {
                let at = random.below(rank - 1);
                let size = dims.remove(at);
                dims[at] *= size;
            } else {
                let order = random.shuffled(rank);
                dims = order.iter().map(|axis| x.dims[*axis]).collect();
            }
            writer.initializer(&integers(&name, &dims.iter().map(|size| *size as i64).collect::<Vec<_>>()));
            writer.node("Reshape", &[&name], &[]);
            Plain { dims, values: x.values.clone() }
        }
        2 => {
            // A constant that is repeated along some axes.
            let dims: Vec<usize> = x.dims.iter().map(|size| if random.below(2) == 0 { 1 } else { *size }).collect();
            let values = (0..dims.iter().product()).map(|_| random.below(100) as f64).collect();
            let constant = Plain { dims, values };
            writer.initializer(&reals(&name, &constant.dims, &constant.values));
            writer.node("Add", &[&name], &[]);
            Plain::made(x.dims.clone(), |index| {
                let within: Vec<usize> = index.iter().zip(&constant.dims).map(|(at, size)| at % size).collect();
                x.at(index) + constant.at(&within)
            })
        }
        3 => {
            writer.node("ReduceMean", &[], &[ints("axes", &[axis as i64])]);
            let mut dims = x.dims.clone();
            let count = std::mem::replace(&mut dims[axis], 1);
            Plain::made(dims, |index| {
                let at = |place| {
                    let mut index = index.to_vec();
                    index[axis] = place;
                    x.at(&index)
                };
                (0..count).map(at).sum::<f64>() / count as f64
            })
        }
        4 => {
            // An axis twice, and all of it but the first.
            let last = format!("v{}", writer.values);
            writer.node("Concat", &[&last], &[one("axis", axis as i64)]);
            let size = x.dims[axis];
            let mut dims = x.dims.clone();
            dims[axis] *= 2;
            Plain::made(dims, |index| {
                let mut index = index.to_vec();
                index[axis] %= size;
                x.at(&index)
            })
        }
        _ => {
            let start = random.below(x.dims[axis]);
            for (end, value) in [("s", start as i64), ("e", i64::MAX), ("a", axis as i64)] {
                writer.initializer(&integers(&format!("{name}{end}"), &[value]));
            }
            let others = ["s", "e", "a"].map(|end| format!("{name}{end}"));
            writer.node("Slice", &others.each_ref().map(String::as_str), &[]);
            let mut dims = x.dims.clone();
            dims[axis] -= start;
            Plain::made(dims, |index| {
                let mut index = index.to_vec();
                index[axis] += start;
                x.at(&index)
            })
        }
    }
}

/// Elements of every example as the graph has them, end to end.
fn in_graph(port: &Port, values: &[f64]) -> Vec<Vec<f64>> {
    let places = port.places();
    values.chunks_exact(port.len).map(|example| places.iter().map(|place| example[*place]).collect()).collect()
}

#[test]
fn chains_of_moves_are_what_plain_loops_make() {
    let mut random = Random(7);
    let (mut held, mut of_batches) = (0, 0);
    for round in 0..1500 {
        let rank = 1 + random.below(5);
        let dims: Vec<usize> = (0..rank).map(|_| [1, 2, 3, 4][random.below(4)]).collect();
        let values = (0..dims.iter().product()).map(|_| random.below(1000) as f64).collect();
        let input = Plain { dims, values };
        let mut writer = Writer::new(&input.dims);
        let mut x = input.clone();
        for _ in 0..1 + random.below(6) {
            x = step(&mut writer, &x, &mut random);
        }
        let model = match writer.read() {
            Ok(model) => model,
            // Sums of which more than three groups of axes are repeated apart.
            Err(error @ (OnnxError::Feature { .. } | OnnxError::Batch { .. })) => {
                assert_eq!(error.class(), ErrorKind::Unsupported);
                continue;
            }
            Err(error) => panic!("round {round}: {error}"),
        };
        let (from, to) = (&model.inputs[0], &model.outputs[0]);
        assert_eq!(to.dims, x.dims, "round {round}");
        let expected = in_graph(to, &x.values);
        let examples = in_graph(from, &input.values);
        assert_eq!(examples.len(), expected.len(), "round {round}");
        for (example, expected) in examples.into_iter().zip(&expected) {
            let found = model.imported.graph.evaluate(&Sample::Dense(example)).unwrap();
            let near = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-9);
            assert!(near && found.len() == expected.len(), "round {round}: {found:?}, expected {expected:?}");
        }
        held += 1;
        of_batches += usize::from(expected.len() > 1);
    }
    assert!(held > 1300 && of_batches > 50, "{held}, {of_batches}");
}

fn operations(graph: &Graph) -> Vec<&'static str> {
    let word = |op: &Op| match op {
        Op::Linear { .. } => "linear",
        Op::Convolution { .. } => "convolution",
        Op::PerChannel { .. } => "per channel",
        Op::Activation(_) => "activation",
        _ => "other",
    };
    graph.nodes.iter().map(|node| word(&node.op)).collect()
}

/// A flattened map before a dense layer costs nothing: its columns are in the order of memory.
#[test]
fn a_flattened_map_moves_nothing() {
    let mut writer = Writer::new(&[1, 2, 2, 3]);
    writer.initializer(&reals("k", &[2, 2, 1, 1], &[1.0, 0.0, 0.0, 1.0]));
    writer.node("Conv", &["k"], &[]);
    writer.node("Flatten", &[], &[]);
    writer.node("Relu", &[], &[]);
    let weights: Vec<f64> = (0..12).map(f64::from).collect();
    writer.initializer(&reals("w", &[1, 12], &weights));
    writer.node("Gemm", &["w"], &[one("transB", 1)]);
    let model = writer.read().unwrap();
    assert_eq!(operations(&model.imported.graph), ["convolution", "activation", "linear"]);
    let x: Vec<f64> = (1..13).map(f64::from).collect();
    let found = model.imported.graph.evaluate(&Sample::Dense(in_graph(&model.inputs[0], &x).remove(0))).unwrap();
    assert_eq!(found, [x.iter().zip(&weights).map(|(x, weight)| x * weight).sum::<f64>()]);
}

/// The scores of a flattened map of probabilities are flattened as they are.
#[test]
fn a_last_sigmoid_is_taken_of_scores_in_the_order_of_the_outputs() {
    for behind in [vec!["Flatten"], vec!["Transpose", "Flatten"], vec!["Transpose"], vec![]] {
        let mut writer = Writer::new(&[1, 2, 2, 3]);
        writer.initializer(&reals("k", &[3, 2, 1, 1], &[1.0, 0.0, 0.0, 1.0, 0.5, -0.5]));
        writer.node("Conv", &["k"], &[]);
        writer.node("Sigmoid", &[], &[]);
        for operator in &behind {
            let order = ints("perm", &[0, 2, 3, 1]);
            writer.node(operator, &[], if *operator == "Transpose" { std::slice::from_ref(&order) } else { &[] });
        }
        let model = writer.read().unwrap();
        let graph = &model.imported.graph;
        assert_eq!(graph.logits() + 1, graph.output(), "{behind:?}");
        let input: Vec<f64> = (0..12).map(f64::from).collect();
        // (3, 2, 3), and (2, 3, 3) where it is transposed; the model's order or the graph's, as its port says.
        let map = |row: usize, place: usize| match row {
            2 => (input[place] - input[6 + place]) / 2.0,
            row => input[6 * row + place],
        };
        let planes = (0..18).map(|at| map(at / 6, at % 6));
        let pixels = (0..18).map(|at| map(at % 3, at / 3));
        let expected: Vec<f64> = if behind.contains(&"Transpose") { pixels.collect() } else { planes.collect() };
        let expected = in_graph(&model.outputs[0], &expected).remove(0);
        let sample = Sample::Dense(in_graph(&model.inputs[0], &input).remove(0));
        assert_eq!(graph.evaluate_logits(&sample).unwrap(), expected, "{behind:?}");
        let probabilities: Vec<f64> = expected.iter().map(|score| 1.0 / (1.0 + (-score).exp())).collect();
        let found = graph.evaluate(&sample).unwrap();
        assert!(found.iter().zip(&probabilities).all(|(found, expected)| (found - expected).abs() < 1e-12));
    }
}

/// Factors and offsets go into the layer before, unless something else reads it.
#[test]
fn normalisation_is_folded_where_it_can_be() {
    let layer = |writer: &mut Writer| {
        writer.initializer(&reals("w", &[2, 2], &[1.0, 2.0, 3.0, 4.0]));
        writer.node("MatMul", &["w"], &[]);
        for (name, values) in [("s", [2.0, 3.0]), ("b", [1.0, 1.0]), ("m", [0.5, 0.5]), ("v", [1.0, 4.0])] {
            writer.initializer(&reals(name, &[2], &values));
        }
        writer.node("BatchNormalization", &["s", "b", "m", "v"], &[]);
    };
    let mut folded = Writer::new(&[1, 2]);
    layer(&mut folded);
    assert_eq!(operations(&folded.read().unwrap().imported.graph), ["linear"]);
    let mut kept = Writer::new(&[1, 2]);
    layer(&mut kept);
    kept.node("Add", &["v1"], &[]);
    assert_eq!(operations(&kept.read().unwrap().imported.graph), ["linear", "per channel", "other"]);
}

/// The mask of a Dropout may stand in the file, as long as nothing reads it.
#[test]
fn outputs_that_nothing_reads_may_stand_there() {
    let dropout = |writer: &mut Writer| {
        let node = [bytes(1, b"v0"), bytes(2, b"v1"), bytes(2, b"mask"), bytes(4, b"Dropout")].concat();
        writer.nodes.extend(bytes(1, &node));
        writer.values = 1;
    };
    let mut unread = Writer::new(&[1, 4]);
    dropout(&mut unread);
    unread.node("Relu", &[], &[]);
    assert_eq!(operations(&unread.read().unwrap().imported.graph), ["activation"]);
    let mut read = Writer::new(&[1, 4]);
    dropout(&mut read);
    read.node("Mul", &["mask"], &[]);
    assert!(matches!(read.read(), Err(OnnxError::Feature { .. })));
}

/// A small file that asks for the same constant again and again is refused before memory ends.
#[test]
fn what_a_small_file_asks_for_is_bounded() {
    let mut writer = Writer::new(&[1, 4]);
    writer.initializer(&reals("c", &[1], &[1.0]));
    writer.initializer(&integers("many", &[1 << 24]));
    for index in 0..9 {
        writer.nodes.extend(bytes(
            1,
            &[bytes(1, b"c"), bytes(1, b"many"), bytes(2, format!("e{index}").as_bytes()), bytes(4, b"Expand")]
                .concat(),
        ));
    }
    writer.node("Relu", &[], &[]);
    assert!(matches!(writer.read(), Err(OnnxError::Feature { .. })));
}

/// Before operator set 11 a map that shrinks takes the pixel above, as ONNX Runtime does, one that grows that below.
#[test]
fn the_first_resize_takes_other_pixels_where_it_shrinks() {
    for (scales, expected) in
        [([1.0, 1.0, 1.0, 0.75], vec![0.0, 2.0, 3.0]), ([1.0, 1.0, 1.0, 1.5], vec![0.0, 0.0, 1.0, 2.0, 2.0, 3.0])]
    {
        let mut writer = Writer::new(&[1, 1, 1, 4]);
        writer.opset = 10;
        writer.initializer(&reals("scales", &[4], &scales));
        writer.node("Resize", &["scales"], &[]);
        let graph = writer.read().unwrap().imported.graph;
        assert_eq!(graph.evaluate(&Sample::Dense(vec![0.0, 1.0, 2.0, 3.0])).unwrap(), expected);
    }
    let mut both = Writer::new(&[1, 1, 4, 4]);
    both.opset = 10;
    both.initializer(&reals("scales", &[4], &[1.0, 1.0, 2.0, 0.5]));
    both.node("Resize", &["scales"], &[]);
    assert!(matches!(both.read(), Err(OnnxError::Feature { .. })));
}
