//! What this build holds, a constant a feature of the crate.
//!
//! Features add, and none changes a result. Where one is left out, the loader refuses the files that need it and says
//! so; what would run them stands behind an `if` on its constant, so that the compiler takes it out.

/// Accumulators: networks of lists of features, and the operations 1, 2, 4, 35 and 36 of FORMAT.md.
pub(crate) const ACCUMULATORS: bool = cfg!(feature = "accumulators");
/// Reals: the operations 3, 6 to 10, 22 and 38.
pub(crate) const REALS: bool = cfg!(feature = "reals");
/// Sparse and real inputs, sets of features that are relations between pieces, and the operations 12 to 21, 23 to
/// 26, 34, 37 and 39.
pub(crate) const GENERAL: bool = cfg!(feature = "general");
/// Maps of features: values with pixels and zero points, and the operations 27, 29 and 30; convolutions of bytes whose
/// outputs see all channels or one.
pub(crate) const CONVOLUTIONS: bool = cfg!(feature = "convolutions");
/// What else works on them: convolutions in groups or of i16, and the operations 28 and 31 to 33.
pub(crate) const MAPS: bool = cfg!(feature = "maps");
/// Maps that are written over what they are made of. Of the two modules for pages the small one is without: it sends
/// what it refuses to the other, which has `general`.
pub(crate) const IN_PLACE: bool = CONVOLUTIONS && cfg!(any(not(target_arch = "wasm32"), feature = "general"));
/// Those of which a few rows lie in the workspace at a time.
pub(crate) const ROWS: bool = IN_PLACE && MAPS;
/// Whether the sum of two maps of one shape is a kernel, as on hosts. Elsewhere it has the loop of all operations that
/// go element by element: firmware and pages count their bytes.
pub(crate) const ADDS_MAPS: bool = CONVOLUTIONS && cfg!(short_ways);
/// Whether the kernels that round to bytes are asked to add zero points.
pub(crate) const HAS_ZEROS: bool = GENERAL || CONVOLUTIONS && cfg!(short_ways);
/// Whether the loader tells a kind of operation on maps from one that is not defined. Firmware without maps has other
/// uses for those bytes.
pub(crate) const TELLS_MAPS: bool = CONVOLUTIONS || !IS_SMALL;
/// What every build holds: dense layers of integers.
pub(crate) const ALWAYS: bool = true;
/// Whether that is all that it holds: two kinds of operations, AFFINE_I8 and REQUANTISE.
pub(crate) const IS_DENSE: bool = !ACCUMULATORS && !REALS && !GENERAL && !CONVOLUTIONS;
/// The operations of `general` that networks of maps need too.
pub(crate) const GENERAL_OR_MAPS: bool = GENERAL || MAPS;
/// The layers of `general` that convolutional networks end in, of sums of pixels; with `reals` also the activations,
/// softmax and its like.
pub(crate) const GENERAL_OR_CONVOLUTIONS: bool = GENERAL || CONVOLUTIONS;
/// The words of a [`crate::format::ParseError`].
#[cfg(test)]
pub(crate) const MESSAGES: bool = cfg!(feature = "messages");
/// Whether this is firmware, which counts its memory and has time: where another form is shorter or takes less memory
/// and gives the same, it is taken.
pub(crate) const IS_SMALL: bool = cfg!(target_os = "none");
/// Whether a tier that this build is for has a kernel of its own for bytes up to 127. Of the microcontrollers' only the
/// one with vectors has.
pub(crate) const TELLS_U7: bool = cfg!(any(not(microcontroller), cortex_m = "mve"));

/// A feature of this crate, by which programs that look into files say which build runs an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// None: every build runs it.
    Always,
    /// `accumulators`.
    Accumulators,
    /// `reals`.
    Reals,
    /// `convolutions`.
    Convolutions,
    /// `maps`.
    Maps,
    /// `general`.
    General,
}

impl Feature {
    /// Whether this build has it.
    #[must_use]
    pub const fn is_built(self) -> bool {
        match self {
            Self::Always => ALWAYS,
            Self::Accumulators => ACCUMULATORS,
            Self::Reals => REALS,
            Self::Convolutions => CONVOLUTIONS,
            Self::Maps => MAPS,
            Self::General => GENERAL,
        }
    }

    /// What a build without it is told.
    pub(crate) const fn asked_for(self) -> &'static str {
        match self {
            Self::Always => "every build of tamis-runtime has this",
            Self::Accumulators => "the network needs tamis-runtime's feature `accumulators`",
            Self::Reals => "the network needs tamis-runtime's feature `reals`",
            Self::Convolutions => "the network needs tamis-runtime's feature `convolutions`",
            Self::Maps => "the network needs tamis-runtime's feature `maps`",
            Self::General => "the network needs tamis-runtime's feature `general`",
        }
    }
}

/// Of each constant above the feature that adds least code among those with which it is true.
pub(crate) mod least {
    use super::Feature;

    pub const ALWAYS: Feature = Feature::Always;
    pub const ACCUMULATORS: Feature = Feature::Accumulators;
    pub const REALS: Feature = Feature::Reals;
    pub const CONVOLUTIONS: Feature = Feature::Convolutions;
    pub const MAPS: Feature = Feature::Maps;
    pub const GENERAL: Feature = Feature::General;
    pub const GENERAL_OR_CONVOLUTIONS: Feature = Feature::Convolutions;
    pub const GENERAL_OR_MAPS: Feature = Feature::Maps;
}
