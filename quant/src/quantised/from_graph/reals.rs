//! A graph without its roundings: the network that was quantised, as far as its integers still say it.

use crate::graph::{Activation, Graph, Node, Op, Value};

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
    // Of each value: what it is now, and whether integers stand for it.
    let mut values: Vec<(Value, bool)> = vec![(0, given)];
    for node in &graph.nodes {
        let (read, is_stored) = node.reads.first().map_or((0, false), |read| values[*read]);
        let reads = node.reads.iter().map(|read| values[*read].0).collect();
        let keeps = matches!(
            node.op,
            Op::Flatten | Op::Reshape(_) | Op::Transpose(_) | Op::Slice { .. } | Op::Pool { .. } | Op::Concat { .. }
        );
        match &node.op {
            Op::Quantise { zero_points, low, .. } => {
                let is_positive = zero_points.iter().all(|zero| zero == low);
                let is_clipped =
                    |node: &Node| matches!(node.op, Op::Activation(Activation::Relu | Activation::Clip { .. }));
                let before = read.checked_sub(1).map(|before| &made[before]);
                if is_positive && before.is_some_and(|before| !is_clipped(before) && is_layer(&before.op)) {
                    let op = Op::Activation(Activation::Relu);
                    made.push(Node { name: node.name.clone(), reads: vec![read], op });
                    values.push((made.len(), true));
                } else {
                    values.push((read, true));
                }
            }
            Op::PerChannel { .. } if is_stored => values.push((read, false)),
            op => {
                made.push(Node { name: node.name.clone(), reads, op: op.clone() });
                values.push((made.len(), is_stored && keeps));
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

/// What a ReLU stands behind.
const fn is_layer(op: &Op) -> bool {
    matches!(
        op,
        Op::Linear { .. } | Op::Convolution { .. } | Op::TransposedConvolution { .. } | Op::Add | Op::Binary(_)
    )
}
