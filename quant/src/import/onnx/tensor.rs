//! Tensors of a file as numbers.

use super::error::OnnxError;
use super::external;
use super::types::TensorProto;
use std::path::Path;

/// The most elements of a tensor that is made out of others; those of the file are bounded by its length.
pub(super) const MAX_LEN: usize = 1 << 24;

/// The most axes of a tensor, which is NumPy's limit, too.
pub(super) const MAX_RANK: usize = 32;

/// The type of a tensor's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    F32,
    U8,
    I8,
    U16,
    I16,
    I32,
    I64,
    Bool,
    F16,
    F64,
    U32,
    U64,
    Bf16,
    U4,
    I4,
}

impl Element {
    /// Of a code in the file: none for those that are not read.
    pub(super) const fn of_code(code: i64) -> Option<Self> {
        Some(match code {
            1 => Self::F32,
            2 => Self::U8,
            3 => Self::I8,
            4 => Self::U16,
            5 => Self::I16,
            6 => Self::I32,
            7 => Self::I64,
            9 => Self::Bool,
            10 => Self::F16,
            11 => Self::F64,
            12 => Self::U32,
            13 => Self::U64,
            16 => Self::Bf16,
            21 => Self::U4,
            22 => Self::I4,
            _ => return None,
        })
    }

    /// Bits of an element on disk.
    const fn bits(self) -> usize {
        match self {
            Self::U4 | Self::I4 => 4,
            Self::U8 | Self::I8 | Self::Bool => 8,
            Self::U16 | Self::I16 | Self::F16 | Self::Bf16 => 16,
            Self::F32 | Self::I32 | Self::U32 => 32,
            Self::I64 | Self::F64 | Self::U64 => 64,
        }
    }

    /// Bytes of so many elements; none if that is beyond what a machine can address.
    fn len_bytes(self, count: usize) -> Option<usize> {
        count.checked_mul(self.bits()).map(|bits| bits.div_ceil(8))
    }

    /// Whether it is a real number, not an integer.
    pub(super) const fn is_real(self) -> bool {
        matches!(self, Self::F32 | Self::F16 | Self::F64 | Self::Bf16)
    }

    /// The least and the greatest value of an integer of at most 32 bits.
    pub(super) const fn range(self) -> Option<(f64, f64)> {
        Some(match self {
            Self::U4 => (0.0, 15.0),
            Self::I4 => (-8.0, 7.0),
            Self::U8 => (0.0, 255.0),
            Self::I8 => (-128.0, 127.0),
            Self::U16 => (0.0, 65535.0),
            Self::I16 => (-32768.0, 32767.0),
            Self::I32 => (-2_147_483_648.0, 2_147_483_647.0),
            Self::U32 => (0.0, 4_294_967_295.0),
            _ => return None,
        })
    }

    /// The field of typed data that carries it.
    const fn typed_field(self) -> u32 {
        match self {
            Self::F32 => 4,
            Self::I64 => 7,
            Self::F64 => 10,
            Self::U32 | Self::U64 => 11,
            _ => 5,
        }
    }

    /// A number of `int32_data`, `int64_data` or `uint64_data`.
    fn of_int(self, int: i64) -> f64 {
        match self {
            Self::F16 => half(int as u16),
            Self::Bf16 => f32::from_bits(u32::from(int as u16) << 16).into(),
            Self::U64 => int.cast_unsigned() as f64,
            _ => int as f64,
        }
    }

    /// Little-endian elements; two of four bits a byte, the first the lower.
    fn decode(self, bytes: &[u8], count: usize) -> Vec<f64> {
        fn each<const N: usize>(bytes: &[u8], of: impl Fn([u8; N]) -> f64) -> Vec<f64> {
            bytes.as_chunks::<N>().0.iter().map(|chunk| of(*chunk)).collect()
        }
        let nibble = |index: usize| (bytes[index / 2] >> (4 * (index % 2))) & 15;
        match self {
            Self::F32 => each(bytes, |bytes| f32::from_le_bytes(bytes).into()),
            Self::F64 => each(bytes, f64::from_le_bytes),
            Self::F16 => each(bytes, |bytes| half(u16::from_le_bytes(bytes))),
            Self::Bf16 => each(bytes, |bytes| f32::from_bits(u32::from(u16::from_le_bytes(bytes)) << 16).into()),
            Self::U8 | Self::Bool => bytes.iter().map(|byte| f64::from(*byte)).collect(),
            Self::I8 => bytes.iter().map(|byte| f64::from(byte.cast_signed())).collect(),
            Self::U16 => each(bytes, |bytes| u16::from_le_bytes(bytes).into()),
            Self::I16 => each(bytes, |bytes| i16::from_le_bytes(bytes).into()),
            Self::I32 => each(bytes, |bytes| i32::from_le_bytes(bytes).into()),
            Self::U32 => each(bytes, |bytes| u32::from_le_bytes(bytes).into()),
            Self::I64 => each(bytes, |bytes| i64::from_le_bytes(bytes) as f64),
            Self::U64 => each(bytes, |bytes| u64::from_le_bytes(bytes) as f64),
            Self::U4 => (0..count).map(|index| f64::from(nibble(index))).collect(),
            Self::I4 => (0..count).map(|index| f64::from((nibble(index) << 4).cast_signed() >> 4)).collect(),
        }
    }
}

/// IEEE's number of 16 bits.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    }
}

/// A tensor whose numbers are known.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Literal {
    pub(super) dims: Vec<usize>,
    pub(super) element: Element,
    /// In row-major order. Integers beyond 2^53 are rounded, which only the ends of slices reach.
    pub(super) values: Vec<f64>,
}

impl Literal {
    /// A number without axes.
    pub(super) fn scalar(element: Element, value: f64) -> Self {
        Self { dims: Vec::new(), element, values: vec![value] }
    }

    /// A list.
    pub(super) fn list(element: Element, values: Vec<f64>) -> Self {
        Self { dims: vec![values.len()], element, values }
    }

    /// Its numbers as integers.
    pub(super) fn ints(&self) -> Vec<i64> {
        self.values.iter().map(|value| *value as i64).collect()
    }
}

impl TensorProto<'_> {
    fn fault(&self, found: impl Into<String>, expected: impl Into<String>) -> OnnxError {
        OnnxError::Tensor { tensor: self.name.to_owned(), found: found.into(), expected: expected.into() }
    }

    /// Its type, its shape and its length on disk, which agree with the data that the file itself has.
    pub(super) fn check(&self) -> Result<(Element, Vec<usize>, usize), OnnxError> {
        let element = Element::of_code(self.data_type).ok_or_else(|| match self.data_type {
            8 | 14 | 15 | 17..=20 | 23..=26 if !self.has_texts => {
                let what = format!("the type of elements with the code {}", self.data_type);
                OnnxError::Feature { place: format!("tensor `{}`", self.name), what }
            }
            8 => self.fault("texts", "numbers"),
            code => self.fault(format!("the code {code} as the type of its elements"), "one that ONNX has"),
        })?;
        if self.dims.len() > MAX_RANK {
            return Err(self.fault(format!("{} axes", self.dims.len()), format!("at most {MAX_RANK}")));
        }
        let dims: Result<Vec<usize>, _> = self.dims.iter().map(|dim| usize::try_from(*dim)).collect();
        let dims = dims.map_err(|_| self.fault(format!("dims {:?}", self.dims), "sizes of 0 or more"))?;
        let count = dims.iter().try_fold(1usize, |count, dim| count.checked_mul(*dim));
        let len_bytes = count.and_then(|count| element.len_bytes(count));
        let (Some(count), Some(len_bytes)) = (count, len_bytes) else {
            return Err(self.fault(format!("dims {:?}", self.dims), "elements that a machine can hold"));
        };
        let kinds = [self.raw.is_some(), !self.typed.is_empty(), self.has_texts, self.is_external];
        if kinds.iter().filter(|is_there| **is_there).count() > 1 {
            return Err(self.fault("data of two kinds", "raw, typed or external data, one of them"));
        }
        let expected = format!("{len_bytes} bytes of {count} elements");
        match self.raw {
            _ if self.is_external => {}
            Some(raw) if raw.len() != len_bytes => {
                return Err(self.fault(format!("{} bytes of data", raw.len()), expected));
            }
            Some(_) => {}
            None => {
                let mut found = 0;
                self.typed(element, |_| found += 1)?;
                // Two elements of four bits stand in one number.
                let numbers = if element.bits() == 4 { count.div_ceil(2) } else { count };
                if found != numbers {
                    return Err(self.fault(format!("{found} numbers of data"), format!("{numbers}")));
                }
            }
        }
        Ok((element, dims, len_bytes))
    }

    fn typed(&self, element: Element, mut each: impl FnMut(f64)) -> Result<(), OnnxError> {
        for field in &self.typed {
            if field.number != element.typed_field() {
                return Err(self.fault("typed data of another type", "that of its elements"));
            }
            let read = match field.number {
                4 => field.floats(|float| each(float.into())),
                10 => field.doubles(&mut each),
                _ => field.ints(|int| each(element.of_int(int))),
            };
            read.map_err(|error| error.within(&format!("initializer `{}`", self.name)))?;
        }
        Ok(())
    }

    /// Its numbers; `folder` is where external data may lie.
    pub(super) fn literal(&self, folder: Option<&Path>) -> Result<Literal, OnnxError> {
        let (element, dims, len_bytes) = self.check()?;
        let count = dims.iter().product();
        let values = if self.is_external {
            element.decode(&external::read(self, folder, len_bytes)?, count)
        } else if let Some(raw) = self.raw {
            element.decode(raw, count)
        } else {
            let mut values = Vec::new();
            self.typed(element, |value| values.push(value))?;
            if element.bits() == 4 {
                let bytes: Vec<u8> = values.iter().map(|value| *value as i64 as u8).collect();
                values = element.decode(&bytes, count);
            }
            values
        };
        Ok(Literal { dims, element, values })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_ieee() {
        for (bits, expected) in
            [(0x3C00, 1.0), (0xC000, -2.0), (0x7BFF, 65504.0), (0x0001, 2f64.powi(-24)), (0x0400, 2f64.powi(-14))]
        {
            assert_eq!(half(bits), expected);
        }
        assert!(half(0x7C01).is_nan() && half(0xFC00) == f64::NEG_INFINITY);
    }

    #[test]
    fn nibbles_come_lower_first() {
        assert_eq!(Element::U4.decode(&[0xF1, 0x02], 3), [1.0, 15.0, 2.0]);
        assert_eq!(Element::I4.decode(&[0xF8], 2), [-8.0, -1.0]);
    }
}
