//! Where each tensor lies in the two forms of file that have no names in them.

use std::ops::Range;

use super::types::{Architecture, ElementType, Tail};

/// bullet fills the last block of a bare file, and Tamis keeps the rule.
const BLOCK_LEN_BYTES: u64 = 64;

/// A file whose layout is known from the description alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileForm {
    /// `raw.bin`: every tensor as f32, packed, nothing around them.
    Raw,
    /// The trainer's `quantised.bin`: header, tensors in their stored types, tail.
    Bare,
}

/// A tensor's place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorSpan {
    /// Name of the tensor.
    pub name: String,
    /// Shape (out, in).
    pub shape: (usize, usize),
    /// Type of an element *in this file*.
    pub element: ElementType,
    /// Offset of the first byte.
    pub start_bytes: u64,
    /// Offset after the last byte.
    pub end_bytes: u64,
}

impl TensorSpan {
    /// The bytes as a range; empty if the file could not be in memory.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        match (usize::try_from(self.start_bytes), usize::try_from(self.end_bytes)) {
            (Ok(start), Ok(end)) => start..end,
            _ => 0..0,
        }
    }
}

impl Architecture {
    /// The place of every tensor, in file order, without gaps.
    #[must_use]
    pub fn spans(&self, form: FileForm) -> Vec<TensorSpan> {
        let mut offset = match form {
            FileForm::Raw => 0,
            FileForm::Bare => self.file.header_len_bytes as u64,
        };
        let mut spans = Vec::with_capacity(self.tensors.len());
        for tensor in &self.tensors {
            let shape = self.tensor_shape(&tensor.name).unwrap_or((0, 0));
            let element = match form {
                FileForm::Raw => ElementType::F32,
                FileForm::Bare => tensor.r#type,
            };
            let values = (shape.0 as u64).saturating_mul(shape.1 as u64);
            let end = offset.saturating_add(values.saturating_mul(element.len_bytes() as u64));
            let name = tensor.name.clone();
            spans.push(TensorSpan { name, shape, element, start_bytes: offset, end_bytes: end });
            offset = end;
        }
        spans
    }

    /// Length of `raw.bin`.
    #[must_use]
    pub fn raw_len_bytes(&self) -> u64 {
        self.spans(FileForm::Raw).last().map_or(0, |last| last.end_bytes)
    }

    /// Length of the bare `quantised.bin`, header and tail included.
    #[must_use]
    pub fn bare_len_bytes(&self) -> u64 {
        let end = self.bare_payload_end_bytes();
        match self.file.tail {
            Tail::None => end,
            Tail::Bullet | Tail::Zeros => end.checked_next_multiple_of(BLOCK_LEN_BYTES).unwrap_or(end),
        }
    }

    /// Offset after the last tensor of the bare file, where the tail begins.
    #[must_use]
    pub fn bare_payload_end_bytes(&self) -> u64 {
        let header = self.file.header_len_bytes as u64;
        self.spans(FileForm::Bare).last().map_or(header, |last| last.end_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::FileForm;
    use crate::arch::Architecture;
    use crate::arch::check::tests::SMALL;

    #[test]
    fn spans_touch_and_the_tail_fills_a_block() {
        let architecture = Architecture::from_toml(SMALL, "x").unwrap();
        let spans = architecture.spans(FileForm::Bare);
        let places: Vec<_> = spans.iter().map(|span| (span.name.as_str(), span.start_bytes, span.end_bytes)).collect();
        assert_eq!(
            places,
            [("l0w", 0, 98_304), ("l0b", 98_304, 98_432), ("l1w", 98_432, 98_688), ("l1b", 98_688, 98_690)]
        );
        assert_eq!(architecture.bare_payload_end_bytes(), 98_690);
        assert_eq!(architecture.bare_len_bytes(), 98_752);
        assert_eq!(architecture.raw_len_bytes(), 2 * 98_690);

        let untailed = Architecture::from_toml(&format!("{SMALL}[file]\ntail = \"none\""), "x").unwrap();
        assert_eq!(untailed.bare_len_bytes(), 98_690);
        let headed = Architecture::from_toml(&format!("{SMALL}[file]\nheader_len_bytes = 63"), "x").unwrap();
        assert_eq!(headed.spans(FileForm::Bare)[0].start_bytes, 63);
        assert_eq!(headed.spans(FileForm::Raw)[0].start_bytes, 0);
        assert_eq!(headed.bare_len_bytes(), 98_816);
    }
}
