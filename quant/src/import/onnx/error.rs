//! What can be wrong with an ONNX model, and what of it is not read.

use crate::error_kind::ErrorKind;
use crate::graph::GraphError;
use thiserror::Error;

/// Why an ONNX model was not read.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum OnnxError {
    /// Bytes that are no protobuf message, or not the one that stands there.
    #[error("{field}, byte {offset_bytes}: {what}")]
    Wire {
        /// The fields on the way to it, as `graph.node[3].attribute[0]`.
        field: String,
        /// Where, from the beginning of the file.
        offset_bytes: usize,
        /// What is wrong.
        what: &'static str,
    },
    /// Something that every model has.
    #[error("{what} is missing")]
    Missing {
        /// What.
        what: String,
    },
    /// Something that stands twice where it may stand once.
    #[error("{what} is there twice")]
    Twice {
        /// What, with its name.
        what: String,
    },
    /// Graphs inside graphs.
    #[error("graphs lie more than {limit} deep inside one another")]
    Nesting {
        /// The most.
        limit: usize,
    },
    /// A version of the operators that is not known.
    #[error("operator set {found}; {first} to {last} are read")]
    Opset {
        /// The version.
        found: i64,
        /// The oldest that is read.
        first: i64,
        /// The newest.
        last: i64,
    },
    /// Operators that are not ONNX's own.
    #[error("{node}: operators of the domain `{domain}` are not supported{instead}")]
    Domain {
        /// Which node.
        node: String,
        /// Whose operators they are.
        domain: String,
        /// What to do, behind a semicolon, where that is known.
        instead: &'static str,
    },
    /// An operator that is not supported.
    #[error("{node}: the operator {operator} is not supported")]
    Operator {
        /// Which node.
        node: String,
        /// Its operator.
        operator: String,
    },
    /// A form of a known operator, or of a tensor, that is not supported.
    #[error("{place}: {what} is not supported")]
    Feature {
        /// Which node, input or tensor.
        place: String,
        /// What.
        what: String,
    },
    /// An input whose size the file leaves open.
    #[error("the input `{input}` has no fixed size: axis {axis} is `{dimension}`; export the model with fixed sizes")]
    Dynamic {
        /// Of the input.
        input: String,
        /// Which axis.
        axis: usize,
        /// What it is called.
        dimension: String,
    },
    /// A batch whose examples are not worked on apart.
    #[error(
        "{node}: works on the {batch} examples of a batch together, which is not supported; export with a batch of 1"
    )]
    Batch {
        /// Which node.
        node: String,
        /// Examples.
        batch: usize,
    },
    /// A value that nothing makes.
    #[error("{reader} reads `{value}`, which nothing makes")]
    Undefined {
        /// Who reads it.
        reader: String,
        /// The value.
        value: String,
    },
    /// A value that is made behind where it is read, or by what reads it.
    #[error("{reader} reads `{value}`, which is made later; nodes stand in the order in which they run")]
    Later {
        /// Who reads it.
        reader: String,
        /// The value.
        value: String,
    },
    /// An attribute, or an input that says how, which cannot be.
    #[error("{node}: {attribute} is {found}, expected {expected}")]
    Attribute {
        /// Which node.
        node: String,
        /// Its name.
        attribute: String,
        /// What it is.
        found: String,
        /// What it has to be.
        expected: String,
    },
    /// A tensor that is not what its fields say.
    #[error("tensor `{tensor}`: {found}, expected {expected}")]
    Tensor {
        /// Its name.
        tensor: String,
        /// What it has.
        found: String,
        /// What it has to have.
        expected: String,
    },
    /// Data in another file.
    #[error("tensor `{tensor}`: external data `{location}`: {what}")]
    External {
        /// Its name.
        tensor: String,
        /// The file, as the model names it.
        location: String,
        /// What is wrong.
        what: String,
    },
    /// Values whose shapes do not fit.
    #[error("{node}: {found}, expected {expected}")]
    Shapes {
        /// Which node.
        node: String,
        /// What it reads.
        found: String,
        /// What it has to read.
        expected: String,
    },
    /// The graph that the model becomes.
    #[error(transparent)]
    Graph(#[from] GraphError),
}

impl OnnxError {
    /// Whose fault it is: [`ErrorKind::Unsupported`] for a sound model that is not read, else the file's.
    #[must_use]
    pub fn class(&self) -> ErrorKind {
        match self {
            Self::Opset { .. }
            | Self::Domain { .. }
            | Self::Operator { .. }
            | Self::Feature { .. }
            | Self::Dynamic { .. }
            | Self::Batch { .. } => ErrorKind::Unsupported,
            _ => ErrorKind::Malformed,
        }
    }

    /// The same, with the name of the field around it before that of its own.
    pub(super) fn within(self, outer: &str) -> Self {
        match self {
            Self::Wire { field, offset_bytes, what } if field.is_empty() => {
                Self::Wire { field: outer.to_owned(), offset_bytes, what }
            }
            Self::Wire { field, offset_bytes, what } => {
                Self::Wire { field: format!("{outer}.{field}"), offset_bytes, what }
            }
            other => other,
        }
    }
}
