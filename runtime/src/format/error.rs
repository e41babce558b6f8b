//! Why a file is refused: where, what was found, what was expected.

use crate::message::worded;

/// The reason why [`super::Model::parse`] refuses a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseError {
    /// The slice does not start at a multiple of 64 in memory.
    Misaligned {
        /// Address modulo 64.
        remainder: usize,
    },
    /// Fewer bytes than a header and an input record.
    TooShort {
        /// Bytes there are.
        found: usize,
        /// Bytes that a container has at the least.
        expected: usize,
    },
    /// The first eight bytes are not the container's.
    NotAContainer {
        /// What they are.
        found: [u8; 8],
    },
    /// The byte-order mark reads wrong: this machine is not little-endian, or the file is damaged.
    ByteOrder {
        /// How the mark reads.
        found: u32,
    },
    /// A version that this reader does not know.
    Version {
        /// The file's.
        found: u32,
        /// The one this reader knows.
        expected: u32,
    },
    /// The file needs a feature that this reader does not have.
    RequiredFlags {
        /// The flags.
        found: u32,
    },
    /// The header's length is not the slice's.
    Length {
        /// The slice's.
        found: usize,
        /// The header's.
        expected: usize,
    },
    /// The bytes are not those that were written.
    Checksum {
        /// Computed.
        found: u64,
        /// In the header.
        expected: u64,
    },
    /// A field of a record has a value that it may not have.
    Field {
        /// Record and field.
        place: &'static str,
        /// Which record of its table.
        index: usize,
        /// The value.
        found: u64,
        /// What the field must be.
        expected: &'static str,
    },
    /// The file needs a feature of this crate that the build leaves out: build with it.
    Feature {
        /// Record and field.
        place: &'static str,
        /// Which record of its table.
        index: usize,
        /// The value.
        found: u64,
        /// The feature's name.
        feature: &'static str,
    },
    /// A byte that must be zero is not.
    Padding {
        /// Where.
        offset_bytes: usize,
        /// The byte.
        found: u8,
    },
    /// The postcard section does not decode, or is not in the one canonical encoding.
    Metadata {
        /// Where the section starts.
        offset_bytes: usize,
        /// What is wrong with it.
        problem: &'static str,
    },
}

worded! { ParseError {
    Self::Misaligned { remainder } =>
        "the file lies {} bytes past a multiple of 64 in memory; map it, or embed it with include_model!", remainder;
    Self::TooShort { found, expected } =>
        "{} bytes; a container has at least {}: the file is empty or truncated", found, expected;
    Self::NotAContainer { found: [a, b, c, d, e, g, h, i] } =>
        "the file starts with {:02x} {:02x} {:02x} {:02x} {:02x} {:02x} {:02x} {:02x}, not with the container's \
         89 54 41 4d 49 53 0d 0a; a bare quantised.bin must be packed first", a, b, c, d, e, g, h, i;
    Self::ByteOrder { found } =>
        "byte 8: the byte-order mark reads {:#010x}, expected 0x0a0b0c0d: not a little-endian machine, or \
         damage", found;
    Self::Version { found, expected } => "byte 12: format version {}, this reader knows version {}", found, expected;
    Self::RequiredFlags { found } => "byte 16: the file needs features {:#x} that this reader does not have", found;
    Self::Length { found, expected } => "byte 20: the header says {} bytes, the file has {}: it is {}", expected, found,
        if found < expected { "truncated" } else { "too long" };
    Self::Checksum { found, expected } =>
        "byte 24: checksum {:016x}, but the bytes give {:016x}: the file is damaged", expected, found;
    Self::Field { place, index, found, expected } =>
        "{} of record {}: found {}, expected {}", place, index, found, expected;
    Self::Feature { place, index, found, feature } =>
        "{} of record {}: found {}, which needs the feature `{}` of tamis-runtime; this build leaves it out",
        place, index, found, feature;
    Self::Padding { offset_bytes, found } =>
        "byte {}: found {:#04x} in padding that must be zero", offset_bytes, found;
    Self::Metadata { offset_bytes, problem } => "byte {}: the metadata section {}", offset_bytes, problem;
} }

impl core::error::Error for ParseError {}
