//! The parts of a graph.

use super::forest::Forest;
use crate::float::Matrix;
use crate::spatial::{Axis, Coordinates, Sampling, Shape, Window};

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
    /// Reals: a vector, or a map with its channels last.
    Dense {
        /// Of one example.
        shape: Shape,
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
    /// Two or more that are alike along the other axes → one behind the other along this one: (a,), (b,), … →
    /// (a + b + …,).
    Concat {
        /// Along which; of vectors the channels.
        axis: Axis,
    },
    /// Two or more of one shape → their sum.
    Add,
    /// Two values → one, element by element; what has the size 1 along an axis is repeated along it.
    Binary(Binary),
    /// Nothing → these numbers.
    Constant {
        /// Of the value.
        shape: Shape,
        /// (len,)
        values: Vec<f64>,
    },
    /// → the same shape: times a constant.
    Scale(f64),
    /// → the same shape: `factor · x + offset`, one of both a channel.
    PerChannel {
        /// (channels,)
        factors: Vec<f64>,
        /// (channels,)
        offsets: Vec<f64>,
    },
    /// → the same shape: `x` above 0, `slope · x` else.
    PRelu {
        /// (channels,)
        slopes: Vec<f64>,
    },
    /// → the same shape: the integer that stands for a real, as a real: `x / scale`, a quotient of two f32, rounded to
    /// the nearest integer, of two as near the even one, plus the zero point, clipped. As ONNX's QuantizeLinear.
    Quantise {
        /// (channels,), above 0.
        scales: Vec<f64>,
        /// (channels,)
        zero_points: Vec<f64>,
        /// The least.
        low: f64,
        /// The greatest.
        high: f64,
    },
    /// → the same shape.
    Activation(Activation),
    /// → (n,): the same elements in the same order.
    Flatten,
    /// → another shape of as many elements, in the same order.
    Reshape(Shape),
    /// The axes in another order: axis `i` of what is made is axis `order[i]` of what is read.
    Transpose([usize; 3]),
    /// Every `step`th element from `start` on, `size` of them along each axis.
    Slice {
        /// The first, by axis.
        start: [usize; 3],
        /// How many, by axis.
        size: [usize; 3],
        /// From one to the next, at least 1.
        step: [usize; 3],
    },
    /// Elements around it.
    Pad {
        /// How many before, by axis.
        before: [usize; 3],
        /// How many behind.
        after: [usize; 3],
        /// Which.
        fill: Fill,
    },
    /// (h, w, c) → (h', w', c).
    Resize {
        /// Height and width of what is made.
        size: [usize; 2],
        /// How its pixels follow from their neighbours.
        sampling: Sampling,
        /// Where they lie among them.
        coordinates: Coordinates,
    },
    /// (h, w, c) → (h', w', m): `y[o] = Σ x[tap, i] · weights[o, (tap, i)] + bias[o]`; padding counts as 0.
    Convolution {
        /// How the kernel slides.
        window: Window,
        /// Output `o` reads the inputs of group `o / (m / groups)` alone, c / groups of them.
        groups: usize,
        /// (m, taps · c / groups): columns by tap from top left to bottom right, then by input.
        weights: Matrix<f64>,
        /// (m,)
        bias: Vec<f64>,
    },
    /// (h, w, c) → (h', w', m): each input pixel adds the kernel around `stride · place − before`: the transpose of a
    /// convolution.
    TransposedConvolution {
        /// How the kernel lies; `after` has no meaning here.
        window: Window,
        /// As with [`Op::Convolution`].
        groups: usize,
        /// Height and width of what is made.
        size: [usize; 2],
        /// (m, taps · c / groups), as with [`Op::Convolution`].
        weights: Matrix<f64>,
        /// (m,)
        bias: Vec<f64>,
    },
    /// (h, w, c) → (h', w', c).
    Pool {
        /// How the window slides.
        window: Window,
        /// What is made of the pixels in it.
        kind: Pooling,
    },
    /// The input, dense or sparse → (1,).
    Trees(Forest),
}

/// An operation of two elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binary {
    /// The sum, where one of the two is repeated.
    Add,
    /// The first less the second.
    Sub,
    /// The product.
    Mul,
    /// The first by the second.
    Div,
    /// The greater one.
    Max,
    /// The smaller one.
    Min,
}

/// What a pool makes of the pixels in its window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pooling {
    /// The greatest; padding does not count.
    Max,
    /// The mean of the pixels that there are.
    Average,
    /// The mean, padding counted as zeros; what lies behind the padding is not counted.
    AverageWithPadding,
}

/// What padding holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fill {
    /// A number.
    Value(f64),
    /// The map mirrored at its first and its last element.
    Reflect,
    /// The first and the last element.
    Edge,
}

/// A function of each element, or of all of a pixel together.
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
    /// e^x_i / Σ e^x, over the channels of a pixel.
    Softmax,
    /// The logarithm of that.
    LogSoftmax,
    /// x clipped.
    Clip {
        /// The least.
        low: f64,
        /// The greatest.
        high: f64,
    },
    /// alpha · x + beta clipped to 0 to 1
    HardSigmoid {
        /// The slope.
        alpha: f64,
        /// What is added.
        beta: f64,
    },
    /// x · (x + 3 clipped to 0 to 6) / 6
    HardSwish,
    /// x above 0, `alpha · (e^x − 1)` else.
    Elu {
        /// What it goes towards.
        alpha: f64,
    },
    /// |x|
    Abs,
    /// e^x
    Exp,
    /// √x
    Sqrt,
    /// The error function.
    Erf,
}

impl Activation {
    /// What descriptions and reports call it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Relu => "relu",
            Self::Crelu => "crelu",
            Self::LeakyRelu { .. } => "leaky-relu",
            Self::Sigmoid => "sigmoid",
            Self::Tanh => "tanh",
            Self::Softmax => "softmax",
            Self::LogSoftmax => "log-softmax",
            Self::Clip { .. } => "clip",
            Self::HardSigmoid { .. } => "hard-sigmoid",
            Self::HardSwish => "hard-swish",
            Self::Elu { .. } => "elu",
            Self::Abs => "abs",
            Self::Exp => "exp",
            Self::Sqrt => "sqrt",
            Self::Erf => "erf",
        }
    }
}

impl Op {
    /// Numbers that training has found: weights, biases, tables, thresholds and leaves.
    #[must_use]
    pub fn parameter_count(&self) -> usize {
        match self {
            Self::Linear { weights, bias }
            | Self::SparseLinear { weights, bias }
            | Self::Convolution { weights, bias, .. }
            | Self::TransposedConvolution { weights, bias, .. } => weights.values.len() + bias.len(),
            Self::Embed { table } => table.values.len(),
            Self::PerChannel { factors, offsets } => factors.len() + offsets.len(),
            Self::Quantise { scales, zero_points, .. } => scales.len() + zero_points.len(),
            Self::PRelu { slopes: numbers } | Self::Constant { values: numbers, .. } => numbers.len(),
            Self::Trees(forest) => forest.trees.iter().map(|tree| 3 * tree.leaves.len()).sum(),
            _ => 0,
        }
    }
}

impl Graph {
    /// The number of elements of every value, by its number; of a sparse input the number of features. 0 for a value
    /// whose node does not fit what it reads, which no checked graph has.
    #[must_use]
    pub fn lengths(&self) -> Vec<usize> {
        self.shapes().into_iter().map(Shape::len).collect()
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
        self.nodes.iter().map(|node| node.op.parameter_count()).sum()
    }

    /// The value that is the network's output.
    #[must_use]
    pub fn output(&self) -> Value {
        self.nodes.len()
    }
}
