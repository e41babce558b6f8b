//! The checked view of a container: after [`Model::parse`] nothing about the file can be wrong any more.

use super::{
    ALIGNMENT, BYTE_ORDER, BlockRecord, Header, InputRecord, Layout, MAGIC, NONE, OpRecord, ParseError, People,
    TensorRecord, VERSION, ValueRecord, check, checksum, element, feature_set,
};
use crate::built::MESSAGES;
use bytemuck::AnyBitPattern;

/// A parsed container. Borrowing the bytes, it is two dozen words, `Copy`, `Send` and `Sync`.
#[derive(Debug, Clone, Copy)]
pub struct Model<'a> {
    bytes: &'a [u8],
    header: &'a Header,
    input: &'a InputRecord,
    blocks: &'a [BlockRecord],
    tensors: &'a [TensorRecord],
    values: &'a [ValueRecord],
    ops: &'a [OpRecord],
}

impl<'a> Model<'a> {
    /// Checks everything and copies nothing: header, checksum, every record, every padding byte.
    ///
    /// `bytes` must start at a multiple of 64 in memory ([`crate::include_model!`] sees to it; a memory map has it).
    ///
    /// # Errors
    /// The first thing that is wrong, as a [`ParseError`].
    ///
    /// # Examples
    /// ```
    /// use tamis_runtime::format::{Model, ParseError};
    /// assert!(matches!(Model::parse(&[]), Err(ParseError::TooShort { .. } | ParseError::Misaligned { .. })));
    /// ```
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ParseError> {
        let fixed = size_of::<Header>() + size_of::<InputRecord>();
        if let Some(first) = bytes.first_chunk::<8>()
            && *first != MAGIC
        {
            return Err(ParseError::NotAContainer { found: *first });
        }
        if bytes.len() < fixed {
            return Err(ParseError::TooShort { found: bytes.len(), expected: fixed });
        }
        let remainder = bytes.as_ptr().addr() % ALIGNMENT;
        if remainder != 0 {
            return Err(ParseError::Misaligned { remainder });
        }
        let mut rest = bytes;
        let header: &Header = take(&mut rest, 1, bytes.len())?.first().ok_or(short(bytes, fixed))?;
        if header.byte_order != BYTE_ORDER {
            return Err(ParseError::ByteOrder { found: header.byte_order });
        }
        if header.version != VERSION {
            return Err(ParseError::Version { found: header.version, expected: VERSION });
        }
        if header.required_flags != 0 {
            return Err(ParseError::RequiredFlags { found: header.required_flags });
        }
        if header.len_bytes as usize != bytes.len() {
            return Err(ParseError::Length { found: bytes.len(), expected: header.len_bytes as usize });
        }
        if !bytes.len().is_multiple_of(ALIGNMENT) {
            return Err(ParseError::Field {
                place: word("header.len_bytes"),
                index: 0,
                found: bytes.len() as u64,
                expected: word("a multiple of 64"),
            });
        }
        let found = checksum(bytes);
        if found != header.checksum() {
            return Err(ParseError::Checksum { found, expected: header.checksum() });
        }
        let input: &InputRecord = take(&mut rest, 1, bytes.len())?.first().ok_or(short(bytes, fixed))?;
        let model = Self {
            bytes,
            header,
            input,
            blocks: take(&mut rest, header.block_count, bytes.len())?,
            tensors: take(&mut rest, header.tensor_count, bytes.len())?,
            values: take(&mut rest, header.value_count, bytes.len())?,
            ops: take(&mut rest, header.op_count, bytes.len())?,
        };
        check::check(&model, bytes.len() - rest.len())?;
        Ok(model)
    }

    /// The whole file.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The header.
    pub const fn header(&self) -> &'a Header {
        self.header
    }

    /// What goes in and what comes out.
    pub const fn input(&self) -> &'a InputRecord {
        self.input
    }

    /// The feature blocks; none for a dense network.
    pub const fn blocks(&self) -> &'a [BlockRecord] {
        self.blocks
    }

    /// The tensor records.
    pub const fn tensors(&self) -> &'a [TensorRecord] {
        self.tensors
    }

    /// The values that flow through the network; value 0 is the input.
    pub const fn values(&self) -> &'a [ValueRecord] {
        self.values
    }

    /// The operations in the order in which they run.
    pub const fn ops(&self) -> &'a [OpRecord] {
        self.ops
    }

    /// Scratch memory that one evaluation needs, in bytes.
    pub const fn workspace_len_bytes(&self) -> usize {
        self.header.workspace_len_bytes as usize
    }

    /// A tensor by its index; `None` for [`NONE`] or an index out of range.
    pub fn tensor(&self, index: u32) -> Option<Tensor<'a>> {
        if index == NONE {
            return None;
        }
        let record = self.tensors.get(index as usize)?;
        let start = record.offset_bytes as usize;
        let data = self.bytes.get(start..start.checked_add(record.len_bytes as usize)?)?;
        Some(Tensor { record, layout: Layout::from_code(record.layout)?, data })
    }

    /// The king bucket of every square, as a table of 64; `None` where the network has none.
    pub fn king_table(&self) -> Option<&'a [u8; feature_set::KING_TABLE_LEN]> {
        self.tensor(self.input.king_table)?.data.first_chunk()
    }

    /// The output bucket of every number of pieces, 0 to 32; `None` where the caller names the bucket.
    pub fn bucket_table(&self) -> Option<&'a [u8; feature_set::BUCKET_TABLE_LEN]> {
        self.tensor(self.input.bucket_table)?.data.first_chunk()
    }

    /// Decodes the people's section.
    ///
    /// # Errors
    /// [`ParseError::People`] if it is not canonical postcard.
    pub fn people(&self) -> Result<People<'a>, ParseError> {
        let start = self.header.people_offset_bytes as usize;
        let bytes = self.bytes.get(start..start + self.header.people_len_bytes as usize).unwrap_or(&[]);
        People::decode(bytes, start)
    }
}

/// A tensor's record and bytes.
#[derive(Debug, Clone, Copy)]
pub struct Tensor<'a> {
    /// Shape, element and claims.
    pub record: &'a TensorRecord,
    /// The order.
    pub layout: Layout,
    /// The elements, little-endian, all banks.
    pub data: &'a [u8],
}

impl<'a> Tensor<'a> {
    /// Distance between elements, see [`Layout`].
    pub const fn stride(&self) -> usize {
        self.record.stride as usize
    }

    /// The elements of one bank; a tensor that is not bucketed gives its only bank for every `bucket`. Empty if `T` is not
    /// of the element's size or the bucket does not exist.
    pub fn bank<T: AnyBitPattern>(&self, bucket: usize) -> &'a [T] {
        let all: &[T] = bytemuck::try_cast_slice(self.data).unwrap_or(&[]);
        let banks = self.record.banks as usize;
        if banks <= 1 {
            return all;
        }
        let len = all.len() / banks;
        bucket.checked_mul(len).and_then(|start| all.get(start..)?.get(..len)).unwrap_or(&[])
    }

    /// One row (`Rows` only) of the only bank, without padding: (cols,). Empty if `T` is not of the element's size or the row
    /// does not exist.
    pub fn row<T: AnyBitPattern>(&self, row: usize) -> &'a [T] {
        let start = row.checked_mul(self.stride());
        start.and_then(|start| self.bank(0).get(start..)?.get(..self.record.cols as usize)).unwrap_or(&[])
    }

    /// Size of an element in bytes.
    pub const fn element_len_bytes(&self) -> usize {
        match element::len_bytes(self.record.element as u32) {
            Some(len) => len,
            None => 1,
        }
    }
}

/// The next `count` records; an error if the file is too short for them.
fn take<'a, T: AnyBitPattern>(rest: &mut &'a [u8], count: u32, file_len: usize) -> Result<&'a [T], ParseError> {
    let refused = ParseError::Field {
        place: word("header: a record count"),
        index: 0,
        found: u64::from(count),
        expected: word("tables that fit the file"),
    };
    let len = (count as usize).checked_mul(size_of::<T>()).filter(|len| *len <= file_len).ok_or(refused)?;
    let (head, tail) = rest.split_at_checked(len).ok_or(refused)?;
    *rest = tail;
    bytemuck::try_cast_slice(head).map_err(|_| refused)
}

/// A word of an error, in a build that has them.
const fn word(word: &'static str) -> &'static str {
    if MESSAGES { word } else { "" }
}

fn short(bytes: &[u8], expected: usize) -> ParseError {
    ParseError::TooShort { found: bytes.len(), expected }
}
