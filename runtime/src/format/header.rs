//! The first 64 bytes: what the file is, how long, how many records follow, and the checksum over all of it.

use bytemuck::{Pod, Zeroable};

/// The first eight bytes of every container. The high bit and the line ending show transfers that mangle text.
pub const MAGIC: [u8; 8] = *b"\x89TAMIS\r\n";
/// Reads back as this number on a little-endian machine only.
pub const BYTE_ORDER: u32 = 0x0A0B_0C0D;
/// The version this crate reads and writes.
pub const VERSION: u32 = 1;
/// Every container is a multiple of this long, and every tensor starts at a multiple of it.
pub const ALIGNMENT: usize = 64;
/// The longest workspace that a file may ask for: a small file must not make its reader set aside gigabytes.
pub const MAX_WORKSPACE_LEN_BYTES: u32 = 1 << 26;
/// The largest factor of a RESCALE: with it nothing leaves 64 bits, whatever the sum and the bias.
pub const MAX_RESCALE_FACTOR: i32 = 1 << 30;
/// "No such record" in a field that holds a record's index.
pub const NONE: u32 = u32::MAX;

/// The header, 64 bytes, every field little-endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Header {
    /// `MAGIC`.
    pub magic: [u8; 8],
    /// `BYTE_ORDER`.
    pub byte_order: u32,
    /// `VERSION`.
    pub version: u32,
    /// Features a reader must understand to read the file right; none is defined, so any set bit is refused.
    pub required_flags: u32,
    /// Length of the whole file.
    pub len_bytes: u32,
    /// [`checksum`](super::checksum::checksum) of the whole file with these eight bytes zero; low word first.
    pub checksum: [u32; 2],
    /// Number of [`super::BlockRecord`]s.
    pub block_count: u32,
    /// Number of [`super::TensorRecord`]s.
    pub tensor_count: u32,
    /// Number of [`super::ValueRecord`]s.
    pub value_count: u32,
    /// Number of [`super::OpRecord`]s.
    pub op_count: u32,
    /// Where the metadata section starts.
    pub metadata_offset_bytes: u32,
    /// Its length before zero padding to the end of the file.
    pub metadata_len_bytes: u32,
    /// Scratch memory one evaluation needs.
    pub workspace_len_bytes: u32,
    /// Zero.
    pub reserved: u32,
}

const _: () = assert!(size_of::<Header>() == 64);

impl Header {
    /// The checksum as one number.
    pub const fn checksum(&self) -> u64 {
        self.checksum[0] as u64 | (self.checksum[1] as u64) << 32
    }
}
