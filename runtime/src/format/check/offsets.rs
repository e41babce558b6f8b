//! Places: every byte of the file belongs to a record, a tensor, the metadata section or to padding that is zero.

use super::rules::{AT_MOST, PLACE, REST, Rule, Table};
use super::{Checker, Kind, Refused};
use crate::features::IS_SMALL;
use crate::format::{ALIGNMENT, Header, Words};
use crate::sure::sure;
use core::mem::offset_of;

/// Of the metadata section, and of what follows it.
pub(super) const METADATA: [Rule; 2] = [
    Rule::new(
        offset_of!(Header, metadata_offset_bytes),
        PLACE,
        0,
        "header.metadata_offset_bytes",
        "the next free multiple of 64",
    ),
    Rule::new(
        offset_of!(Header, metadata_len_bytes),
        REST,
        AT_MOST,
        "header.metadata_len_bytes",
        "a section that ends within the file",
    ),
];
pub(super) const END: [Rule; 1] =
    [Rule::new(offset_of!(Header, len_bytes), PLACE, 0, "header.len_bytes", "no bytes behind the metadata section")];

impl Checker<'_> {
    /// Tensors follow the tables, the metadata section follows the tensors, each at the next multiple of 64, and the
    /// gaps are zero.
    #[inline(never)]
    pub(super) fn places(&self) -> Result<(), Refused> {
        let model = &self.model;
        // They fit the file, and the operations are the last of them.
        let mut end = model.ops().as_ptr_range().end.addr() - model.bytes().as_ptr().addr();
        let mut index = 0;
        while let Some(record) = model.tensors().get(index) {
            self.turn(index, record);
            let start = self.next_place(end)?;
            self.tensor(record, start)?;
            end = start + record.len_bytes as usize;
            index = self.index.get() + 1;
        }
        self.turn_to_header();
        let start = self.next_place(end)?;
        self.rules(Table::METADATA)?;
        self.next_place(start + model.header().metadata_len_bytes as usize)?;
        self.rules(Table::END)
    }

    /// The next multiple of 64, which the file reaches because its length is one; demands that the bytes up to it are
    /// zero. The rules know it as [`PLACE`], and as [`REST`] how much of the file is left from there on.
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
        let gap = sure(self.model.bytes().get(start..end));
        // A matrix may have a gap a row. They are zero in every file but a damaged one, so where vectors do it all of a
        // gap is taken at once, and a byte that is not zero is looked for only if there is one.
        if !IS_SMALL && gap.iter().fold(0, |any, byte| any | byte) == 0 {
            return Ok(());
        }
        for (at, byte) in gap.iter().enumerate() {
            if *byte != 0 {
                self.index.set(start + at);
                return Err(self.refuse(Words::new("", ""), (*byte).into(), Kind::Padding));
            }
        }
        Ok(())
    }
}
