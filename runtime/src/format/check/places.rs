//! Places: every byte of the file belongs to a record, a tensor, the people's section or to padding that is zero.

use super::{Checker, Refused};
use crate::built::IS_SMALL;
use crate::format::records::{claim, element};
use crate::format::{ALIGNMENT, Layout, Tensor, TensorRecord, Words};

impl Checker<'_, '_> {
    /// Tensors follow the tables, the people's section follows the tensors, each at the next multiple of 64, and the gaps are zero.
    #[inline(never)]
    pub(super) fn places(&self, tables_end: usize) -> Result<(), Refused> {
        let header = self.model.header();
        self.need(header.reserved == 0, "header.reserved", header.reserved, "0")?;
        let mut end = tables_end;
        for (index, record) in self.model.tensors().iter().enumerate() {
            self.at(index);
            let start = self.next_place(end)?;
            let (offset, len) = (record.offset_bytes, record.len_bytes);
            self.need(offset as usize == start, "tensor.offset_bytes", offset, "the next free multiple of 64")?;
            self.shape(record)?;
            end = self.end("tensor.len_bytes", start, len, "a tensor that ends within the file")?;
            if let Some(tensor) = self.model.tensor(index as u32) {
                self.row_padding(&tensor)?;
            }
        }
        self.at(0);
        let start = self.next_place(end)?;
        let (offset, len) = (header.people_offset_bytes, header.people_len_bytes);
        self.need(offset as usize == start, "header.people_offset_bytes", offset, "the next free multiple of 64")?;
        end = self.end("header.people_len_bytes", start, len, "a section that ends within the file")?;
        let file_end = self.next_place(end)?;
        let all = file_end == self.model.bytes().len();
        self.need(all, "header.len_bytes", header.len_bytes, "no bytes behind the people's section")
    }

    /// The next multiple of 64, which the file reaches because its length is one; demands that the bytes up to it are zero.
    fn next_place(&self, end: usize) -> Result<usize, Refused> {
        let next = end.next_multiple_of(ALIGNMENT);
        self.blank(end, next)?;
        Ok(next)
    }

    /// The end of `len` bytes from `start`, which lies within the file.
    fn end(&self, place: &'static str, start: usize, len: u32, expected: &'static str) -> Result<usize, Refused> {
        let most = self.model.bytes().len().saturating_sub(start);
        self.need(len as usize <= most, place, len, expected)?;
        Ok(start + len as usize)
    }

    /// Demands that bytes are zero.
    #[inline(never)]
    fn blank(&self, start: usize, end: usize) -> Result<(), Refused> {
        let gap = self.model.bytes().get(start..end).unwrap_or(&[]);
        // A matrix may have a gap a row. They are zero in every file but a damaged one, so where vectors do it all of a gap is taken at
        // once, and a byte that is not zero is looked for only if there is one.
        if !IS_SMALL && gap.iter().fold(0, |any, byte| any | byte) == 0 {
            return Ok(());
        }
        for (at, byte) in gap.iter().enumerate() {
            if *byte != 0 {
                return Err(self.refuse(Words::new("", ""), (*byte).into(), "", start + at));
            }
        }
        Ok(())
    }

    /// Shape, layout, stride and length belong together.
    #[inline(never)]
    fn shape(&self, record: &TensorRecord) -> Result<(), Refused> {
        let code = u32::from(record.element);
        let size = element::len_bytes(code)
            .ok_or_else(|| self.fault("tensor.element", code, "1 u8, 2 i8, 3 i16, 4 i32 or 5 f32"))?;
        let layout = Layout::from_code(record.layout)
            .ok_or_else(|| self.fault("tensor.layout", record.layout.into(), "1 Rows or 2 K4"))?;
        let (banks, rows, cols) = (record.banks, record.rows as usize, record.cols as usize);
        let known = banks == 1 || (banks > 1 && banks == self.model.input().bucket_count);
        self.need(known, "tensor.banks", banks, "1 or the number of output buckets")?;
        self.need(rows > 0, "tensor.rows", record.rows, "at least 1")?;
        self.need(cols > 0, "tensor.cols", record.cols, "at least 1")?;
        let stride = record.stride as usize;
        let padded = layout.stride(rows, cols, size) == Some(stride);
        self.need(padded, "tensor.stride", record.stride, "the stride of this layout and shape")?;
        // What is too large for a number is too large for a file.
        let len = times(times(layout.bank_len(rows, cols, stride).unwrap_or(usize::MAX), banks as usize), size);
        let exact = len == record.len_bytes as usize;
        self.need(exact, "tensor.len_bytes", record.len_bytes, "banks · rows · stride · element size")?;
        self.need(record.claims & !claim::ALL == 0, "tensor.claims", record.claims, "only bits that are defined")
    }

    /// Padding within rows is zero, and f32 elements are finite.
    #[inline(never)]
    fn row_padding(&self, tensor: &Tensor<'_>) -> Result<(), Refused> {
        let record = tensor.record;
        if u32::from(record.element) == element::F32 {
            let (values, _) = tensor.data.as_chunks::<4>();
            // As with gaps: all at once, then one by one. By their bits, because builds without reals see such tensors, too.
            let finite = !IS_SMALL && values.iter().fold(true, |finite, value| finite & is_finite(value));
            if !finite && let Some(at) = values.iter().position(|value| !is_finite(value)) {
                let expected = "a finite number (found: the element's index)";
                return Err(self.fault("tensor: an f32 element", at as u32, expected));
            }
        }
        let (start, size) = (record.offset_bytes as usize, tensor.element_len_bytes());
        let (rows, cols, stride) = (record.rows as usize, record.cols as usize, tensor.stride());
        let banks = record.banks as usize;
        match tensor.layout {
            Layout::Rows => self.ends(start, banks * rows, cols * size, stride * size),
            Layout::K4 => {
                // The rows that are missing from each group of columns, and the columns that are missing from a bank's last group.
                let (group, groups) = (4 * stride * size, cols.div_ceil(4));
                self.ends(start, banks * groups, 4 * rows * size, group)?;
                let rest = cols - 4 * (groups - 1);
                for bank in 1..banks + 1 {
                    self.ends(start + (bank * groups - 1) * group, rows, rest * size, 4 * size)?;
                }
                Ok(())
            }
        }
    }

    /// Demands that of `count` lines of `len` bytes each is zero behind the first `used`.
    #[inline(never)]
    fn ends(&self, start: usize, count: usize, used: usize, len: usize) -> Result<(), Refused> {
        let mut start = start;
        // Most matrices have no gaps at all.
        let count = if used < len { count } else { 0 };
        for _ in 0..count {
            self.blank(start + used, start + len)?;
            start += len;
        }
        Ok(())
    }
}

/// Neither infinite nor no number: not all bits of the exponent are set.
fn is_finite(bytes: &[u8; 4]) -> bool {
    const EXPONENT: u32 = f32::INFINITY.to_bits();
    u32::from_le_bytes(*bytes) & EXPONENT != EXPONENT
}

#[inline(never)]
fn times(a: usize, b: usize) -> usize {
    a.saturating_mul(b)
}
