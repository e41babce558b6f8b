//! The parts of a description.

use super::order::{KernelOrder, Order};
use crate::graph::{Activation, Axis, Binary, Coordinates, Fill, Input, Pooling, Sampling, Shape, Value, Window};

/// The version that is read and written: `graph = 1`.
pub const VERSION: u32 = 1;

/// The key of the canonical description in the metadata of a file of tensors.
pub const DESCRIPTION_KEY: &str = "tamis.graph";

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
        /// Whether it reads a map pixel by pixel, n being its channels, and not as a whole.
        each_pixel: bool,
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
    Concat {
        /// Along which.
        axis: Axis,
    },
    /// `add`
    Add,
    /// `broadcast-add`, `sub`, `mul`, `div`, `max` or `min`
    Binary(Binary),
    /// `constant`
    Constant {
        /// Of the value.
        shape: Shape,
        /// Tensor of (height, width, channels).
        values: String,
    },
    /// `scale`
    Scale(f64),
    /// `per-channel`
    PerChannel {
        /// Tensor of (channels,): the factors.
        weights: String,
        /// Tensor of (channels,): the offsets; none, and zeros, where there are none.
        bias: Option<String>,
    },
    /// `batch-normalization`: `(x − mean) / √(variance + epsilon) · weight + bias`, all tensors of (channels,)
    BatchNormalization {
        /// None, and ones, where there are none.
        weights: Option<String>,
        /// None, and zeros, where there are none.
        bias: Option<String>,
        /// Of the training examples.
        mean: String,
        /// Of the training examples.
        variance: String,
        /// Above 0.
        epsilon: f64,
    },
    /// `prelu`
    PRelu {
        /// Tensor of (channels,), or of (1,) for one slope of all.
        weights: String,
    },
    /// A function: `relu`, `crelu`, `leaky-relu`, …
    Activation(Activation),
    /// `flatten`
    Flatten {
        /// Whether the checkpoint's dense layers count the elements channel by channel, and not pixel by pixel.
        channels_first: bool,
    },
    /// `reshape`
    Reshape(Shape),
    /// `transpose`
    Transpose([usize; 3]),
    /// `slice`
    Slice {
        /// The first, by axis.
        start: [usize; 3],
        /// How many, by axis.
        size: [usize; 3],
        /// From one to the next.
        step: [usize; 3],
    },
    /// `pad`
    Pad {
        /// How many before, by axis.
        before: [usize; 3],
        /// How many behind.
        after: [usize; 3],
        /// Which.
        fill: Fill,
    },
    /// `resize`
    Resize {
        /// Height and width.
        size: [usize; 2],
        /// How a pixel follows from its neighbours.
        sampling: Sampling,
        /// Where it lies among them.
        coordinates: Coordinates,
    },
    /// `convolution`, or `depthwise` where every channel is a group
    Convolution(Kernel),
    /// `transposed-convolution`
    TransposedConvolution {
        /// Its kernel.
        kernel: Kernel,
        /// Height and width of what is made.
        size: [usize; 2],
    },
    /// `average-pool` or `max-pool`, with `global-` in front where the window is the whole map
    Pool {
        /// How the window slides.
        window: Window,
        /// What is made of the pixels in it.
        kind: Pooling,
    },
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

/// What convolutions have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct Kernel {
    /// How it slides.
    pub window: Window,
    /// Groups of channels that do not see one another.
    pub groups: usize,
    /// Number of output channels, m.
    pub outputs: usize,
    /// Tensor of the weights, its indices as `order` says.
    pub weights: String,
    /// Tensor of (m,); none, and zeros, where the layer has no biases.
    pub bias: Option<String>,
    /// How the weights lie.
    pub order: KernelOrder,
}

impl Described {
    /// The tensor that a part has unless the description says otherwise: `<node>.<part>`.
    pub(super) fn default_tensor(name: &str, part: &str) -> String {
        format!("{name}.{part}")
    }

    /// The names of the tensors that it needs.
    pub(super) fn tensors(&self) -> Vec<String> {
        match &self.op {
            DescribedOp::Linear { weights, bias, .. }
            | DescribedOp::Convolution(Kernel { weights, bias, .. })
            | DescribedOp::TransposedConvolution { kernel: Kernel { weights, bias, .. }, .. }
            | DescribedOp::PerChannel { weights, bias } => std::iter::once(weights).chain(bias).cloned().collect(),
            DescribedOp::BatchNormalization { weights, bias, mean, variance, .. } => {
                weights.iter().chain(bias).chain([mean, variance]).cloned().collect()
            }
            DescribedOp::Embed { table: name, .. }
            | DescribedOp::Constant { values: name, .. }
            | DescribedOp::PRelu { weights: name } => vec![name.clone()],
            DescribedOp::Trees { .. } => TREE_PARTS.iter().map(|part| Self::default_tensor(&self.name, part)).collect(),
            _ => Vec::new(),
        }
    }
}

impl Described {
    /// What it reads if nothing is said: the node before it, if it reads anything.
    pub(super) fn default_reads(&self, index: usize) -> Vec<Value> {
        if matches!(self.op, DescribedOp::Constant { .. }) { Vec::new() } else { vec![index] }
    }
}

/// The tensors of a forest.
pub(super) const TREE_PARTS: [&str; 3] = ["features", "thresholds", "leaves"];

impl Description {
    /// The same with another epsilon in all normalizations; none where there are no normalizations, or they have it.
    #[must_use]
    pub fn with_epsilon(&self, epsilon: f64) -> Option<Self> {
        let mut other = self.clone();
        for node in &mut other.nodes {
            if let DescribedOp::BatchNormalization { epsilon: own, .. } = &mut node.op {
                *own = epsilon;
            }
        }
        (other != *self).then_some(other)
    }

    /// The names of all tensors, in the order in which they are needed.
    #[must_use]
    pub fn tensor_names(&self) -> Vec<String> {
        self.nodes.iter().flat_map(Described::tensors).collect()
    }
}
