//! Places: every byte of the file belongs to a record, a tensor, the people's section or to padding that is zero.

use super::{Checker, Refused};
use crate::built::REALS;
use crate::format::records::{claim, element};
use crate::format::{ALIGNMENT, Layout, ParseError, Tensor, TensorRecord};

impl Checker<'_, '_> {
    /// Tensors follow the tables, the people's section follows the tensors, each at the next multiple of 64, and the gaps are zero.
    pub(super) fn places(&self, tables_end: usize) -> Result<(), Refused> {
        let header = self.model.header();
        self.need(header.reserved == 0, "header.reserved", header.reserved, "0");
        let mut end = tables_end;
        for (index, record) in self.model.tensors().iter().enumerate() {
            self.at(index);
            let start = self.next_place(end);
            let (offset, len) = (record.offset_bytes, record.len_bytes);
            self.need(offset as usize == start, "tensor.offset_bytes", offset, "the next free multiple of 64");
            self.shape(record)?;
            end = self.end("tensor.len_bytes", start, len, "a tensor that ends within the file");
            self.so_far()?;
            if let Some(tensor) = self.model.tensor(index as u32) {
                self.row_padding(&tensor);
            }
        }
        self.at(0);
        let start = self.next_place(end);
        let (offset, len) = (header.people_offset_bytes, header.people_len_bytes);
        self.need(offset as usize == start, "header.people_offset_bytes", offset, "the next free multiple of 64");
        end = self.end("header.people_len_bytes", start, len, "a section that ends within the file");
        let file_end = self.next_place(end);
        let all = file_end == self.model.bytes().len();
        self.need(all, "header.len_bytes", header.len_bytes, "no bytes behind the people's section");
        Ok(())
    }

    /// The next multiple of 64, which the file reaches because its length is one; demands that the bytes up to it are zero.
    fn next_place(&self, end: usize) -> usize {
        let next = end.next_multiple_of(ALIGNMENT);
        self.blank(end, next);
        next
    }

    /// The end of `len` bytes from `start`, which lies within the file; the file's if that is not long enough.
    fn end(&self, place: &'static str, start: usize, len: u32, expected: &'static str) -> usize {
        let most = self.model.bytes().len().saturating_sub(start);
        self.need(len as usize <= most, place, len, expected);
        start + most.min(len as usize)
    }

    /// Demands that bytes are zero.
    fn blank(&self, start: usize, end: usize) {
        let gap = self.model.bytes().get(start..end).unwrap_or(&[]);
        // A matrix may have a gap a row. They are zero in every file but a damaged one, so all of a gap is taken at once, and a byte
        // that is not zero is looked for only if there is one.
        if gap.iter().fold(0, |any, byte| any | byte) == 0 {
            return;
        }
        for (at, byte) in gap.iter().enumerate() {
            if *byte != 0 {
                let _ = self.note(ParseError::Padding { offset_bytes: start + at, found: *byte });
            }
        }
    }

    /// Shape, layout, stride and length belong together.
    fn shape(&self, record: &TensorRecord) -> Result<(), Refused> {
        let code = u32::from(record.element);
        let size = element::len_bytes(code)
            .ok_or_else(|| self.fault("tensor.element", code, "1 u8, 2 i8, 3 i16, 4 i32 or 5 f32"))?;
        if code == element::F32 && !REALS {
            return Err(self.missing("tensor.element", code, "reals"));
        }
        let layout = Layout::from_code(record.layout)
            .ok_or_else(|| self.fault("tensor.layout", record.layout.into(), "1 Rows or 2 K4"))?;
        let (banks, rows, cols) = (record.banks, record.rows as usize, record.cols as usize);
        let known = banks == 1 || (banks > 1 && banks == self.model.input().bucket_count);
        self.need(known, "tensor.banks", banks, "1 or the number of output buckets");
        self.need(rows > 0, "tensor.rows", record.rows, "at least 1");
        self.need(cols > 0, "tensor.cols", record.cols, "at least 1");
        let stride = record.stride as usize;
        let padded = layout.stride(rows, cols, size) == Some(stride);
        self.need(padded, "tensor.stride", record.stride, "the stride of this layout and shape");
        let len = layout.bank_len(rows, cols, stride).and_then(|len| len.checked_mul(banks as usize));
        let len = len.and_then(|len| len.checked_mul(size));
        let exact = len == Some(record.len_bytes as usize);
        self.need(exact, "tensor.len_bytes", record.len_bytes, "banks · rows · stride · element size");
        self.need(record.claims & !claim::ALL == 0, "tensor.claims", record.claims, "only bits that are defined");
        Ok(())
    }

    /// Padding within rows is zero, and f32 elements are finite.
    fn row_padding(&self, tensor: &Tensor<'_>) {
        let record = tensor.record;
        if REALS && u32::from(record.element) == element::F32 {
            let values: &[f32] = bytemuck::try_cast_slice(tensor.data).unwrap_or(&[]);
            // As with gaps: all at once, then one by one.
            let finite = values.iter().fold(true, |finite, value| finite & value.is_finite());
            if !finite && let Some(at) = values.iter().position(|value| !value.is_finite()) {
                let _ = self.fault("tensor: an f32 element", at as u32, "a finite number (found: the element's index)");
            }
        }
        let (start, size) = (record.offset_bytes as usize, tensor.element_len_bytes());
        let (rows, cols, stride) = (record.rows as usize, record.cols as usize, tensor.stride());
        match tensor.layout {
            Layout::Rows => {
                for row in 1..=if stride > cols { rows * record.banks as usize } else { 0 } {
                    let end = start + row * stride * size;
                    self.blank(end - (stride - cols) * size, end);
                }
            }
            Layout::K4 => {
                let bank_len = tensor.layout.bank_len(rows, cols, stride).unwrap_or(0);
                // Padding is at most three columns of every row, and at most three rows: a small part of a large matrix.
                let first_row = if cols.is_multiple_of(4) { rows } else { 0 };
                for bank in 0..record.banks as usize {
                    for row in first_row..stride {
                        let first_col = if row < rows { cols } else { 0 };
                        for col in first_col..cols.next_multiple_of(4) {
                            let at = start + (bank * bank_len + tensor.layout.offset(stride, row, col)) * size;
                            self.blank(at, at + size);
                        }
                    }
                }
            }
        }
    }
}
