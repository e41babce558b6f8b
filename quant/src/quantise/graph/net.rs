//! The quantised graph: the runtime's operations over tensors in training order, before any layout.

use super::element::Element;
use crate::graph::Activation;
use crate::quantise::QuantTensor;

/// A graph in the runtime's operations.
#[derive(Debug, Clone, PartialEq)]
pub struct QuantGraph {
    /// What reports call the network.
    pub name: String,
    /// The canonical description of the graph that was quantised.
    pub description: String,
    /// Value 0.
    pub input: QuantInput,
    /// Node `i` makes value `i + 1`; the last one makes the output.
    pub nodes: Vec<QuantNode>,
}

/// What goes in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum QuantInput {
    /// A vector.
    Dense {
        /// Number of elements.
        len: usize,
        /// U8, I8 or F32.
        element: Element,
        /// The real value of a 1; of reals 1.
        unit: f32,
    },
    /// Active features.
    Sparse {
        /// Number of features that there are.
        features: usize,
        /// The most that are active at once.
        max_active: usize,
        /// Whether it is always that many.
        exact: bool,
        /// The real value of a 1 in a feature's i16 value; none where every active feature is 1.
        unit: Option<f32>,
    },
}

/// One operation and the value that it makes.
#[derive(Debug, Clone, PartialEq)]
pub struct QuantNode {
    /// Unique in the graph.
    pub name: String,
    /// The values that it reads.
    pub reads: Vec<usize>,
    /// What it computes.
    pub op: QuantOp,
    /// What it makes.
    pub value: QuantValue,
}

/// What integers stand for: `real = (integer − zero) · unit`.
#[derive(Debug, Clone, PartialEq)]
pub struct QuantValue {
    /// Of the integers, or reals.
    pub element: Element,
    /// Number of elements.
    pub len: usize,
    /// (1,) for all elements, or (len,) one each.
    pub units: Vec<f32>,
    /// The integer that stands for 0.
    pub zero: i32,
    /// The value of the float graph that this one stands for, if it is one.
    pub layer: Option<usize>,
}

/// What a node computes, as FORMAT.md defines it. Tensors: element (output, input) is `values[output + outputs·input]`.
#[derive(Debug, Clone, PartialEq)]
pub enum QuantOp {
    /// Bytes or i16 → i32; which of the two kinds follows from what is read.
    Affine {
        /// (m, n) of i8, or of i16 where i16 are read.
        weights: QuantTensor,
        /// (m, 1) of i32.
        bias: QuantTensor,
    },
    /// f32 → f32.
    AffineF32 {
        /// (m, n)
        weights: QuantTensor,
        /// (m, 1)
        bias: QuantTensor,
    },
    /// Sparse input → i32, or f32 with weights of f32.
    SparseAffine {
        /// (m, features)
        weights: QuantTensor,
        /// (m, 1)
        bias: QuantTensor,
    },
    /// Sparse input → (max_active · width,).
    SparseRows {
        /// (width, features)
        table: QuantTensor,
        /// Multiplier and shift of integers that are multiplied by their feature's value.
        requantisation: Option<(i32, u32)>,
    },
    /// Embeddings → (1,).
    FmTerm {
        /// Elements of one embedding.
        width: usize,
    },
    /// Embeddings → (width,).
    BiInteraction {
        /// Elements of one embedding.
        width: usize,
    },
    /// Embeddings → a product a pair.
    InnerProducts {
        /// Elements of one embedding.
        width: usize,
    },
    /// Two values of one element → one behind the other.
    Concat,
    /// Two of i32, or two of f32 → their sum.
    Add,
    /// i32 → narrower integers, or i32 of another unit.
    Requantise {
        /// (len,)
        multipliers: Vec<i32>,
        /// (len,)
        shifts: Vec<u8>,
        /// The least result.
        low: i32,
        /// The greatest.
        high: i32,
    },
    /// Bytes → bytes.
    Lookup {
        /// (256,) by the byte that is read.
        table: Vec<i32>,
    },
    /// The sparse input, integers or f32 → i32 (1,). Each tensor (trees, nodes), nodes in heap order.
    Trees {
        /// i32; −1 in a leaf.
        features: QuantTensor,
        /// i32, or f32 where f32 are read.
        thresholds: QuantTensor,
        /// i32.
        leaves: QuantTensor,
    },
    /// Integers → f32.
    ToF32 {
        /// The unit.
        factor: f32,
        /// The integer that becomes 0.
        zero: i32,
    },
    /// i32 → f32.
    Dequantise {
        /// The unit.
        factor: f32,
    },
    /// f32 → integers.
    Quantise {
        /// One over the unit.
        inverse: f32,
        /// The least result.
        low: i32,
        /// The greatest.
        high: i32,
    },
    /// f32 → f32.
    Activation(Activation),
    /// f32 → f32, times a constant.
    Scale(f32),
}

impl QuantGraph {
    /// The elements of a value.
    #[must_use]
    pub fn element(&self, value: usize) -> Element {
        match (value.checked_sub(1), self.input) {
            (Some(node), _) => self.nodes.get(node).map_or(Element::F32, |node| node.value.element),
            (None, QuantInput::Dense { element, .. }) => element,
            (None, QuantInput::Sparse { .. }) => Element::I16,
        }
    }

    /// The length of a value; of a sparse input `max_active`.
    #[must_use]
    pub fn len(&self, value: usize) -> usize {
        match (value.checked_sub(1), self.input) {
            (Some(node), _) => self.nodes.get(node).map_or(0, |node| node.value.len),
            (None, QuantInput::Dense { len, .. }) => len,
            (None, QuantInput::Sparse { max_active, .. }) => max_active,
        }
    }

    /// Whether there are no operations, which no network has.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The real value of a 1 in the output.
    #[must_use]
    pub fn output_unit(&self) -> f32 {
        self.nodes.last().and_then(|node| node.value.units.first()).copied().unwrap_or(1.0)
    }

    /// The tensors, in the order of the operations that read them.
    pub fn tensors(&self) -> impl Iterator<Item = &QuantTensor> {
        self.nodes.iter().flat_map(|node| node.op.tensors())
    }

    /// Bytes of all parameters, without what a file adds.
    #[must_use]
    pub fn parameter_len_bytes(&self) -> usize {
        let width = |tensor: &QuantTensor| match tensor.element {
            crate::arch::ElementType::I8 => 1,
            crate::arch::ElementType::I16 => 2,
            _ => 4,
        };
        let tensors: usize = self.tensors().map(|tensor| tensor.outputs * tensor.inputs * width(tensor)).sum();
        let vectors = self.nodes.iter().map(|node| match &node.op {
            QuantOp::Requantise { multipliers, .. } => 5 * multipliers.len(),
            QuantOp::Lookup { table } => table.len(),
            _ => 0,
        });
        tensors + vectors.sum::<usize>()
    }
}

impl QuantOp {
    /// The tensors that it reads.
    pub fn tensors(&self) -> impl Iterator<Item = &QuantTensor> {
        let (three, count) = match self {
            Self::Affine { weights, bias }
            | Self::AffineF32 { weights, bias }
            | Self::SparseAffine { weights, bias } => ([Some(weights), Some(bias), None], 2),
            Self::SparseRows { table, .. } => ([Some(table), None, None], 1),
            Self::Trees { features, thresholds, leaves } => ([Some(features), Some(thresholds), Some(leaves)], 3),
            _ => ([None; 3], 0),
        };
        three.into_iter().take(count).flatten()
    }

    /// The word in reports.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Affine { .. } => "affine",
            Self::AffineF32 { .. } => "affine-f32",
            Self::SparseAffine { .. } => "sparse-affine",
            Self::SparseRows { .. } => "sparse-rows",
            Self::FmTerm { .. } => "fm-term",
            Self::BiInteraction { .. } => "bi-interaction",
            Self::InnerProducts { .. } => "inner-products",
            Self::Concat => "concat",
            Self::Add => "add",
            Self::Requantise { .. } => "requantise",
            Self::Lookup { .. } => "lookup",
            Self::Trees { .. } => "trees",
            Self::ToF32 { .. } => "to-f32",
            Self::Dequantise { .. } => "dequantise",
            Self::Quantise { .. } => "quantise",
            Self::Activation(_) => "activation",
            Self::Scale(_) => "scale",
        }
    }
}

impl QuantValue {
    /// The unit of one element.
    #[must_use]
    pub fn unit(&self, element: usize) -> f64 {
        f64::from(self.units.get(element).or(self.units.first()).copied().unwrap_or(1.0))
    }
}
