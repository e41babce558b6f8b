//! The parts of a graph.

use super::forest::Forest;
use crate::float::Matrix;

/// A network: a list of nodes, every number of it finite. The output is what the last node makes.
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    /// What reports call the network.
    pub name: String,
    /// What goes in: value 0.
    pub input: Input,
    /// Node `i` makes value `i + 1` and reads values up to `i`.
    pub nodes: Vec<Node>,
}

/// What goes into a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// A vector of reals, (len,).
    Dense {
        /// Number of elements.
        len: usize,
    },
    /// A list of active features in ascending order, each with a value; all others are 0.
    Sparse {
        /// Number of features that there are.
        features: usize,
        /// The most that are active at once.
        max_active: usize,
        /// Whether it is always that many, one a field: what a concatenation of embeddings needs.
        exact: bool,
    },
}

/// A value of a graph by its number: 0 is the input, `i + 1` what node `i` makes.
pub type Value = usize;

/// One operation, with the values that it reads.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Name, unique in the graph; its tensors are called `<name>.weight`, `<name>.bias`, `<name>.table`, and so on.
    pub name: String,
    /// The values that it reads, in the order in which [`Op`] names them.
    pub reads: Vec<Value>,
    /// What it computes.
    pub op: Op,
}

/// What a node computes. Shapes are of one example.
#[derive(Debug, Clone, PartialEq)]
pub enum Op {
    /// (n,) → (m,): `y = weights · x + bias`.
    Linear {
        /// (m, n)
        weights: Matrix<f64>,
        /// (m,)
        bias: Vec<f64>,
    },
    /// Sparse input → (m,): `y = Σ x_j · column j + bias`.
    SparseLinear {
        /// (m, features)
        weights: Matrix<f64>,
        /// (m,)
        bias: Vec<f64>,
    },
    /// Sparse input → (max_active · width,): for each active feature `x_j · column j`, one behind the other in
    /// ascending order of the features; zeros behind the last where fewer are active.
    Embed {
        /// (width, features)
        table: Matrix<f64>,
    },
    /// Embeddings (slots · width,) → (1,): `½ Σ ((Σ e)² − Σ e²)`, the sum of the inner products of all pairs.
    FmTerm {
        /// Elements of one embedding.
        width: usize,
    },
    /// Embeddings (slots · width,) → (width,): `½ ((Σ e)² − Σ e²)` element by element.
    BiInteraction {
        /// Elements of one embedding.
        width: usize,
    },
    /// Embeddings (slots · width,) → (slots · (slots − 1) / 2,): `<e_i, e_j>` for i < j in the order (0,1), (0,2), …,
    /// (1,2), ….
    InnerProducts {
        /// Elements of one embedding.
        width: usize,
    },
    /// (a,), (b,), … → (a + b + …,).
    Concat,
    /// (n,), (n,), … → (n,): their sum.
    Add,
    /// (n,) → (n,): times a constant.
    Scale(f64),
    /// (n,) → (n,).
    Activation(Activation),
    /// (n,) → (n,): the same elements; a remark on shapes of a training framework.
    Flatten,
    /// The input, dense or sparse → (1,).
    Trees(Forest),
}

/// A function of each element, or of all together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Activation {
    /// max(x, 0)
    Relu,
    /// x clipped to 0 to 1
    Crelu,
    /// x above 0, `alpha · x` else.
    LeakyRelu {
        /// The slope below 0.
        alpha: f64,
    },
    /// 1 / (1 + e^−x)
    Sigmoid,
    /// tanh x
    Tanh,
    /// e^x_i / Σ e^x
    Softmax,
}

impl Graph {
    /// The number of elements of every value, by its number; of a sparse input the number of features. 0 for a value
    /// whose node does not fit what it reads, which no checked graph has.
    #[must_use]
    pub fn lengths(&self) -> Vec<usize> {
        let input = match self.input {
            Input::Dense { len } => len,
            Input::Sparse { features, .. } => features,
        };
        let mut lengths = vec![input];
        for node in &self.nodes {
            lengths.push(self.length_of(node, &lengths));
        }
        lengths
    }

    /// The number of elements that a node makes of values of these lengths.
    pub(super) fn length_of(&self, node: &Node, lengths: &[usize]) -> usize {
        let read = |place: usize| node.reads.get(place).and_then(|read| lengths.get(*read)).copied().unwrap_or(0);
        let slots = |width: usize| read(0).checked_div(width).unwrap_or(0);
        match &node.op {
            Op::Linear { weights, .. } | Op::SparseLinear { weights, .. } => weights.outputs,
            Op::Embed { table } => self.max_active().saturating_mul(table.outputs),
            Op::FmTerm { .. } | Op::Trees(_) => 1,
            Op::BiInteraction { width } => *width,
            Op::InnerProducts { width } => slots(*width).saturating_mul(slots(*width).saturating_sub(1)) / 2,
            Op::Concat => (0..node.reads.len()).fold(0, |sum: usize, place| sum.saturating_add(read(place))),
            Op::Add | Op::Scale(_) | Op::Activation(_) | Op::Flatten => read(0),
        }
    }

    /// The most features that are active at once; 0 with a dense input.
    #[must_use]
    pub fn max_active(&self) -> usize {
        match self.input {
            Input::Sparse { max_active, .. } => max_active,
            Input::Dense { .. } => 0,
        }
    }

    /// Numbers that training has found: weights, biases, tables, thresholds and leaves.
    #[must_use]
    pub fn parameter_count(&self) -> usize {
        let count = |node: &Node| match &node.op {
            Op::Linear { weights, bias } | Op::SparseLinear { weights, bias } => weights.values.len() + bias.len(),
            Op::Embed { table } => table.values.len(),
            Op::Trees(forest) => forest.trees.iter().map(|tree| 3 * tree.leaves.len()).sum(),
            _ => 0,
        };
        self.nodes.iter().map(count).sum()
    }

    /// The value that is the network's output.
    #[must_use]
    pub fn output(&self) -> Value {
        self.nodes.len()
    }

    /// The value before the last sigmoid or softmax; the output itself where there is none.
    #[must_use]
    pub fn logits(&self) -> Value {
        match self.nodes.last() {
            Some(Node { op: Op::Activation(Activation::Sigmoid | Activation::Softmax), reads, .. }) => {
                reads.first().copied().unwrap_or(self.output())
            }
            _ => self.output(),
        }
    }
}
