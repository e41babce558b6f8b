//! The header: that this is a container of this version, whole and undamaged, with tables that fit.

use super::refusal::Refusal;
use super::rules::{A, B, C, D, Rule, SUM_HIGH, SUM_LOW, Table};
use super::{Checker, Kind, Refused};
use crate::format::checksum::of_words;
use crate::format::{ALIGNMENT, BYTE_ORDER, Header, InputRecord, MAGIC, Model, ParseError, VERSION};
use crate::sure::sure;
use core::cell::Cell;
use core::mem::offset_of;

/// What the rules know at first: how the mark must read, the file's length, and that in whole blocks;
const MARK: i8 = A;
const LEN: i8 = B;
const WHOLE_BLOCKS: i8 = C;
/// a number of records that the file is too short for, or 0.
const EXCESS: i8 = D;

/// A header and an input record.
const SHORTEST: usize = size_of::<Header>() + size_of::<InputRecord>();
const CHECKSUM: usize = offset_of!(Header, checksum);

/// What is read before anything else.
pub(super) const START: [Rule; 5] = [
    Rule::new(offset_of!(Header, byte_order), MARK, 0, "", "").of(Kind::ByteOrder),
    Rule::new(offset_of!(Header, version), VERSION as i8, 0, "", "").of(Kind::Version),
    Rule::new(offset_of!(Header, required_flags), 0, 0, "", "").of(Kind::RequiredFlags),
    Rule::new(offset_of!(Header, len_bytes), LEN, 0, "", "").of(Kind::Length),
    Rule::new(offset_of!(Header, len_bytes), WHOLE_BLOCKS, 0, "header.len_bytes", "a multiple of 64"),
];
/// The rest, once all bytes are known to be those that were written.
pub(super) const REST: [Rule; 4] = [
    Rule::new(CHECKSUM, SUM_LOW, 0, "", "").of(Kind::Checksum),
    Rule::new(CHECKSUM + 4, SUM_HIGH, 0, "", "").of(Kind::Checksum),
    Rule::known(EXCESS, 0, 0, "header: a record count", "tables that fit the file"),
    Rule::new(offset_of!(Header, reserved), 0, 0, "header.reserved", "0"),
];

/// The words of a file that starts as a container does. Records and tensors are whole words, so that a rest shorter
/// than one belongs to none; the length is checked later.
#[inline(always)]
pub(in crate::format) fn words(file: &[u8]) -> Result<&[u32], ParseError> {
    if let Some(first) = file.first_chunk::<8>()
        // Byte by byte: firmware would have to link a comparison of memory.
        && !MAGIC.iter().zip(first).all(|(expected, found)| expected == found)
    {
        return Err(ParseError::NotAContainer { found: *first });
    }
    if file.len() < SHORTEST {
        return Err(ParseError::TooShort { found: file.len(), expected: SHORTEST });
    }
    let remainder = file.as_ptr().addr() % ALIGNMENT;
    let whole = sure(file.get(..file.len() & !3));
    match bytemuck::try_cast_slice(whole) {
        Ok(words) if remainder == 0 => Ok(words),
        _ => Err(ParseError::Misaligned { remainder }),
    }
}

impl<'a> Checker<'a> {
    /// Of a file of at least [`SHORTEST`] bytes, whose words these are.
    #[inline(always)]
    pub(super) fn new(words: &'a [u32], len: usize) -> Self {
        // A file longer than a header can say has another length than it says, or is no multiple of 64.
        let len = u32::try_from(len).unwrap_or(u32::MAX);
        Self {
            model: Model::unchecked(words),
            index: Cell::new(0),
            record: Cell::new(words),
            refusal: Refusal::none(),
            known: [
                Cell::new(BYTE_ORDER),
                Cell::new(len),
                Cell::new(len & !(ALIGNMENT as u32 - 1)),
                // Anything will do here, and what is at hand takes the least code.
                Cell::new(len),
                Cell::new(len),
                Cell::new(len),
                Cell::new(len),
            ],
        }
    }

    /// Reads the tables.
    #[inline(always)]
    pub(super) fn read_tables(&mut self) {
        let excess = self.model.read_tables();
        self.know(EXCESS, excess);
    }

    /// The checker has turned to the header.
    #[inline(never)]
    pub(super) fn header(&self) -> Result<(), Refused> {
        self.rules(Table::START)?;
        let sum = of_words(self.model.words());
        self.know(SUM_LOW, sum as u32);
        self.know(SUM_HIGH, (sum >> 32) as u32);
        self.rules(Table::REST)
    }
}
