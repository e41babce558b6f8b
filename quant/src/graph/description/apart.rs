//! A graph apart: its description and its tensors.

use super::error::{Cause, DescriptionError};
use super::order::{KernelOrder, KernelSizes, Order};
use super::tensor::{Tensor, Tensors};
use super::types::{Described, DescribedOp, Description, Kernel, TREE_PARTS};
use crate::float::Matrix;
use crate::graph::{Graph, Node, Op, Shape, Tree, Window};
use tamis_batches::printable;

/// A part of a tree as numbers.
type PartOf<'f> = dyn Fn(&Tree) -> Vec<f64> + 'f;

impl Description {
    /// A graph's description and its tensors; [`Description::bind`] puts them together again.
    ///
    /// # Errors
    /// [`DescriptionError`] if a name cannot be written, or if the graph is not one that [`Graph::check`] accepts.
    pub fn of(graph: &Graph) -> Result<(Self, Tensors), DescriptionError> {
        let refused = |cause: Cause| DescriptionError {
            origin: format!("network `{}`", printable(&graph.name)),
            line: None,
            cause: Box::new(cause),
        };
        graph.check().map_err(|error| refused(Cause::Graph(error)))?;
        if let Some(node) = graph.nodes.iter().find(|node| matches!(node.op, Op::Quantise { .. })) {
            let known = "the operations of a float network, which this was before it was quantised".to_owned();
            let value = format!("the rounding `{}`", printable(&node.name));
            return Err(refused(Cause::UnsupportedValue { value, known }));
        }
        let mut tensors = Tensors::new();
        let shapes = graph.shapes();
        let read = |node: &Node| shapes[node.reads[0]];
        let mut describe = |node: &Node| {
            let mut put = |part: &str, shape: Vec<usize>, values: Vec<f64>| {
                let name = Described::default_tensor(&node.name, part);
                tensors.insert(name.clone(), Tensor { shape, values });
                name
            };
            let op = match &node.op {
                Op::Linear { weights, bias } | Op::SparseLinear { weights, bias } => DescribedOp::Linear {
                    sparse: matches!(node.op, Op::SparseLinear { .. }),
                    outputs: weights.outputs,
                    weights: put("weight", vec![weights.outputs, weights.inputs], rows(weights)),
                    bias: Some(put("bias", vec![bias.len()], bias.clone())),
                    order: Order::OutIn,
                    each_pixel: matches!(node.op, Op::Linear { .. }) && weights.inputs != read(node).len(),
                },
                Op::Quantise { .. } => unreachable!("refused above"),
                Op::Embed { table } => DescribedOp::Embed {
                    width: table.outputs,
                    table: put("table", vec![table.inputs, table.outputs], table.values.clone()),
                    order: Order::InOut,
                },
                Op::FmTerm { width } => DescribedOp::FmTerm { width: *width },
                Op::BiInteraction { width } => DescribedOp::BiInteraction { width: *width },
                Op::InnerProducts { width } => DescribedOp::InnerProducts { width: *width },
                Op::Concat { axis } => DescribedOp::Concat { axis: *axis },
                Op::Add => DescribedOp::Add,
                Op::Scale(factor) => DescribedOp::Scale(*factor),
                Op::Activation(activation) => DescribedOp::Activation(*activation),
                Op::Binary(binary) => DescribedOp::Binary(*binary),
                Op::Constant { shape, values } => {
                    let tensor = if shape.is_vector() { vec![shape.channels] } else { shape.axes().to_vec() };
                    DescribedOp::Constant { shape: *shape, values: put("values", tensor, values.clone()) }
                }
                Op::PerChannel { factors, offsets } => DescribedOp::PerChannel {
                    weights: put("weight", vec![factors.len()], factors.clone()),
                    bias: Some(put("bias", vec![offsets.len()], offsets.clone())),
                },
                Op::PRelu { slopes } => {
                    DescribedOp::PRelu { weights: put("weight", vec![slopes.len()], slopes.clone()) }
                }
                Op::Flatten => DescribedOp::Flatten { channels_first: false },
                Op::Reshape(shape) => DescribedOp::Reshape(*shape),
                Op::Transpose(order) => DescribedOp::Transpose(*order),
                Op::Slice { start, size, step } => DescribedOp::Slice { start: *start, size: *size, step: *step },
                Op::Pad { before, after, fill } => DescribedOp::Pad { before: *before, after: *after, fill: *fill },
                Op::Resize { size, sampling, coordinates } => {
                    DescribedOp::Resize { size: *size, sampling: *sampling, coordinates: *coordinates }
                }
                Op::Convolution { window, groups, weights, bias } => {
                    let order = KernelOrder::OF_CONVOLUTIONS[0];
                    let parts = (*window, *groups, weights, order);
                    DescribedOp::Convolution(kernel(parts, read(node), bias, &mut put))
                }
                Op::TransposedConvolution { window, groups, size, weights, bias } => {
                    let order = KernelOrder::OF_TRANSPOSED[0];
                    let parts = (*window, *groups, weights, order);
                    let kernel = kernel(parts, read(node), bias, &mut put);
                    DescribedOp::TransposedConvolution { kernel, size: *size }
                }
                Op::Pool { window, kind } => DescribedOp::Pool { window: *window, kind: *kind },
                Op::Trees(forest) => {
                    let slots = match &forest.trees[..] {
                        [first, ..] => first.leaves.len(),
                        [] => 0,
                    };
                    let feature = |feature: &Option<u32>| feature.map_or(-1.0, f64::from);
                    let parts: [&PartOf; 3] = [
                        &|tree| tree.features.iter().map(feature).collect(),
                        &|tree| tree.thresholds.clone(),
                        &|tree| tree.leaves.clone(),
                    ];
                    for (name, part) in TREE_PARTS.iter().zip(parts) {
                        put(name, vec![forest.trees.len(), slots], forest.trees.iter().flat_map(part).collect());
                    }
                    DescribedOp::Trees { rate: forest.rate, trees: forest.trees.len(), slots }
                }
            };
            Described { name: node.name.clone(), reads: node.reads.clone(), op }
        };
        let nodes: Vec<Described> = graph.nodes.iter().map(&mut describe).collect();
        let description = Self { name: graph.name.clone(), input: graph.input, nodes };
        description.check().map_err(|(_, cause)| refused(cause))?;
        Ok((description, tensors))
    }
}

/// A convolution's description, its weights put away in the usual order.
fn kernel(
    (window, groups, weights, order): (Window, usize, &Matrix<f64>, KernelOrder),
    read: Shape,
    bias: &[f64],
    put: &mut impl FnMut(&str, Vec<usize>, Vec<f64>) -> String,
) -> Kernel {
    let outputs = weights.outputs;
    let sizes = KernelSizes { outputs, inputs: read.channels, groups, kernel: window.kernel };
    let mut values = vec![0.0; weights.values.len()];
    for output in 0..outputs {
        for tap in 0..sizes.taps() {
            for input in 0..sizes.group_inputs() {
                let weight = weights.at(output, tap * sizes.group_inputs() + input);
                values[sizes.place(order, output, tap, input)] = weight;
            }
        }
    }
    let weights = put("weight", sizes.shape(order), values);
    Kernel { window, groups, outputs, weights, bias: Some(put("bias", vec![bias.len()], bias.to_vec())), order }
}

/// Its values a row after the other: what [`Order::OutIn`] says.
fn rows(matrix: &Matrix<f64>) -> Vec<f64> {
    (0..matrix.outputs).flat_map(|output| (0..matrix.inputs).map(move |input| matrix.at(output, input))).collect()
}
