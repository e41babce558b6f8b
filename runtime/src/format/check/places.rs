//! Places: every byte of the file belongs to a record, a tensor, the people's section or to padding that is zero.

use super::rules::{PLACE, REST};
use super::{Checker, Kind, Refused};
use crate::built::IS_SMALL;
use crate::format::{ALIGNMENT, Header, InputRecord, Words};

impl Checker<'_, '_> {
    /// Tensors follow the tables, the people's section follows the tensors, each at the next multiple of 64, and the gaps are zero.
    pub(super) fn places(&self) -> Result<(), Refused> {
        let (model, header) = (self.model, self.model.header());
        // They fit the file.
        let mut end = size_of::<Header>()
            + size_of::<InputRecord>()
            + size_of_val(model.blocks())
            + size_of_val(model.tensors())
            + size_of_val(model.values())
            + size_of_val(model.ops());
        for (index, record) in model.tensors().iter().enumerate() {
            self.at(index);
            let start = self.next_place(end)?;
            self.tensor(record, start)?;
            end = start + record.len_bytes as usize;
        }
        self.at(0);
        let start = self.next_place(end)?;
        let (offset, len) = (header.people_offset_bytes as usize, header.people_len_bytes as usize);
        self.need(
            offset == start,
            "header.people_offset_bytes",
            header.people_offset_bytes,
            "the next free multiple of 64",
        )?;
        let most = model.bytes().len() - start;
        self.need(
            len <= most,
            "header.people_len_bytes",
            header.people_len_bytes,
            "a section that ends within the file",
        )?;
        end = start + len;
        let file_end = self.next_place(end)?;
        let all = file_end == model.bytes().len();
        self.need(all, "header.len_bytes", header.len_bytes, "no bytes behind the people's section")
    }

    /// The next multiple of 64, which the file reaches because its length is one; demands that the bytes up to it are zero. The rules
    /// know it as [`PLACE`], and as [`REST`] how much of the file is left from there on.
    #[inline(never)]
    fn next_place(&self, end: usize) -> Result<usize, Refused> {
        let next = (end + ALIGNMENT - 1) & !(ALIGNMENT - 1);
        self.know(PLACE, next as u32);
        self.know(REST, (self.model.bytes().len() - next) as u32);
        self.blank(end, next)?;
        Ok(next)
    }

    /// Demands that bytes are zero.
    #[inline(never)]
    pub(super) fn blank(&self, start: usize, end: usize) -> Result<(), Refused> {
        let gap = self.model.part(start, end - start);
        // A matrix may have a gap a row. They are zero in every file but a damaged one, so where vectors do it all of a gap is taken at
        // once, and a byte that is not zero is looked for only if there is one.
        if !IS_SMALL && gap.iter().fold(0, |any, byte| any | byte) == 0 {
            return Ok(());
        }
        for (at, byte) in gap.iter().enumerate() {
            if *byte != 0 {
                self.at(start + at);
                return Err(self.refuse(Words::new("", ""), (*byte).into(), Kind::Padding));
            }
        }
        Ok(())
    }
}
