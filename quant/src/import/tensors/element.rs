//! Elements of files as numbers.

use super::error::TensorFileError;
use crate::graph::description::Tensor;
use std::collections::BTreeMap;

/// Tensors by their names, with the types of their elements.
pub(crate) type TypedTensors = BTreeMap<String, (Tensor, Element)>;

/// The type of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Element {
    F64,
    F32,
    F16,
    Bf16,
    I64,
    I32,
    I16,
    I8,
    U64,
    U32,
    U16,
    U8,
    /// A byte that is 0 or 1; a real number, as all but bytes are.
    Bool,
}

impl Element {
    /// Bytes of one.
    pub(super) const fn len_bytes(self) -> usize {
        match self {
            Self::F64 | Self::I64 | Self::U64 => 8,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F16 | Self::Bf16 | Self::I16 | Self::U16 => 2,
            Self::I8 | Self::U8 | Self::Bool => 1,
        }
    }

    /// The numbers of a whole number of elements; `big_endian` says how they lie.
    pub(super) fn decode(self, bytes: &[u8], big_endian: bool) -> Result<Vec<f64>, TensorFileError> {
        let size = self.len_bytes();
        let mut values = Vec::with_capacity(bytes.len() / size);
        for (index, element) in bytes.chunks_exact(size).enumerate() {
            let mut word = [0; 8];
            word[..size].copy_from_slice(element);
            if big_endian {
                word[..size].reverse();
            }
            values.push(self.number(u64::from_le_bytes(word), index)?);
        }
        Ok(values)
    }

    /// The number in the low bytes of a word; what is above them is 0.
    #[expect(clippy::cast_possible_truncation, reason = "takes the low bytes")]
    fn number(self, word: u64, index: usize) -> Result<f64, TensorFileError> {
        const EXACT: i128 = 1 << f64::MANTISSA_DIGITS;
        let whole = |value: i128| {
            if value.abs() <= EXACT { Ok(value as f64) } else { Err(TensorFileError::NotExact { index, value }) }
        };
        Ok(match self {
            Self::F64 => f64::from_bits(word),
            Self::F32 => f32::from_bits(word as u32).into(),
            Self::F16 => half(word as u16),
            Self::Bf16 => f32::from_bits((word as u32) << 16).into(),
            Self::I64 => whole((word as i64).into())?,
            Self::U64 => whole(word.into())?,
            Self::I32 => (word as u32).cast_signed().into(),
            Self::I16 => (word as u16).cast_signed().into(),
            Self::I8 => (word as u8).cast_signed().into(),
            Self::U32 => (word as u32).into(),
            Self::U16 => (word as u16).into(),
            Self::U8 | Self::Bool => (word as u8).into(),
        })
    }
}

/// IEEE 754's binary16: sign, 5 bits of exponent, 10 of fraction.
pub(in crate::import) fn half(bits: u16) -> f64 {
    let fraction = f64::from(bits & 0x3FF);
    let magnitude = match (bits >> 10) & 0x1F {
        0 => fraction * 2f64.powi(-24),
        0x1F if fraction == 0.0 => f64::INFINITY,
        0x1F => f64::NAN,
        exponent => (1024.0 + fraction) * 2f64.powi(i32::from(exponent) - 25),
    };
    if bits & 0x8000 == 0 { magnitude } else { -magnitude }
}

#[cfg(test)]
mod tests {
    use super::{Element, half};

    #[test]
    fn halves_have_their_values() {
        for (bits, expected) in [
            (0x0000, 0.0),
            (0x0001, 5.960_464_477_539_063e-8),
            (0x03FF, 6.097_555_160_522_461e-5),
            (0x0400, 6.103_515_625e-5),
            (0x3C00, 1.0),
            (0x3555, 0.333_251_953_125),
            (0x7BFF, 65504.0),
            (0xC000, -2.0),
            (0x7C00, f64::INFINITY),
        ] {
            assert_eq!(half(bits), expected, "{bits:04x}");
        }
        assert!(half(0x7E00).is_nan() && half(0x8000).is_sign_negative());
    }

    #[test]
    fn elements_of_every_type_and_order() {
        let of = |element: Element, bytes: &[u8]| element.decode(bytes, false).unwrap();
        assert_eq!(of(Element::I8, &[0xFF, 1]), [-1.0, 1.0]);
        assert_eq!(of(Element::U8, &[0xFF]), [255.0]);
        assert_eq!(of(Element::I16, &[0xFE, 0xFF]), [-2.0]);
        assert_eq!(Element::I16.decode(&[0xFF, 0xFE], true).unwrap(), [-2.0]);
        assert_eq!(of(Element::I32, &(-3i32).to_le_bytes()), [-3.0]);
        assert_eq!(of(Element::U32, &u32::MAX.to_le_bytes()), [4_294_967_295.0]);
        assert_eq!(of(Element::I64, &(-(1i64 << 53)).to_le_bytes()), [-9_007_199_254_740_992.0]);
        assert_eq!(of(Element::Bf16, &[0x80, 0x3F]), [1.0]);
        assert_eq!(of(Element::F32, &0.1f32.to_le_bytes()), [f64::from(0.1f32)]);
        assert_eq!(Element::F64.decode(&0.1f64.to_be_bytes(), true).unwrap(), [0.1]);
        let error = Element::U64.decode(&u64::MAX.to_le_bytes(), false).unwrap_err();
        assert!(error.to_string().contains("18446744073709551615"), "{error}");
    }
}
