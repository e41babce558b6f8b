//! What can be wrong with a description, and with tensors that are put into one.

use crate::error_kind::ErrorKind;
use crate::graph::GraphError;
use thiserror::Error;

/// Why a description was refused. The message starts with the origin, usually a path, and, where known, the line.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{origin}{}: {cause}", crate::error_kind::at_line(*line))]
pub struct DescriptionError {
    /// Where the text came from.
    pub origin: String,
    /// Line, from 1; none of a description that did not come from text.
    pub line: Option<usize>,
    /// What is wrong there.
    pub cause: Box<Cause>,
}

/// What is wrong with a description.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Cause {
    /// Too long a text.
    #[error("{found} bytes are too many for a description (at most {limit}); is it the right file?")]
    TooLong {
        /// Its bytes.
        found: usize,
        /// The most that are read.
        limit: usize,
    },
    /// Not TOML, or a value of the wrong kind.
    #[error("{0}")]
    Syntax(String),
    /// A key that no description has.
    #[error("unknown key `{key}`; {advice}")]
    UnknownKey {
        /// The key, shortened and escaped.
        key: String,
        /// The nearest known one, or all of them.
        advice: String,
    },
    /// A word that is none of those allowed there.
    #[error("unknown value `{value}`; {advice}")]
    UnknownValue {
        /// The value, shortened and escaped.
        value: String,
        /// The nearest allowed one, or all of them.
        advice: String,
    },
    /// An operation of the field that is not supported.
    #[error("`{value}` is not supported; there are {known}")]
    UnsupportedValue {
        /// The operation.
        value: String,
        /// Those that are.
        known: String,
    },
    /// A description of layers of bullet, or another version.
    #[error("{found} is not the description of a graph that this version reads; it starts with `graph = 1`")]
    Version {
        /// What it says instead.
        found: String,
    },
    /// A key that is needed.
    #[error("{place} lacks the key `{key}`, which {owner} needs")]
    Missing {
        /// The table.
        place: String,
        /// The key.
        key: &'static str,
        /// The operation, or the kind of input.
        owner: &'static str,
    },
    /// A key that has no meaning there.
    #[error("{place}: `{key}` has no meaning for {owner}; leave it out")]
    Meaningless {
        /// The table.
        place: String,
        /// The key.
        key: &'static str,
        /// The operation, or the kind of input.
        owner: &'static str,
    },
    /// A name that cannot be written.
    #[error("{found:?} cannot be {what}: expected {expected}")]
    Name {
        /// The name, shortened.
        found: String,
        /// Whose name.
        what: &'static str,
        /// What is one.
        expected: &'static str,
    },
    /// A node that reads what is not there before it.
    #[error("node `{node}` reads `{found}`, which is no node before it; {advice}")]
    Reads {
        /// The node.
        node: String,
        /// What it reads.
        found: String,
        /// What there is.
        advice: String,
    },
    /// Two parts that want the same tensor.
    #[error("node `{node}`: the tensor `{tensor}` is used already; every tensor has one place")]
    TensorTwice {
        /// The second node.
        node: String,
        /// The tensor.
        tensor: String,
    },
    /// Elements counted channel by channel where no dense layer alone reads them.
    #[error(
        "node `{node}`: `order = \"channels-first\"` puts the columns of dense layers in order, and `{reader}` \
         is none; write a `transpose` with axes = [\"channels\", \"height\", \"width\"] before a `flatten` \
         without an order"
    )]
    ChannelsFirst {
        /// The node.
        node: String,
        /// What reads it.
        reader: String,
    },
    /// A number outside its range.
    #[error("{place}: `{key}` is {found}, expected {expected}")]
    Range {
        /// The table.
        place: String,
        /// The key.
        key: &'static str,
        /// The number.
        found: String,
        /// What is allowed.
        expected: String,
    },
    /// Nodes that do not fit together.
    #[error(transparent)]
    Graph(#[from] GraphError),
}

impl DescriptionError {
    /// [`ErrorKind::Unsupported`] for another version and for names that cannot be written, else
    /// [`ErrorKind::Malformed`].
    #[must_use]
    pub fn class(&self) -> ErrorKind {
        match (&*self.cause, self.line) {
            (Cause::Version { .. } | Cause::UnsupportedValue { .. }, _) | (Cause::Name { .. }, None) => {
                ErrorKind::Unsupported
            }
            _ => ErrorKind::Malformed,
        }
    }
}

/// Why tensors do not make the graph of a description: every tensor that does not fit, by name.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum TensorsError {
    /// Tensors that are missing, superfluous or of another shape.
    #[error("the tensors do not fit the description `{description}`:\n{}", problems.join("\n"))]
    Unfit {
        /// Name of the description.
        description: String,
        /// A line each.
        problems: Vec<String>,
    },
    /// Trees whose features are none.
    #[error("tensor `{tensor}`, index {index}: {found} is no feature; expected a whole number, or -1 in a leaf")]
    Feature {
        /// The tensor.
        tensor: String,
        /// Which element.
        index: usize,
        /// What it is.
        found: f64,
    },
    /// Numbers that make no network.
    #[error(transparent)]
    Graph(#[from] GraphError),
}

impl TensorsError {
    /// Always [`ErrorKind::Malformed`].
    #[must_use]
    pub fn class(&self) -> ErrorKind {
        ErrorKind::Malformed
    }
}
