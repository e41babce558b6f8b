//! Why a network cannot be fitted.

use crate::error_kind::ErrorKind;
use crate::float::EvalError;
use crate::program::Unsupported;

/// Why a network cannot be fitted to examples.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// Layers behind the accumulators of another kind, or several outputs.
    #[error(
        "fitting is for networks of one output with one layer of i16 behind accumulators, or a layer of i8 behind \
         pairwise-crelu and reals behind that, without piece-square values; leave --fit out"
    )]
    Head,
    /// Numbers where lists of features are expected.
    #[error("the example is a list of numbers, the network expects features")]
    NotSparse,
    /// Too few to fit to.
    #[error("{found} positions; fitting takes at least {least}, half of which are held out", least = Self::LEAST)]
    TooFew {
        /// How many there are.
        found: usize,
    },
    /// Features beyond what is counted.
    #[error("the positions have 2^32 features or more together; give fewer with --fit-limit")]
    TooMany,
    /// Nothing was found that the proof allows.
    #[error("no fitted weights were found that the overflow proof allows; leave --fit out, or choose smaller scales")]
    Unproved,
    /// An example that does not fit.
    #[error(transparent)]
    Example(#[from] EvalError),
    /// The network has no operations.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
}

impl FitError {
    /// Examples that there have to be.
    pub const LEAST: usize = 1000;

    /// The class that decides the exit status.
    #[must_use]
    pub fn class(&self) -> ErrorKind {
        match self {
            Self::Head => ErrorKind::Unsupported,
            Self::TooFew { .. } | Self::TooMany | Self::Unproved | Self::NotSparse => ErrorKind::Usage,
            Self::Example(error) => error.class(),
            Self::Unsupported(error) => error.class(),
        }
    }
}
