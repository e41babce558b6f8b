//! The words and sizes of the small types.

use super::types::{Activation, DenseType, ElementType, HeadDivision, Input, InputKind, Rounding, Tail};

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
        }
    }
}

impl ElementType {
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
