//! What can be wrong with a `.nn` file, and where.

use thiserror::Error;

use crate::error_kind::ErrorKind;
use crate::graph::GraphError;

/// Why a file was not read. Offsets are bytes from its start.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum DataCodeError {
    /// Another beginning.
    #[error("begins with \"{found}\", expected \"DATACODE\"; is it a .nn file?")]
    Magic {
        /// The first bytes, escaped.
        found: String,
    },
    /// Another version.
    #[error("byte 8: version {found}, expected 1, the only one that there is")]
    Version {
        /// The version.
        found: u32,
    },
    /// Cut off.
    #[error("byte {offset_bytes}: {what} should have {needed} bytes, {left} are left; is the file cut off?")]
    Truncated {
        /// What is not whole.
        what: String,
        /// Where it starts.
        offset_bytes: usize,
        /// Its length.
        needed: u64,
        /// Bytes from there to the end.
        left: usize,
    },
    /// Too much JSON.
    #[error("byte 12: the JSON should have {found} bytes, at most {limit} are read; is the length right?")]
    JsonLength {
        /// The length.
        found: usize,
        /// The longest.
        limit: usize,
    },
    /// JSON that is none, or not what a network's is.
    #[error("the JSON, byte {offset_bytes}: {why}{}", if *is_cut { "; is its length, at byte 12, right?" } else { "" })]
    Json {
        /// Where.
        offset_bytes: usize,
        /// What is wrong.
        why: String,
        /// Whether the text ends too early or too late.
        is_cut: bool,
    },
    /// An empty list.
    #[error("the JSON lists no layers")]
    NoLayers,
    /// Only activations.
    #[error("none of the {layers} layers is a Linear, so that the network has no size")]
    NoLinear {
        /// How many layers there are.
        layers: usize,
    },
    /// A layer with a name of no letters or too many.
    #[error("layer {index}: its name has {found} bytes, expected 1 to {limit}")]
    LayerName {
        /// Position in the list, from 0.
        index: usize,
        /// Length of its name.
        found: usize,
        /// The longest.
        limit: usize,
    },
    /// A layer that does not say what it is.
    #[error("layer {index} (`{name}`) has no type")]
    NoType {
        /// Position in the list, from 0.
        index: usize,
        /// Its name.
        name: String,
    },
    /// A layer of a kind that DataCode does not write.
    #[error(
        "layer {index} (`{name}`) is a {found}, expected Linear, ReLU, Sigmoid, Tanh, Softmax or Flatten, which are \
         all that version 1 has"
    )]
    LayerType {
        /// Position in the list, from 0.
        index: usize,
        /// Its name.
        name: String,
        /// Its type.
        found: String,
    },
    /// A size that is none.
    #[error("layer {index} (`{name}`): {key} is {found}, expected a whole number above 0")]
    Features {
        /// Position in the list, from 0.
        index: usize,
        /// Its name.
        name: String,
        /// `in_features` or `out_features`.
        key: &'static str,
        /// What it is.
        found: String,
    },
    /// A Linear without a size.
    #[error(
        "layer {index} (`{name}`) is a Linear with {inputs} inputs and {outputs} outputs, which is how DataCode saves \
         a convolution; a convolution cannot be read back from it, not by DataCode either"
    )]
    Convolution {
        /// Position in the list, from 0.
        index: usize,
        /// Its name.
        name: String,
        /// `in_features`.
        inputs: usize,
        /// `out_features`.
        outputs: usize,
    },
    /// Two Linears of one name.
    #[error(
        "layer {index} is the second Linear with the name `{name}`, so that its tensors cannot be told from the first \
         one's"
    )]
    LinearName {
        /// Position in the list, from 0.
        index: usize,
        /// The name.
        name: String,
    },
    /// Too many tensors.
    #[error("{found} tensors, at most {limit} are read; is the number right?")]
    TensorCount {
        /// How many.
        found: usize,
        /// The most.
        limit: usize,
    },
    /// A name of no letters or too many.
    #[error("byte {offset_bytes}: the name of tensor {index} should have {found} bytes, expected 1 to {limit}")]
    NameLength {
        /// Which tensor, from 0.
        index: usize,
        /// Where the name starts.
        offset_bytes: usize,
        /// Its length.
        found: usize,
        /// The longest.
        limit: usize,
    },
    /// A name that is no text.
    #[error("byte {offset_bytes}: the name of tensor {index} is not UTF-8")]
    NameUtf8 {
        /// Which tensor, from 0.
        index: usize,
        /// Where the name starts.
        offset_bytes: usize,
    },
    /// No dimensions, or too many.
    #[error("byte {offset_bytes}: tensor `{name}` has {found} dimensions, expected 1 to {limit}")]
    Rank {
        /// Its name.
        name: String,
        /// Where the name starts.
        offset_bytes: usize,
        /// Number of dimensions.
        found: usize,
        /// The most.
        limit: usize,
    },
    /// Dimensions that no tensor has.
    #[error("byte {offset_bytes}: tensor `{name}` has the shape {found}: {why}")]
    Dimensions {
        /// Its name.
        name: String,
        /// Where the name starts.
        offset_bytes: usize,
        /// Its shape.
        found: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A tensor twice.
    #[error("byte {offset_bytes}: tensor {index} has the name `{name}`, which an earlier one has")]
    DuplicateTensor {
        /// The name.
        name: String,
        /// Which tensor is the second, from 0.
        index: usize,
        /// Where it starts.
        offset_bytes: usize,
    },
    /// Something behind the last tensor.
    #[error("byte {offset_bytes}: {count} bytes behind the last of {tensors} tensors, expected the end of the file")]
    Trailing {
        /// Where the last tensor ends.
        offset_bytes: usize,
        /// How many bytes follow.
        count: usize,
        /// How many tensors there are.
        tensors: usize,
    },
    /// A Linear without its tensor.
    #[error("tensor `{name}` is missing, the file has {present:?}")]
    MissingTensor {
        /// The name.
        name: String,
        /// The first few that are there.
        present: Vec<String>,
    },
    /// A tensor that no layer wants.
    #[error("byte {offset_bytes}: tensor `{name}` belongs to no Linear, expected <name of a Linear>.weight or .bias")]
    UnknownTensor {
        /// The name.
        name: String,
        /// Where its elements start.
        offset_bytes: usize,
    },
    /// A shape that is not the layer's.
    #[error("byte {offset_bytes}: tensor `{tensor}` has the shape {found}, expected {expected}")]
    Shape {
        /// The name.
        tensor: String,
        /// The shape.
        found: String,
        /// What the layer needs.
        expected: String,
        /// Where its elements start.
        offset_bytes: usize,
    },
    /// Layers that lie different ways round.
    #[error("the weights seem to be {first}, and {second}; give the orientation, out-in or in-out, if you know it")]
    Orientations {
        /// One orientation, and what speaks for it.
        first: String,
        /// The other.
        second: String,
    },
    /// A layer that reads more or less than the one before makes.
    #[error("layer `{name}` reads {found} elements, `{previous}` before it makes {expected}")]
    Chain {
        /// The layer.
        name: String,
        /// Its `in_features`.
        found: usize,
        /// The Linear before.
        previous: String,
        /// Its `out_features`.
        expected: usize,
    },
    /// NaN or an infinity.
    #[error("byte {offset_bytes}: element {index} of `{tensor}` is {value}; a trained network has finite numbers only")]
    NotFinite {
        /// The tensor.
        tensor: String,
        /// Which element, from 0.
        index: usize,
        /// Where it is.
        offset_bytes: usize,
        /// What it is.
        value: f32,
    },
    /// An activation was given for what is no one layer.
    #[error("{} activation layer is called `{name}`; the file has \
             {known:?}", if *is_ambiguous { "more than one" } else { "no" })]
    Override {
        /// The name that was given.
        name: String,
        /// Whether several layers have it.
        is_ambiguous: bool,
        /// The first few that there are.
        known: Vec<String>,
    },
    /// Layers that make no graph.
    #[error(transparent)]
    Graph(#[from] GraphError),
}

impl DataCodeError {
    /// [`ErrorKind::Usage`] for options that do not fit or would settle it, [`ErrorKind::Unsupported`] for
    /// convolutions, layers and versions that Tamis does not read, else [`ErrorKind::Malformed`].
    #[must_use]
    pub const fn class(&self) -> ErrorKind {
        match self {
            Self::Override { .. } | Self::Orientations { .. } => ErrorKind::Usage,
            Self::Convolution { .. } | Self::LayerType { .. } => ErrorKind::Unsupported,
            Self::Version { found } if *found > 1 => ErrorKind::Unsupported,
            _ => ErrorKind::Malformed,
        }
    }
}
