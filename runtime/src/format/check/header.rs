//! The header: that this is a container of this version, whole and undamaged, with tables that fit.

use super::rules::{A, B, C, D, E, F, G, KNOWN_COUNT, Rule, words};
use super::{Checker, Kind, Refused};
use crate::format::{ALIGNMENT, BYTE_ORDER, Header, Model, VERSION, checksum};
use core::cell::Cell;
use core::mem::offset_of;

/// What the rules know at first: how the mark must read, the file's length, and that in whole blocks;
const MARK: i8 = A;
const LEN: i8 = B;
const WHOLE_BLOCKS: i8 = C;
/// the records that there are;
const OPS: i8 = D;
const VALUES: i8 = E;
const TENSORS: i8 = F;
const BLOCKS: i8 = G;
/// and then the checksum of the bytes.
const SUM_LOW: i8 = A;
const SUM_HIGH: i8 = B;

const CHECKSUM: usize = offset_of!(Header, checksum);

const fn count(offset_bytes: usize, found: i8) -> Rule {
    Rule::new(offset_bytes, found, 0, "header: a record count", "tables that fit the file")
}

/// What is read before anything else.
const START: [Rule; 5] = [
    Rule::new(offset_of!(Header, byte_order), MARK, 0, "", "").of(Kind::ByteOrder),
    Rule::new(offset_of!(Header, version), VERSION as i8, 0, "", "").of(Kind::Version),
    Rule::new(offset_of!(Header, required_flags), 0, 0, "", "").of(Kind::RequiredFlags),
    Rule::new(offset_of!(Header, len_bytes), LEN, 0, "", "").of(Kind::Length),
    Rule::new(offset_of!(Header, len_bytes), WHOLE_BLOCKS, 0, "header.len_bytes", "a multiple of 64"),
];
/// The rest, once all bytes are known to be those that were written.
const REST: [Rule; 7] = [
    Rule::new(CHECKSUM, SUM_LOW, 0, "", "").of(Kind::Checksum),
    Rule::new(CHECKSUM + 4, SUM_HIGH, 0, "", "").of(Kind::Checksum),
    count(offset_of!(Header, op_count), OPS),
    count(offset_of!(Header, value_count), VALUES),
    count(offset_of!(Header, tensor_count), TENSORS),
    count(offset_of!(Header, block_count), BLOCKS),
    Rule::new(offset_of!(Header, reserved), 0, 0, "header.reserved", "0"),
];

/// What the rules know at first: what [`START`] compares with, then the records that there are.
#[inline(always)]
pub(super) fn known(model: &Model<'_>) -> [Cell<u32>; KNOWN_COUNT] {
    let len = model.bytes().len();
    [
        Cell::new(BYTE_ORDER),
        // A file longer than a header can say has another length than it says, or is no multiple of 64.
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
        self.know(SUM_LOW, sum as u32);
        self.know(SUM_HIGH, (sum >> 32) as u32);
        self.rules(header, &REST)
    }
}
