//! Why no order of the neurons is chosen.

use crate::arch::ElementType;
use crate::error_kind::ErrorKind;
use crate::float::EvalError;
use crate::program::Unsupported;
use crate::quantised::{NotAPermutation, QuantNet};

/// Why no order of the neurons is chosen.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PermuteError {
    /// The order makes no difference, or not only to the speed.
    #[error(
        "network `{network}`: {why}; neurons are worth another order only where i8 weights read pairwise-crelu \
         products, \
         four at a time"
    )]
    NoUse {
        /// The network's name.
        network: String,
        /// What its layers do instead.
        why: String,
    },
    /// Not one position to choose by and one to measure on.
    #[error("{found} positions; every second one chooses the order and the others measure it, so give at least 2")]
    TooFewPositions {
        /// How many there are.
        found: usize,
    },
    /// A position means nothing to the network.
    #[error("position {index}: {error}")]
    Position {
        /// Which of those given.
        index: usize,
        /// Why.
        error: EvalError,
    },
    /// The network is none that can be run.
    #[error("{0}")]
    Unsupported(#[from] Unsupported),
    /// The order that was chosen is none, which would be a mistake of this module.
    #[error("the order that was chosen is none: {0}; please report the network")]
    Order(#[from] NotAPermutation),
}

impl PermuteError {
    pub(super) fn no_use(net: &QuantNet) -> Self {
        let arch = &net.arch;
        let activation = arch.layers.first().map_or("nothing", |layer| layer.activation.word());
        let why = match arch.tensor(&arch.weights_name(1)) {
            Some(second) if second.r#type == ElementType::F32 => {
                format!("tensor `{}` is f32, whose sums would come out different in another order", second.name)
            }
            Some(second) if arch.input.is_sparse() => {
                let element = second.r#type.word();
                format!(
                    "tensor `{}` holds {element} weights behind {activation}, and every one is visited",
                    second.name
                )
            }
            _ => "it has no feature transformer with a layer behind it".to_owned(),
        };
        Self::NoUse { network: arch.name.clone(), why }
    }

    /// The class that decides the exit status.
    #[must_use]
    pub fn class(&self) -> ErrorKind {
        match self {
            Self::NoUse { .. } | Self::Order(_) => ErrorKind::Unsupported,
            Self::TooFewPositions { .. } => ErrorKind::Usage,
            Self::Position { error, .. } => error.class(),
            Self::Unsupported(error) => error.class(),
        }
    }
}
