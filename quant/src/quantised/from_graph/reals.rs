//! A graph without its roundings: the network that was quantised, as far as its integers still say it.

use crate::graph::{Activation, Binary, Fill, Graph, Node, Op, Value};

/// The graph of reals that the integers of a graph with roundings stand for, nothing rounded and nothing cut off above.
/// Where the least integer stands for 0, the rounding was a ReLU, too, and is one. given: whether the input is
/// integers, which become the reals that they stand for.
///
/// A graph without roundings comes back as it is.
#[must_use]
pub fn without_roundings(graph: &Graph, given: bool) -> Graph {
    if !given && !graph.nodes.iter().any(|node| matches!(node.op, Op::Quantise { .. })) {
        return graph.clone();
    }
    reals(graph, given).0
}

/// The same of a graph with roundings, and by its value that of the graph of reals.
pub(super) fn reals(graph: &Graph, given: bool) -> (Graph, Vec<Value>) {
    let mut made: Vec<Node> = Vec::new();
    // Of each value: what it is now, and what its integers stand for, where it is integers.
    let mut values: Vec<(Value, Option<Units>)> = vec![(0, given.then_some(Units::Input))];
    for node in &graph.nodes {
        let (read, units) = node.reads.first().map_or((0, None), |read| values[*read]);
        let reads = node.reads.iter().map(|read| values[*read].0).collect();
        match &node.op {
            Op::Quantise { scales, zero_points, low, .. } => {
                let units = Some(Units::Steps { scale: scales[0], zero_point: zero_points[0] });
                let is_positive = zero_points.iter().all(|zero| zero == low);
                let is_clipped =
                    |node: &Node| matches!(node.op, Op::Activation(Activation::Relu | Activation::Clip { .. }));
                let before = read.checked_sub(1).map(|before| &made[before]);
                if is_positive && before.is_some_and(|before| !is_clipped(before) && is_layer(&before.op)) {
                    let op = Op::Activation(Activation::Relu);
                    made.push(Node { name: node.name.clone(), reads: vec![read], op });
                    values.push((made.len(), units));
                } else {
                    values.push((read, units));
                }
            }
            Op::PerChannel { .. } if units.is_some() => values.push((read, None)),
            op => {
                // What is made of integers is integers, but for what is a function of reals.
                let of_integers = units.and_then(|units| units.real(op));
                let is_integers = of_integers.is_some();
                let op = of_integers.unwrap_or_else(|| op.clone());
                made.push(Node { name: node.name.clone(), reads, op });
                values.push((made.len(), units.filter(|_| is_integers)));
            }
        }
    }
    let (last, _) = values[graph.output()];
    if last == 0 || last != made.len() {
        let shape = graph.shapes()[graph.output()];
        made.push(Node { name: "output".to_owned(), reads: vec![last], op: Op::Reshape(shape) });
    }
    let values = values.into_iter().map(|(value, _)| value).collect();
    (Graph { name: graph.name.clone(), input: graph.input, nodes: made }, values)
}

/// What integers stand for.
#[derive(Debug, Clone, Copy)]
enum Units {
    /// That of the input, which only what reads it says.
    Input,
    /// `(integer − zero point) · scale`
    Steps { scale: f64, zero_point: f64 },
}

impl Units {
    /// An operation on integers as the one on reals that makes what its integers stand for; `None` of one that makes
    /// no integers.
    fn real(self, op: &Op) -> Option<Op> {
        let real = |integer: f64| match self {
            Self::Input => integer,
            Self::Steps { scale, zero_point } => (integer - zero_point) * scale,
        };
        match op {
            Op::Flatten
            | Op::Reshape(_)
            | Op::Transpose(_)
            | Op::Slice { .. }
            | Op::Pool { .. }
            | Op::Concat { .. }
            | Op::Resize { .. }
            | Op::Binary(Binary::Max | Binary::Min) => Some(op.clone()),
            Op::Pad { before, after, fill } => {
                let fill = if let Fill::Value(integer) = fill { Fill::Value(real(*integer)) } else { *fill };
                Some(Op::Pad { before: *before, after: *after, fill })
            }
            Op::Activation(Activation::Relu) => {
                Some(Op::Activation(Activation::Clip { low: real(0.0), high: f64::INFINITY }))
            }
            Op::Activation(Activation::Clip { low, high }) => {
                Some(Op::Activation(Activation::Clip { low: real(*low), high: real(*high) }))
            }
            _ => None,
        }
    }
}

/// What a ReLU stands behind.
const fn is_layer(op: &Op) -> bool {
    matches!(
        op,
        Op::Linear { .. } | Op::Convolution { .. } | Op::TransposedConvolution { .. } | Op::Add | Op::Binary(_)
    )
}
