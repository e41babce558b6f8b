//! Element types of values.

use serde::{Deserialize, Serialize};
use tamis_runtime::raw::element;

/// What the elements of a value are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Element {
    /// Unsigned byte.
    U8,
    /// Signed byte.
    I8,
    /// 16-bit integer.
    I16,
    /// 32-bit integer.
    I32,
    /// IEEE single.
    F32,
}

impl Element {
    /// The code in a file.
    #[must_use]
    pub const fn code(self) -> u32 {
        match self {
            Self::U8 => element::U8,
            Self::I8 => element::I8,
            Self::I16 => element::I16,
            Self::I32 => element::I32,
            Self::F32 => element::F32,
        }
    }

    /// The element of a code.
    #[must_use]
    pub const fn of_code(code: u32) -> Option<Self> {
        match code {
            element::U8 => Some(Self::U8),
            element::I8 => Some(Self::I8),
            element::I16 => Some(Self::I16),
            element::I32 => Some(Self::I32),
            element::F32 => Some(Self::F32),
            _ => None,
        }
    }

    /// The least and the greatest integer; of reals those of i32.
    #[must_use]
    pub const fn range(self) -> (i32, i32) {
        match self {
            Self::U8 => (0, u8::MAX as i32),
            Self::I8 => (i8::MIN as i32, i8::MAX as i32),
            Self::I16 => (i16::MIN as i32, i16::MAX as i32),
            Self::I32 | Self::F32 => (i32::MIN, i32::MAX),
        }
    }

    /// Bytes of one element.
    #[must_use]
    pub const fn len_bytes(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::I16 => 2,
            Self::I32 | Self::F32 => 4,
        }
    }

    /// The word in reports.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::F32 => "f32",
        }
    }
}
