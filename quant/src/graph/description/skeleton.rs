//! A description as a graph of its sizes without numbers, on which is tried whether its nodes fit together.

use super::error::Cause;
use super::sizes::size;
use super::types::{Described, DescribedOp, Description, Kernel};
use crate::float::Matrix;
use crate::graph::shapes::Numbers;
use crate::graph::{Forest, Graph, Input, Node, Op, Shape, Value};

/// Grows node by node, so that a reader of text knows the shapes before each.
pub(super) struct Skeleton {
    /// Nodes with matrices of the right sizes and no values, which is all that [`Graph::shapes`] and [`Graph::check`]
    /// look at.
    pub graph: Graph,
    /// Whether its vectors are there, too.
    pub(super) numbers: Numbers,
    /// Of every value so far.
    pub shapes: Vec<Shape>,
    /// Outputs, channels and constants, whose vectors are there or will be.
    count: usize,
}

impl Skeleton {
    /// Without nodes.
    pub(super) fn new(name: &str, input: Input, numbers: Numbers) -> Self {
        let graph = Graph { name: name.to_owned(), input, nodes: Vec::new() };
        Self { shapes: graph.shapes(), graph, numbers, count: 0 }
    }

    /// All nodes of a description that was checked.
    pub(super) fn of(description: &Description, numbers: Numbers) -> Self {
        let mut skeleton = Self::new(&description.name, description.input, numbers);
        for node in &description.nodes {
            skeleton.add(node);
        }
        skeleton
    }

    /// One node more.
    ///
    /// # Errors
    /// [`Cause::Range`] for sizes outside their ranges, and where all of them together are too many numbers.
    pub(super) fn push(&mut self, node: &Described) -> Result<(), Cause> {
        node.check()?;
        let channels = match node.reads[..] {
            [first, ..] => self.shape(first).channels,
            [] => 0,
        };
        let numbers = match &node.op {
            DescribedOp::Linear { outputs, .. }
            | DescribedOp::Convolution(Kernel { outputs, .. })
            | DescribedOp::TransposedConvolution { kernel: Kernel { outputs, .. }, .. } => *outputs,
            DescribedOp::PerChannel { .. } | DescribedOp::BatchNormalization { .. } | DescribedOp::PRelu { .. } => {
                channels
            }
            DescribedOp::Constant { shape, .. } => shape.len(),
            _ => 0,
        };
        self.count = self.count.saturating_add(numbers);
        size("all layers together", "outputs", self.count.max(1))?;
        self.add(node);
        Ok(())
    }

    /// The shape of a value; nothing where there is none.
    pub(super) fn shape(&self, value: Value) -> Shape {
        self.shapes.get(value).copied().unwrap_or(Shape::map(0, 0, 0))
    }

    fn add(&mut self, node: &Described) {
        let read = node.reads.first().map_or(Shape::map(0, 0, 0), |read| self.shape(*read));
        let op = op(&node.op, read, self.numbers);
        let reads: Option<Vec<Shape>> = node.reads.iter().map(|read| self.shapes.get(*read).copied()).collect();
        let made = reads.and_then(|reads| op.shape_with(&reads, self.graph.max_active(), self.numbers));
        self.shapes.push(made.unwrap_or(Shape::map(0, 0, 0)));
        self.graph.nodes.push(Node { name: node.name.clone(), reads: node.reads.clone(), op });
    }
}

impl Description {
    /// The graph without its numbers: matrices have their sizes and no values.
    #[must_use]
    pub(crate) fn skeleton(&self) -> Graph {
        Skeleton::of(self, Numbers::There).graph
    }
}

/// The operation without its numbers, or with vectors that all hold the same one.
fn op(described: &DescribedOp, read: Shape, numbers: Numbers) -> Op {
    let all = |value: f64, count: usize| if numbers == Numbers::There { vec![value; count] } else { Vec::new() };
    let matrix = |outputs, inputs| Matrix { outputs, inputs, values: Vec::new() };
    let kernel = |kernel: &Kernel| {
        let inputs = (read.channels / kernel.groups.max(1)).saturating_mul(kernel.window.taps());
        (kernel.window, kernel.groups, matrix(kernel.outputs, inputs), all(0.0, kernel.outputs))
    };
    match described {
        DescribedOp::Linear { sparse, outputs, each_pixel, .. } => {
            let inputs = if *each_pixel { read.channels } else { read.len() };
            let (weights, bias) = (matrix(*outputs, inputs), all(0.0, *outputs));
            if *sparse { Op::SparseLinear { weights, bias } } else { Op::Linear { weights, bias } }
        }
        DescribedOp::Embed { width, .. } => Op::Embed { table: matrix(*width, read.len()) },
        DescribedOp::FmTerm { width } => Op::FmTerm { width: *width },
        DescribedOp::BiInteraction { width } => Op::BiInteraction { width: *width },
        DescribedOp::InnerProducts { width } => Op::InnerProducts { width: *width },
        DescribedOp::Concat { axis } => Op::Concat { axis: *axis },
        DescribedOp::Add => Op::Add,
        DescribedOp::Binary(binary) => Op::Binary(*binary),
        DescribedOp::Constant { shape, .. } => Op::Constant { shape: *shape, values: all(0.0, shape.len()) },
        DescribedOp::Scale(factor) => Op::Scale(*factor),
        DescribedOp::PerChannel { .. } | DescribedOp::BatchNormalization { .. } => {
            Op::PerChannel { factors: all(1.0, read.channels), offsets: all(0.0, read.channels) }
        }
        DescribedOp::PRelu { .. } => Op::PRelu { slopes: all(0.0, read.channels) },
        DescribedOp::Activation(activation) => Op::Activation(*activation),
        DescribedOp::Flatten { .. } => Op::Flatten,
        DescribedOp::Reshape(shape) => Op::Reshape(*shape),
        DescribedOp::Transpose(axes) => Op::Transpose(*axes),
        DescribedOp::Slice { start, size, step } => Op::Slice { start: *start, size: *size, step: *step },
        DescribedOp::Pad { before, after, fill } => Op::Pad { before: *before, after: *after, fill: *fill },
        DescribedOp::Resize { size, sampling, coordinates } => {
            Op::Resize { size: *size, sampling: *sampling, coordinates: *coordinates }
        }
        DescribedOp::Convolution(described) => {
            let (window, groups, weights, bias) = kernel(described);
            Op::Convolution { window, groups, weights, bias }
        }
        DescribedOp::TransposedConvolution { kernel: described, size } => {
            let (window, groups, weights, bias) = kernel(described);
            Op::TransposedConvolution { window, groups, size: *size, weights, bias }
        }
        DescribedOp::Pool { window, kind } => Op::Pool { window: *window, kind: *kind },
        DescribedOp::Trees { rate, .. } => Op::Trees(Forest { rate: *rate, trees: Vec::new() }),
    }
}
