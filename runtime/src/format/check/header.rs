//! The header: that this is a container of this version, whole and undamaged, with tables that fit.

use super::rules::{A, B, C, D, E, F, G, KNOWN_COUNT, Rule, words};
use super::{Checker, Kind, Refused};
use crate::format::{ALIGNMENT, BYTE_ORDER, Header, Model, VERSION, checksum};
use core::cell::Cell;
use core::mem::offset_of;

const CHECKSUM: usize = offset_of!(Header, checksum);

/// What is read before anything else.
const START: [Rule; 5] = [
    Rule::new(offset_of!(Header, byte_order), A, 0, "", "").of(Kind::ByteOrder),
    Rule::new(offset_of!(Header, version), VERSION as i8, 0, "", "").of(Kind::Version),
    Rule::new(offset_of!(Header, required_flags), 0, 0, "", "").of(Kind::RequiredFlags),
    Rule::new(offset_of!(Header, len_bytes), B, 0, "", "").of(Kind::Length),
    Rule::new(offset_of!(Header, len_bytes), C, 0, "header.len_bytes", "a multiple of 64"),
];
const fn count(offset_bytes: usize, found: i8) -> Rule {
    Rule::new(offset_bytes, found, 0, "header: a record count", "tables that fit the file")
}
/// The rest, once all bytes are known to be those that were written.
const REST: [Rule; 7] = [
    Rule::new(CHECKSUM, A, 0, "", "").of(Kind::Checksum),
    Rule::new(CHECKSUM + 4, B, 0, "", "").of(Kind::Checksum),
    count(offset_of!(Header, op_count), D),
    count(offset_of!(Header, value_count), E),
    count(offset_of!(Header, tensor_count), F),
    count(offset_of!(Header, block_count), G),
    Rule::new(offset_of!(Header, reserved), 0, 0, "header.reserved", "0"),
];

/// What the rules know at first: what [`START`] compares with, then the records that there are.
#[inline(always)]
pub(super) fn known(model: &Model<'_>) -> [Cell<u32>; KNOWN_COUNT] {
    let len = model.bytes().len();
    [
        Cell::new(BYTE_ORDER),
        // More than a header can say is more than any header says.
        Cell::new(u32::try_from(len).unwrap_or(u32::MAX)),
        Cell::new((len & !(ALIGNMENT - 1)) as u32),
        Cell::new(model.ops().len() as u32),
        Cell::new(model.values().len() as u32),
        Cell::new(model.tensors().len() as u32),
        Cell::new(model.blocks().len() as u32),
        Cell::new(0),
        Cell::new(0),
    ]
}

impl Checker<'_, '_> {
    pub(super) fn header(&self) -> Result<(), Refused> {
        let header = words(self.model.header());
        self.rules(header, &START)?;
        let sum = checksum(self.model.bytes());
        self.know(A, sum as u32);
        self.know(B, (sum >> 32) as u32);
        self.rules(header, &REST)
    }
}
