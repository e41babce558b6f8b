//! What becomes of a bound graph before it is handed out: normalizations folded, columns put in order.

use super::types::{Described, DescribedOp, Description};
use crate::float::Matrix;
use crate::graph::{Graph, Op, Shape};

/// Takes every normalization into the layer before it, where nothing else reads that one; the layer keeps its name.
/// `nodes` describe the graph's, one each.
pub(super) fn fold_normalizations(graph: &mut Graph, nodes: &[Described]) {
    let mut folded = 0;
    for (described_index, described) in nodes.iter().enumerate() {
        let index = described_index - folded;
        if !matches!(described.op, DescribedOp::BatchNormalization { .. }) {
            continue;
        }
        let read = graph.nodes[index].reads[0];
        let readers = graph.nodes.iter().flat_map(|node| &node.reads).filter(|value| **value == read).count();
        let Some(layer) = read.checked_sub(1).filter(|_| readers == 1) else { continue };
        let Op::PerChannel { factors, offsets } = graph.nodes[index].op.clone() else { continue };
        let (Op::Linear { weights, bias }
        | Op::SparseLinear { weights, bias }
        | Op::Convolution { weights, bias, .. }
        | Op::TransposedConvolution { weights, bias, .. }) = &mut graph.nodes[layer].op
        else {
            continue;
        };
        weights.values.chunks_exact_mut(factors.len()).for_each(|column| multiply(column, &factors));
        multiply(bias, &factors);
        bias.iter_mut().zip(&offsets).for_each(|(bias, offset)| *bias += offset);
        graph.nodes.remove(index);
        for value in graph.nodes.iter_mut().flat_map(|node| &mut node.reads) {
            match *value {
                found if found == index + 1 => *value = read,
                found if found > index => *value -= 1,
                _ => {}
            }
        }
        folded += 1;
    }
}

fn multiply(values: &mut [f64], factors: &[f64]) {
    values.iter_mut().zip(factors).for_each(|(value, factor)| *value *= factor);
}

impl Description {
    /// Puts the columns of dense layers behind a `flatten` of channels first into the order that maps have here.
    pub(super) fn order_columns(&self, graph: &mut Graph, shapes: &[Shape]) {
        for (index, node) in self.nodes.iter().enumerate() {
            if !matches!(node.op, DescribedOp::Flatten { channels_first: true }) {
                continue;
            }
            let shape = shapes[node.reads[0]];
            let readers = self.dense_readers(index + 1);
            for reader in readers.unwrap_or_else(|_| unreachable!("a checked description has dense layers there")) {
                if let Op::Linear { weights, .. } = &mut graph.nodes[reader].op {
                    *weights = channels_last(weights, shape);
                }
            }
        }
    }
}

/// Columns counted channel by channel, then pixel by pixel, as pixel by pixel, then channel by channel.
fn channels_last(matrix: &Matrix<f64>, shape: Shape) -> Matrix<f64> {
    let pixels = shape.pixels();
    let columns = (0..pixels).flat_map(|pixel| (0..shape.channels).map(move |channel| channel * pixels + pixel));
    let values = columns.flat_map(|column| matrix.column(column)).copied().collect();
    Matrix { outputs: matrix.outputs, inputs: matrix.inputs, values }
}
