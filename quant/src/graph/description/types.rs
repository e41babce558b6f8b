//! The parts of a description.

use crate::graph::{Activation, Input, Value};

/// The version that is read and written: `graph = 1`.
pub const VERSION: u32 = 1;

/// A graph without its numbers. What [`Description::from_toml`] and [`Description::of`] give fits together.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// What reports call the network.
    pub name: String,
    /// What goes in: value 0.
    pub input: Input,
    /// Node `i` makes value `i + 1`.
    pub nodes: Vec<Described>,
}

/// A node without its numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Described {
    /// Unique name.
    pub name: String,
    /// The values that it reads.
    pub reads: Vec<Value>,
    /// What it computes.
    pub op: DescribedOp,
}

/// An operation, and the names of the tensors that it needs.
#[derive(Debug, Clone, PartialEq)]
pub enum DescribedOp {
    /// `linear`, or `sparse-linear` on a list of features.
    Linear {
        /// Whether it reads the list of active features.
        sparse: bool,
        /// Number of outputs, m.
        outputs: usize,
        /// Tensor of (m, n) or (n, m), as `order` says.
        weights: String,
        /// Tensor of (m,); none, and zeros, where the layer has no biases.
        bias: Option<String>,
        /// How the weights lie.
        order: Order,
    },
    /// `embed`
    Embed {
        /// Elements of one embedding.
        width: usize,
        /// Tensor of (features, width) or (width, features), as `order` says.
        table: String,
        /// How the table lies.
        order: Order,
    },
    /// `fm-term`
    FmTerm {
        /// Elements of one embedding.
        width: usize,
    },
    /// `bi-interaction`
    BiInteraction {
        /// Elements of one embedding.
        width: usize,
    },
    /// `inner-products`
    InnerProducts {
        /// Elements of one embedding.
        width: usize,
    },
    /// `concat`
    Concat,
    /// `add`
    Add,
    /// `scale`
    Scale(f64),
    /// `relu`, `crelu`, `leaky-relu`, `sigmoid`, `tanh` or `softmax`
    Activation(Activation),
    /// `flatten`
    Flatten,
    /// `trees`: tensors `<name>.features` (−1 in a leaf), `<name>.thresholds` and `<name>.leaves`, each of (trees,
    /// slots)
    Trees {
        /// What every leaf is multiplied by.
        rate: f64,
        /// Number of trees.
        trees: usize,
        /// Nodes of each, in heap order.
        slots: usize,
    },
}

/// Which index of a matrix changes slowest in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The output: a row holds the weights of one output. PyTorch's layers.
    OutIn,
    /// The input: a row holds the weights of one input. Keras' layers, and everybody's embeddings.
    InOut,
}

impl Order {
    /// What stands in a description.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::OutIn => "out-in",
            Self::InOut => "in-out",
        }
    }

    /// The other one.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::OutIn => Self::InOut,
            Self::InOut => Self::OutIn,
        }
    }
}

impl Described {
    /// The tensor that a part has unless the description says otherwise: `<node>.<part>`.
    pub(super) fn default_tensor(name: &str, part: &str) -> String {
        format!("{name}.{part}")
    }

    /// The names of the tensors that it needs.
    pub(super) fn tensors(&self) -> Vec<String> {
        match &self.op {
            DescribedOp::Linear { weights, bias, .. } => std::iter::once(weights).chain(bias).cloned().collect(),
            DescribedOp::Embed { table, .. } => vec![table.clone()],
            DescribedOp::Trees { .. } => TREE_PARTS.iter().map(|part| Self::default_tensor(&self.name, part)).collect(),
            _ => Vec::new(),
        }
    }
}

/// The tensors of a forest.
pub(super) const TREE_PARTS: [&str; 3] = ["features", "thresholds", "leaves"];

impl Description {
    /// The names of all tensors, in the order in which they are needed.
    #[must_use]
    pub fn tensor_names(&self) -> Vec<String> {
        self.nodes.iter().flat_map(Described::tensors).collect()
    }
}
