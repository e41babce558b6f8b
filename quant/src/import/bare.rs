//! The trainer's own `quantised.bin`: perhaps a header, the tensors packed, perhaps a tail to a multiple of 64 bytes.
//!
//! [`BareNet`] keeps the integers as they are (in bullet's order, whatever the file's), so that a file can be carried
//! over without going through real numbers; [`BareNet::dequantise`] gives the real numbers that they stand for.

use super::assemble::{assemble, check_finite, floats};
use super::error::ImportError;
use super::explain::length_error;
use crate::arch::{Architecture, ElementType, FileForm, Tail};
use crate::float::Net;

/// A bare file, taken apart.
#[derive(Debug, Clone, PartialEq)]
pub struct BareNet {
    /// Its description.
    pub arch: Architecture,
    /// The bytes before the first tensor.
    pub header: Vec<u8>,
    /// The tensors in file order.
    pub tensors: Vec<BareTensor>,
}

/// A tensor of a bare file.
#[derive(Debug, Clone, PartialEq)]
pub struct BareTensor {
    /// Its name by the description.
    pub name: String,
    /// Number of rows.
    pub out: usize,
    /// Number of columns.
    pub inp: usize,
    /// Element (o, i) at `o + out·i`, also if the file has it transposed.
    pub values: BareValues,
}

/// The elements of a tensor.
#[derive(Debug, Clone, PartialEq)]
pub enum BareValues {
    /// i8, i16 or i32, widened.
    Int(Vec<i32>),
    /// f32, all finite.
    F32(Vec<f32>),
}

/// Takes a bare file apart.
///
/// # Errors
/// [`ImportError::Empty`], [`ImportError::Length`], [`ImportError::Magic`], [`ImportError::Tail`],
/// [`ImportError::NonFinite`].
pub fn read_bare(bytes: &[u8], arch: &Architecture) -> Result<BareNet, ImportError> {
    if bytes.is_empty() {
        return Err(ImportError::Empty);
    }
    if bytes.len() as u64 != arch.bare_len_bytes() {
        return Err(length_error(arch, FileForm::Bare, bytes.len() as u64));
    }
    let header = &bytes[..arch.file.header_len_bytes];
    if let Some(magic) = arch.file.header_magic.as_deref().filter(|magic| !header.starts_with(magic.as_bytes())) {
        let found = header.iter().take(magic.len()).flat_map(|byte| byte.escape_ascii()).map(char::from).collect();
        return Err(ImportError::Magic { found, expected: magic.to_owned() });
    }
    check_tail(bytes, arch)?;
    let mut tensors = Vec::with_capacity(arch.tensors.len());
    for (span, spec) in arch.spans(FileForm::Bare).into_iter().zip(&arch.tensors) {
        let (out, inp) = span.shape;
        let stored = &bytes[span.range()];
        let values = match span.element {
            ElementType::I8 => BareValues::Int(stored.iter().map(|&byte| i32::from(byte.cast_signed())).collect()),
            ElementType::I16 => BareValues::Int(
                stored.as_chunks().0.iter().map(|&chunk| i32::from(i16::from_le_bytes(chunk))).collect(),
            ),
            ElementType::I32 => {
                BareValues::Int(stored.as_chunks().0.iter().map(|&chunk| i32::from_le_bytes(chunk)).collect())
            }
            ElementType::F32 => BareValues::F32(floats(stored)),
        };
        let values = match values {
            values if !spec.transposed => values,
            BareValues::Int(values) => BareValues::Int(untransposed(&values, out, inp)),
            BareValues::F32(values) => BareValues::F32(untransposed(&values, out, inp)),
        };
        if let BareValues::F32(values) = &values {
            check_finite(&span.name, out, values)?;
        }
        tensors.push(BareTensor { name: span.name, out, inp, values });
    }
    Ok(BareNet { arch: arch.clone(), header: header.to_vec(), tensors })
}

impl BareNet {
    /// The tensor of this name.
    #[must_use]
    pub fn tensor(&self, name: &str) -> Option<&BareTensor> {
        self.tensors.iter().find(|tensor| tensor.name == name)
    }

    /// The real numbers that the integers stand for: each divided by its scale, rounded once, to f32.
    ///
    /// # Errors
    /// [`ImportError::NoScale`] for integers of a dense network, whose scales are not in the file.
    pub fn dequantise(&self) -> Result<Net<f32>, ImportError> {
        assemble(&self.arch, |name, _| match self.tensor(name).map(|tensor| &tensor.values) {
            Some(BareValues::F32(values)) => Ok(values.clone()),
            Some(BareValues::Int(values)) => {
                let spec = self.arch.tensor(name);
                let Some(scale) = spec.and_then(|spec| spec.scale) else {
                    let element = spec.map_or("an integer", |spec| spec.r#type.word());
                    return Err(ImportError::NoScale { tensor: name.to_owned(), element });
                };
                Ok(values.iter().map(|&value| (f64::from(value) / f64::from(scale)) as f32).collect())
            }
            None => Ok(Vec::new()),
        })
    }
}

/// From (for each output the inputs) to (for each input the outputs).
fn untransposed<T: Copy>(values: &[T], out: usize, inp: usize) -> Vec<T> {
    (0..inp).flat_map(|i| (0..out).map(move |o| values[inp * o + i])).collect()
}

/// The bytes after the last tensor are the tail that the description says.
fn check_tail(bytes: &[u8], arch: &Architecture) -> Result<(), ImportError> {
    let start_bytes = arch.bare_payload_end_bytes();
    // The file is as long as its description says, so that the payload ends within it.
    let tail = &bytes[start_bytes as usize..];
    let is = |kind: Tail| tail.iter().eq(kind.letters().iter().cycle().take(tail.len()));
    if is(arch.file.tail) {
        return Ok(());
    }
    let found = if is(Tail::Bullet) {
        "`bullet` letters".to_owned()
    } else if is(Tail::Zeros) {
        "zeros".to_owned()
    } else {
        let shown: String = tail.iter().take(16).flat_map(|byte| byte.escape_ascii()).map(char::from).collect();
        format!("\"{shown}\"{}", if tail.len() > 16 { "…" } else { "" })
    };
    Err(ImportError::Tail { start_bytes, end_bytes: bytes.len() as u64, found, expected: arch.file.tail.word() })
}

#[cfg(test)]
mod tests;
