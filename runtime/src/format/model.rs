//! The checked view of a container: after [`Model::parse`] nothing about the file can be wrong any more.

use super::identity::{Identity, Load};
use super::{BlockRecord, Header, InputRecord, Layout, OpRecord, TensorRecord, ValueRecord, element, feature_set};
use bytemuck::{AnyBitPattern, Pod, Zeroable, must_cast_ref, must_cast_slice};

/// A parsed container. Borrowing the file, it is twelve words, `Copy`, `Send` and `Sync`.
#[derive(Debug, Clone, Copy)]
pub struct Model<'a> {
    /// The whole file. All that is in it is made of words.
    words: &'a [u32],
    start: &'a FileStart,
    blocks: &'a [BlockRecord],
    tensors: &'a [TensorRecord],
    values: &'a [ValueRecord],
    ops: &'a [OpRecord],
    load: Load,
}

/// What every file starts with.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct FileStart {
    header: Header,
    input: InputRecord,
}

/// The words of a [`FileStart`].
const START_LEN: usize = size_of::<FileStart>() / 4;

impl<'a> Model<'a> {
    /// The header and the input; the tables are still empty.
    #[inline(always)]
    pub(super) fn unchecked(words: &'a [u32]) -> Self {
        let start = must_cast_ref(words.first_chunk().unwrap_or(&[0; START_LEN]));
        Self { words, start, blocks: &[], tensors: &[], values: &[], ops: &[], load: Load::next() }
    }

    /// The tables by the counts in the header. One that the file is too short for stays empty; the last count of such a
    /// one comes back, or 0.
    #[inline(never)]
    pub(super) fn read_tables(&mut self) -> u32 {
        let (_, rest) = self.words.split_at(START_LEN.min(self.words.len()));
        let (mut tables, header) = (Tables { rest, excess: 0 }, &self.start.header);
        self.blocks = must_cast_slice(tables.take::<8>(header.block_count));
        self.tensors = must_cast_slice(tables.take::<8>(header.tensor_count));
        self.values = must_cast_slice(tables.take::<4>(header.value_count));
        self.ops = must_cast_slice(tables.take::<16>(header.op_count));
        tables.excess
    }

    /// The whole file.
    pub const fn bytes(&self) -> &'a [u8] {
        must_cast_slice(self.words)
    }

    /// The whole file as words.
    pub(super) const fn words(&self) -> &'a [u32] {
        self.words
    }

    /// The header.
    pub const fn header(&self) -> &'a Header {
        &self.start.header
    }

    /// What tells this model from every other that the program loads; its copies share it.
    pub const fn identity(&self) -> Identity {
        Identity::new(self.header().checksum(), self.load)
    }

    /// What goes in and what comes out.
    pub const fn input(&self) -> &'a InputRecord {
        &self.start.input
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
        self.header().workspace_len_bytes as usize
    }

    /// A tensor by its index; `None` for `raw::NONE` or an index out of range.
    pub fn tensor(&self, index: u32) -> Option<Tensor<'a>> {
        // No file has so many that one is numbered NONE.
        let record = self.tensors.get(index as usize)?;
        let data = self.part(record.offset_bytes as usize, record.len_bytes as usize);
        Some(Tensor { record, layout: Layout::from_code(record.layout)?, data })
    }

    /// The elements of a tensor; none of one that does not exist.
    #[inline(never)]
    pub(super) fn data(&self, index: u32) -> &'a [u8] {
        let Some(tensor) = self.tensors.get(index as usize) else { return &[] };
        self.part(tensor.offset_bytes as usize, tensor.len_bytes as usize)
    }

    /// Bytes of the file; none if it has not so many.
    #[inline(always)]
    pub(super) fn part(&self, start: usize, len: usize) -> &'a [u8] {
        part(self.bytes(), start, len)
    }

    /// The king bucket of every square, as a table of 64; `None` where the network has none.
    pub fn king_table(&self) -> Option<&'a [u8; feature_set::KING_TABLE_LEN]> {
        self.tensor(self.input().king_table)?.data.first_chunk()
    }

    /// The output bucket of every number of pieces, 0 to 32; `None` where the caller names the bucket, and where it
    /// follows from something else than the number of all pieces, see [`Model::bucket_of`].
    pub fn bucket_table(&self) -> Option<&'a [u8; feature_set::BUCKET_TABLE_LEN]> {
        let input = self.input();
        if input.counted != 0 {
            return None;
        }
        self.tensor(input.bucket_table)?.data.first_chunk()
    }

    /// The output bucket of a chess position, from how many pieces of each kind, pawn to king, the side to move and the
    /// other one have; `None` where the caller names the bucket, and for more pieces than a game has.
    pub fn bucket_of(&self, own: [usize; 6], other: [usize; 6]) -> Option<usize> {
        let input = self.input();
        let place = feature_set::bucket_place(input.counted, own, other)?;
        self.tensor(input.bucket_table)?.data.get(place).map(|bucket| usize::from(*bucket))
    }

    /// Decodes the metadata section.
    ///
    /// # Errors
    /// [`super::ParseError::Metadata`] if it is not canonical postcard.
    #[cfg(feature = "metadata")]
    pub fn metadata(&self) -> Result<super::Metadata<'a>, super::ParseError> {
        let start = self.header().metadata_offset_bytes as usize;
        let bytes = self.part(start, self.header().metadata_len_bytes as usize);
        super::Metadata::decode(bytes, start)
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

    /// The elements of one bank; a tensor that is not bucketed gives its only bank for every `bucket`. Empty if `T` is
    /// not of the element's size or the bucket does not exist.
    pub fn bank<T: AnyBitPattern>(&self, bucket: usize) -> &'a [T] {
        let Ok(all) = bytemuck::try_cast_slice::<_, T>(self.data) else { return &[] };
        if self.record.banks <= 1 {
            return all;
        }
        let len = self.bank_len();
        let bank = bucket.checked_mul(len).and_then(|start| all.get(start..)?.get(..len));
        let Some(bank) = bank else { return &[] };
        bank
    }

    /// Elements of a bank. A multiplication, because small processors cannot divide; the loader has checked that it is
    /// exact.
    pub(crate) const fn bank_len(&self) -> usize {
        let (rows, cols) = (self.record.rows as usize, self.record.cols as usize);
        self.stride().wrapping_mul(match self.layout {
            Layout::Rows => rows,
            Layout::Columns => cols,
            Layout::K4 => cols.wrapping_add(3) & !3,
        })
    }

    /// One row (`Rows` only) of the only bank, without padding: (cols,). Empty if `T` is not of the element's size or
    /// the row does not exist.
    pub fn row<T: AnyBitPattern>(&self, row: usize) -> &'a [T] {
        let start = row.checked_mul(self.stride());
        let row = start.and_then(|start| self.bank(0).get(start..)?.get(..self.record.cols as usize));
        let Some(row) = row else { return &[] };
        row
    }

    /// Size of an element in bytes.
    pub const fn element_len_bytes(&self) -> usize {
        match element::len_bytes(self.record.element as u32) {
            Some(len) => len,
            None => 1,
        }
    }
}

/// `len` bytes from one on; none if there are not so many.
#[cfg_attr(target_os = "none", inline(never))]
pub(crate) fn part(bytes: &[u8], start: usize, len: usize) -> &[u8] {
    let (_, rest) = bytes.split_at(start.min(bytes.len()));
    rest.split_at(if len <= rest.len() { len } else { 0 }).0
}

/// What is left of a file as its tables are taken from it, and the last count that it was too short for.
struct Tables<'a> {
    rest: &'a [u32],
    excess: u32,
}

impl<'a> Tables<'a> {
    /// The next `count` records of `WORDS`, a power of two; none if there are fewer.
    fn take<const WORDS: usize>(&mut self, count: u32) -> &'a [[u32; WORDS]] {
        const { assert!(WORDS.is_power_of_two()) };
        self.words(count, WORDS.trailing_zeros()).as_chunks().0
    }

    /// The next `count` times `2^bits` words.
    #[inline(never)]
    fn words(&mut self, count: u32, bits: u32) -> &'a [u32] {
        let fits = count as usize <= self.rest.len() >> bits;
        match self.rest.split_at_checked((count as usize) << bits) {
            Some((head, tail)) if fits => {
                self.rest = tail;
                head
            }
            _ => {
                self.excess = count;
                &[]
            }
        }
    }
}
