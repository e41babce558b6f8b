//! What `rowType` says: the numbers of a matrix, whether it is dense, how wide its column ids are.

use super::error::AngelError;

/// A type of rows: `7 · value + storage` in `_meta`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowType {
    /// The numbers.
    pub value: ValueType,
    /// Whether every column is stored; else only those that were set, and the others are 0.
    pub dense: bool,
    /// Whether a column id is 64 bits wide; else 32.
    pub long_keys: bool,
}

/// A type of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueType {
    /// f64
    Double,
    /// f32
    Float,
    /// i64
    Long,
    /// i32
    Int,
}

impl RowType {
    /// The type behind an id.
    ///
    /// # Errors
    /// [`AngelError::ObjectRows`] for matrices of objects, [`AngelError::Field`] for what is no id.
    pub fn from_id(id: i64) -> Result<Self, AngelError> {
        const VALUES: [ValueType; 4] = [ValueType::Double, ValueType::Float, ValueType::Long, ValueType::Int];
        // Dense, dense in components, dense in components with long keys, and four sparse ones.
        const STORAGES: [(bool, bool); 7] =
            [(true, false), (true, false), (true, true), (false, false), (false, false), (false, true), (false, true)];
        match id {
            0..=27 => {
                let (dense, long_keys) = STORAGES[(id % 7) as usize];
                Ok(Self { value: VALUES[(id / 7) as usize], dense, long_keys })
            }
            28..=32 => Err(AngelError::ObjectRows { found: id }),
            _ => Err(AngelError::Field {
                field: "rowType".to_owned(),
                found: id.to_string(),
                expected: "0 to 27".to_owned(),
            }),
        }
    }

    /// Bytes of a column id.
    #[must_use]
    pub const fn key_len_bytes(self) -> usize {
        if self.long_keys { 8 } else { 4 }
    }

    /// The type of a column id, in words.
    #[must_use]
    pub const fn key_words(self) -> &'static str {
        if self.long_keys { "i64" } else { "i32" }
    }
}

impl ValueType {
    /// Bytes of a value.
    #[must_use]
    pub const fn len_bytes(self) -> usize {
        match self {
            Self::Double | Self::Long => 8,
            Self::Float | Self::Int => 4,
        }
    }

    /// The type in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Double => "f64",
            Self::Float => "f32",
            Self::Long => "i64",
            Self::Int => "i32",
        }
    }

    /// Whether its numbers are whole.
    #[must_use]
    pub const fn is_whole(self) -> bool {
        matches!(self, Self::Long | Self::Int)
    }
}

/// A number as it is kept: every f32 is an f64, every i32 an i64.
pub(super) trait Element: Copy {
    /// The first bytes of `bytes`, high byte first, as a number of the type.
    fn from_bytes(bytes: &[u8], value: ValueType) -> Self;
    /// What Java printed, read with the width of the type.
    fn from_text(text: &str, value: ValueType) -> Option<Self>;
    /// Whether it is neither NaN nor an infinity, and its text.
    fn finite(self) -> Result<Self, String>;
}

/// The first N bytes; zeros behind the end of a shorter slice, which no caller hands in.
pub(super) fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.first_chunk().copied().unwrap_or([0; N])
}

impl Element for f64 {
    fn from_bytes(bytes: &[u8], value: ValueType) -> Self {
        match value {
            ValueType::Float => f32::from_be_bytes(first(bytes)).into(),
            _ => Self::from_be_bytes(first(bytes)),
        }
    }

    fn from_text(text: &str, value: ValueType) -> Option<Self> {
        match value {
            ValueType::Float => text.parse::<f32>().ok().map(Self::from),
            _ => text.parse().ok(),
        }
    }

    fn finite(self) -> Result<Self, String> {
        if self.is_finite() { Ok(self) } else { Err(self.to_string()) }
    }
}

impl Element for i64 {
    fn from_bytes(bytes: &[u8], value: ValueType) -> Self {
        match value {
            ValueType::Int => i32::from_be_bytes(first(bytes)).into(),
            _ => Self::from_be_bytes(first(bytes)),
        }
    }

    fn from_text(text: &str, value: ValueType) -> Option<Self> {
        match value {
            ValueType::Int => text.parse::<i32>().ok().map(Self::from),
            _ => text.parse().ok(),
        }
    }

    fn finite(self) -> Result<Self, String> {
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_seven_storages_of_four_types() {
        let of = |id| RowType::from_id(id).unwrap();
        assert_eq!(of(0), RowType { value: ValueType::Double, dense: true, long_keys: false });
        assert_eq!(of(9), RowType { value: ValueType::Float, dense: true, long_keys: true });
        assert_eq!(of(17), RowType { value: ValueType::Long, dense: false, long_keys: false });
        assert_eq!(of(27), RowType { value: ValueType::Int, dense: false, long_keys: true });
        assert!(matches!(RowType::from_id(28).unwrap_err(), AngelError::ObjectRows { found: 28 }));
        for id in [-1, 33, i64::MAX] {
            assert!(matches!(RowType::from_id(id).unwrap_err(), AngelError::Field { .. }), "{id}");
        }
    }

    #[test]
    fn text_has_the_width_of_the_type() {
        assert_eq!(f64::from_text("0.1", ValueType::Float), Some(f64::from(0.1_f32)));
        assert_eq!(f64::from_text("1.4E-45", ValueType::Float), Some(f64::from(f32::from_bits(1))));
        assert_eq!(f64::from_text("0.1", ValueType::Double), Some(0.1));
        assert!(f64::from_text("1e39", ValueType::Float).unwrap().finite().is_err());
        assert_eq!(i64::from_text("2147483648", ValueType::Int), None);
        assert_eq!(i64::from_text("-9223372036854775808", ValueType::Long), Some(i64::MIN));
    }
}
