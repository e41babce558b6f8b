//! Why a file is refused: where, what was found, what was expected.

use core::fmt;

/// The reason why [`super::Model::parse`] refuses a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
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
    People {
        /// Where the section starts.
        offset_bytes: usize,
        /// What is wrong with it.
        problem: &'static str,
    },
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Misaligned { remainder } => write!(
                f,
                "the file lies {remainder} bytes past a multiple of 64 in memory; map it, or embed it with include_model!"
            ),
            Self::TooShort { found, expected } => {
                write!(f, "{found} bytes; a container has at least {expected}: the file is empty or truncated")
            }
            Self::NotAContainer { found } => {
                write!(f, "the file starts with")?;
                for byte in found {
                    write!(f, " {byte:02x}")?;
                }
                write!(
                    f,
                    ", not with the container's 89 54 41 4d 49 53 0d 0a; a bare quantised.bin must be packed first"
                )
            }
            Self::ByteOrder { found } => write!(
                f,
                "byte 8: the byte-order mark reads {found:#010x}, expected 0x0a0b0c0d: not a little-endian machine, or damage"
            ),
            Self::Version { found, expected } => {
                write!(f, "byte 12: format version {found}, this reader knows version {expected}")
            }
            Self::RequiredFlags { found } => {
                write!(f, "byte 16: the file needs features {found:#x} that this reader does not have")
            }
            Self::Length { found, expected } => write!(
                f,
                "byte 20: the header says {expected} bytes, the file has {found}: it is {}",
                if found < expected { "truncated" } else { "too long" }
            ),
            Self::Checksum { found, expected } => {
                write!(f, "byte 24: checksum {expected:016x}, but the bytes give {found:016x}: the file is damaged")
            }
            Self::Field { place, index, found, expected } => {
                write!(f, "{place} of record {index}: found {found}, expected {expected}")
            }
            Self::Feature { place, index, found, feature } => write!(
                f,
                "{place} of record {index}: found {found}, which needs the feature `{feature}` of tamis-runtime; this build leaves it out"
            ),
            Self::Padding { offset_bytes, found } => {
                write!(f, "byte {offset_bytes}: found {found:#04x} in padding that must be zero")
            }
            Self::People { offset_bytes, problem } => {
                write!(f, "byte {offset_bytes}: the people's section {problem}")
            }
        }
    }
}

impl core::error::Error for ParseError {}
