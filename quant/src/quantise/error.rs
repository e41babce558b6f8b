//! Why a network cannot be quantised.

use crate::error_kind::ErrorKind;

/// Why a network cannot be quantised as its description says.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum QuantiseError {
    /// A value leaves the stored type.
    #[error(
        "tensor `{tensor}`, index {index} (output {output}, input {input}): {value} · {scale} = {product} leaves \
         {element} \
         ({low} to {high}), so |value| must stay below {limit:.6}{}; clip the weights in training, or lower the scale",
        more(*others)
    )]
    OutOfRange {
        /// Which tensor.
        tensor: String,
        /// Flat index in training order, `output + outputs·input`.
        index: usize,
        /// Row.
        output: usize,
        /// Column.
        input: usize,
        /// The real value.
        value: f32,
        /// The multiplier; of a dense layer the inverse of the channel's unit.
        scale: f64,
        /// value · scale.
        product: f64,
        /// The stored type's word.
        element: &'static str,
        /// Its least value.
        low: i32,
        /// Its greatest value.
        high: i32,
        /// The |value| below which everything fits.
        limit: f64,
        /// How many more do not fit.
        others: usize,
    },
    /// NaN or an infinity.
    #[error(
        "tensor `{tensor}`, index {index} (output {output}, input {input}): {value} is not a finite number; the \
         training diverged"
    )]
    NotFinite {
        /// Which tensor.
        tensor: String,
        /// Flat index in training order.
        index: usize,
        /// Row.
        output: usize,
        /// Column.
        input: usize,
        /// The value.
        value: f32,
    },
    /// An integer tensor without a multiplier.
    #[error("tensor `{tensor}` is an integer tensor without `scale`; give it one in the description")]
    NoScale {
        /// Which tensor.
        tensor: String,
    },
    /// A layer names a tensor that the description does not list.
    #[error("tensor `{tensor}` is not listed in the description")]
    NotDescribed {
        /// Which tensor.
        tensor: String,
    },
    /// A dense network, which has no integers of its own.
    #[error(
        "network `{network}`: a dense network has no bare form; `host-tools quantise` makes a container of its reals"
    )]
    Dense {
        /// The network.
        network: String,
    },
}

impl QuantiseError {
    /// The class that decides the exit status.
    pub fn class(&self) -> ErrorKind {
        match self {
            Self::OutOfRange { .. } | Self::NotFinite { .. } => ErrorKind::Malformed,
            Self::NoScale { .. } | Self::NotDescribed { .. } => ErrorKind::Malformed,
            Self::Dense { .. } => ErrorKind::Unsupported,
        }
    }
}

/// How many more values leave the type, if any do.
fn more(others: usize) -> String {
    match others {
        0 => String::new(),
        1 => "; one more value of this tensor leaves it too".to_owned(),
        others => format!("; {others} more values of this tensor leave it too"),
    }
}
