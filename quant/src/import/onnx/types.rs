//! The messages of a model, as far as reading one needs them; texts and data stay where they are in the file.

use super::protobuf::Field;

/// ModelProto.
#[derive(Debug)]
pub(super) struct Model<'a> {
    /// Version of ONNX's own operators.
    pub(super) opset: i64,
    pub(super) graph: GraphProto<'a>,
    /// In place of those of the normalizations.
    pub(super) epsilon: Option<f64>,
}

/// GraphProto.
#[derive(Debug, Default)]
pub(super) struct GraphProto<'a> {
    pub(super) nodes: Vec<NodeProto<'a>>,
    pub(super) initializers: Vec<TensorProto<'a>>,
    pub(super) inputs: Vec<ValueInfo<'a>>,
    pub(super) outputs: Vec<ValueInfo<'a>>,
}

/// NodeProto.
#[derive(Debug, Default)]
pub(super) struct NodeProto<'a> {
    /// Its place among the nodes.
    pub(super) index: usize,
    pub(super) name: &'a str,
    pub(super) operator: &'a str,
    pub(super) domain: &'a str,
    /// An absent one has the empty name.
    pub(super) inputs: Vec<&'a str>,
    pub(super) outputs: Vec<&'a str>,
    pub(super) attributes: Vec<Attribute<'a>>,
}

impl NodeProto<'_> {
    /// What errors call it.
    pub(super) fn place(&self) -> String {
        let Self { index, operator, .. } = self;
        let name = if self.name.is_empty() { self.outputs.first().copied().unwrap_or("") } else { self.name };
        format!("node {index} `{name}` ({operator})")
    }
}

/// AttributeProto.
#[derive(Debug)]
pub(super) struct Attribute<'a> {
    pub(super) name: &'a str,
    pub(super) value: AttributeValue<'a>,
}

/// What an attribute holds.
#[derive(Debug)]
pub(super) enum AttributeValue<'a> {
    Float(f32),
    Int(i64),
    Text(&'a [u8]),
    Tensor(Box<TensorProto<'a>>),
    Floats(Vec<f32>),
    Ints(Vec<i64>),
    /// Graphs, lists of texts or tensors, sparse tensors, types.
    Other,
}

impl AttributeValue<'_> {
    /// Its type in words.
    pub(super) const fn word(&self) -> &'static str {
        match self {
            Self::Float(_) => "a real number",
            Self::Int(_) => "an integer",
            Self::Text(_) => "a text",
            Self::Tensor(_) => "a tensor",
            Self::Floats(_) => "a list of real numbers",
            Self::Ints(_) => "a list of integers",
            Self::Other => "a graph or a list of texts",
        }
    }
}

/// TensorProto.
#[derive(Debug, Default)]
pub(super) struct TensorProto<'a> {
    pub(super) name: &'a str,
    pub(super) dims: Vec<i64>,
    pub(super) data_type: i64,
    pub(super) raw: Option<&'a [u8]>,
    /// `float_data`, `int32_data`, `int64_data`, `double_data`, `uint64_data`, by their field numbers.
    pub(super) typed: Vec<Field<'a>>,
    pub(super) has_texts: bool,
    pub(super) is_external: bool,
    /// Keys and values.
    pub(super) external: Vec<(&'a str, &'a str)>,
}

/// ValueInfoProto.
#[derive(Debug, Default)]
pub(super) struct ValueInfo<'a> {
    pub(super) name: &'a str,
    /// Code of the type of its elements; 0 where none is said, or where it is no tensor.
    pub(super) data_type: i64,
    /// `None` where the shape is left open altogether.
    pub(super) dims: Option<Vec<Dimension<'a>>>,
}

/// One size of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dimension<'a> {
    Fixed(i64),
    /// Called something, or nothing.
    Open(&'a str),
}
