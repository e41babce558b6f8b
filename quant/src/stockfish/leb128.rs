//! Blocks of the transformer: raw, or as signed LEB128.
//!
//! A compressed block is [`MAGIC`], a `u32` number of bytes, and each element in groups of seven bits, low ones first,
//! bit 7 set on all but an element's last byte, whose bit 6 is the sign. There are many longer spellings of a number;
//! only the shortest is read, so that a block has one spelling and can be written again as it was.

use super::cursor::Cursor;
use super::error::NnueError;
use super::file_part::Place;
use super::net::{Block, Encoding};

/// What a compressed block starts with.
pub(super) const MAGIC: &[u8] = b"COMPRESSED_LEB128";

/// An element of a block.
pub(super) trait Element: Copy + Into<i64> + TryFrom<i64> {
    /// Its name in messages.
    const NAME: &'static str;

    fn extend_le(self, bytes: &mut Vec<u8>);

    /// Reads little-endian elements, as many as there are whole.
    fn raw(bytes: &[u8]) -> Vec<Self>;
}

impl Element for i16 {
    const NAME: &'static str = "i16";

    fn extend_le(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_le_bytes());
    }

    fn raw(bytes: &[u8]) -> Vec<Self> {
        bytes.as_chunks().0.iter().map(|&chunk| Self::from_le_bytes(chunk)).collect()
    }
}

impl Element for i32 {
    const NAME: &'static str = "i32";

    fn extend_le(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_le_bytes());
    }

    fn raw(bytes: &[u8]) -> Vec<Self> {
        bytes.as_chunks().0.iter().map(|&chunk| Self::from_le_bytes(chunk)).collect()
    }
}

/// Reads `count` elements, in whichever encoding they are.
///
/// Memory is asked for only when as many bytes are there as `count` elements have at least.
pub(super) fn read_block<T: Element>(
    cursor: &mut Cursor<'_>,
    count: usize,
    place: Place,
) -> Result<Block<T>, NnueError> {
    if !cursor.rest().starts_with(MAGIC) {
        let values = T::raw(cursor.take(count.saturating_mul(size_of::<T>()), place)?);
        return Ok(Block { values, encoding: Encoding::Raw });
    }
    cursor.take(MAGIC.len(), place)?;
    let len_bytes = cursor.u32(place)? as usize;
    let start_bytes = cursor.offset_bytes();
    let bytes = cursor.take(len_bytes, place)?;
    if len_bytes < count {
        return Err(NnueError::Leb128Short { place, count, found: len_bytes });
    }
    let mut values = Vec::with_capacity(count);
    let mut at = 0;
    for index in 0..count {
        let offset_bytes = start_bytes + at;
        let (value, len) = match spelled(&bytes[at..]) {
            Spelled::Value { value, len } => (value, len),
            Spelled::CutOff => return Err(NnueError::Leb128CutOff { place, index, count }),
            Spelled::Longer => return Err(NnueError::Leb128Longer { place, index, offset_bytes }),
            Spelled::Huge => return Err(NnueError::Range { place, index, value: None, element: T::NAME }),
        };
        let range = |_| NnueError::Range { place, index, value: Some(value), element: T::NAME };
        values.push(T::try_from(value).map_err(range)?);
        at += len;
    }
    if at != len_bytes {
        return Err(NnueError::Leb128Left { place, count, left: len_bytes - at });
    }
    Ok(Block { values, encoding: Encoding::Leb128 })
}

/// Appends a block in its encoding.
pub(super) fn write_block<T: Element>(block: &Block<T>, bytes: &mut Vec<u8>) {
    match block.encoding {
        Encoding::Raw => block.values.iter().for_each(|value| value.extend_le(bytes)),
        Encoding::Leb128 => {
            bytes.extend(MAGIC);
            let len_at = bytes.len();
            bytes.extend([0; 4]);
            block.values.iter().for_each(|&value| spell(value.into(), bytes));
            let len_bytes = (bytes.len() - len_at - 4) as u32;
            if let Some(field) = bytes.get_mut(len_at..len_at + 4) {
                field.copy_from_slice(&len_bytes.to_le_bytes());
            }
        }
    }
}

/// What the bytes start with.
#[derive(Debug, PartialEq)]
enum Spelled {
    Value {
        value: i64,
        len: usize,
    },
    /// They end within a number.
    CutOff,
    /// The number has a shorter spelling.
    Longer,
    /// The number does not fit 63 bits.
    Huge,
}

fn spelled(bytes: &[u8]) -> Spelled {
    /// So many groups of seven bits fit an `i64`.
    const MOST_BYTES: usize = 9;
    let mut value = 0i64;
    let mut before = None;
    for (index, &byte) in bytes.iter().enumerate() {
        if index == MOST_BYTES {
            return Spelled::Huge;
        }
        value |= i64::from(byte & 0x7F) << (7 * index);
        if byte & 0x80 == 0 {
            let is_negative = byte & 0x40 != 0;
            // The last group says nothing if it only repeats the sign that the group before it has.
            let says_nothing = byte == if is_negative { 0x7F } else { 0 };
            if says_nothing && before.is_some_and(|before: u8| (before & 0x40 != 0) == is_negative) {
                return Spelled::Longer;
            }
            if is_negative {
                value |= -1 << (7 * (index + 1));
            }
            return Spelled::Value { value, len: index + 1 };
        }
        before = Some(byte);
    }
    Spelled::CutOff
}

fn spell(mut value: i64, bytes: &mut Vec<u8>) {
    loop {
        let group = (value & 0x7F) as u8;
        value >>= 7;
        let sign = if group & 0x40 == 0 { 0 } else { -1 };
        if value == sign {
            return bytes.push(group);
        }
        bytes.push(group | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use super::{Spelled, spell, spelled};

    /// Both sides of every change of length, and the ends of the element types.
    #[test]
    fn numbers_have_one_spelling() {
        let edges = [0, 1, 63, 64, 127, 128, 8191, 8192, 32767, 1 << 20, (1 << 27) - 1, 1 << 27, i64::from(i32::MAX)];
        for value in edges.into_iter().flat_map(|edge| [edge, -edge, -edge - 1]) {
            let mut bytes = Vec::new();
            spell(value, &mut bytes);
            assert_eq!(spelled(&bytes), Spelled::Value { value, len: bytes.len() });
            let last = bytes.len() - 1;
            assert_eq!(spelled(&bytes[..last]), Spelled::CutOff);
            bytes[last] |= 0x80;
            bytes.push(if value < 0 { 0x7F } else { 0 });
            assert_eq!(spelled(&bytes), Spelled::Longer, "{value} with a group more");
        }
    }

    #[test]
    fn spellings_written_by_hand() {
        for (value, by_hand) in
            [(2, &[2][..]), (-2, &[0x7E]), (127, &[0xFF, 0]), (-127, &[0x81, 0x7F]), (-128, &[0x80, 0x7F])]
        {
            let mut bytes = Vec::new();
            spell(value, &mut bytes);
            assert_eq!(bytes, by_hand, "{value}");
        }
        assert_eq!(spelled(&[0x80; 12]), Spelled::Huge);
    }
}
