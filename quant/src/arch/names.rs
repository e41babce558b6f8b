//! The words and sizes of the small types.

use super::types::{Activation, DenseType, ElementType, HeadDivision, Input, InputKind, PsqtOf, Rounding, Tail};

impl DenseType {
    /// The least and the greatest quantised input.
    #[must_use]
    pub const fn range(self) -> (i32, i32) {
        match self {
            Self::U7 => (0, 127),
            Self::I8 => (-127, 127),
        }
    }
}

impl Input {
    /// Whether the input is a list of feature indices.
    #[must_use]
    pub fn is_sparse(&self) -> bool {
        self.kind != InputKind::Dense
    }
}

impl Activation {
    /// The word for it in a description.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Relu => "relu",
            Self::Crelu => "crelu",
            Self::Screlu => "screlu",
            Self::Sqrrelu => "sqrrelu",
            Self::PairwiseCrelu => "pairwise-crelu",
            Self::DualCrelu => "dual-crelu",
            Self::HardSwish => "hard-swish",
            Self::Sigmoid => "sigmoid",
            Self::Swish => "swish",
        }
    }
}

impl ElementType {
    /// Least and greatest value of a stored integer type; everything for f32.
    #[must_use]
    pub const fn range(self) -> (i32, i32) {
        match self {
            Self::I8 => (i8::MIN as i32, i8::MAX as i32),
            Self::I16 => (i16::MIN as i32, i16::MAX as i32),
            Self::I32 | Self::F32 => (i32::MIN, i32::MAX),
        }
    }

    /// Bytes of one element.
    #[must_use]
    pub const fn len_bytes(self) -> usize {
        match self {
            Self::I8 => 1,
            Self::I16 => 2,
            Self::I32 | Self::F32 => 4,
        }
    }

    /// The word for it in a description.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::F32 => "f32",
        }
    }
}

impl HeadDivision {
    /// The word for it in a description.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Twice => "twice",
            Self::Once => "once",
            Self::Rounded => "rounded",
        }
    }
}

impl PsqtOf {
    /// What the side to move's values and the other's are multiplied by.
    #[must_use]
    pub const fn shares(self) -> (f64, f64) {
        match self {
            Self::Difference => (1.0, -1.0),
            Self::HalfDifference => (0.5, -0.5),
            Self::Own => (1.0, 0.0),
        }
    }

    /// The word for it in a description.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Difference => "difference",
            Self::HalfDifference => "half-difference",
            Self::Own => "own",
        }
    }
}

impl Rounding {
    /// The word for it in a description.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Nearest => "nearest",
            Self::Truncate => "truncate",
        }
    }
}

impl Tail {
    /// What is written over and over until the file's last block is full; nothing for [`Tail::None`].
    #[must_use]
    pub const fn letters(self) -> &'static [u8] {
        match self {
            Self::Bullet => b"bullet",
            Self::Zeros => b"\0",
            Self::None => b"",
        }
    }

    /// The word for it in a description.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Bullet => "bullet",
            Self::Zeros => "zeros",
            Self::None => "none",
        }
    }
}
