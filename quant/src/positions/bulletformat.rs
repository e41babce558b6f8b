//! BulletFormat: 32 bytes a position, nothing before, between or after.
//!
//! | offset | type     | field |
//! |--------|----------|-------|
//! | 0      | u64      | occupied squares, bit 0 = a1, in the side to move's view |
//! | 8      | \[u8;16\] | piece codes, four bits each, low half first, in ascending order of the squares |
//! | 24     | i16      | score for the side to move, centipawns |
//! | 26     | u8       | result for the side to move: 0 loss, 1 draw, 2 win |
//! | 27     | u8       | own king's square |
//! | 28     | u8       | opponent's king's square, as the opponent sees it |
//! | 29     | \[u8;3\]  | nothing |
//!
//! All little-endian. What a record says twice (the kings) must agree.

use super::error::PositionError;
use super::position::{MAX_PIECES, Position};

/// Length of a record.
pub const RECORD_LEN_BYTES: usize = 32;
/// What a record says of a score that is not known.
const UNKNOWN_SCORE: i16 = 0;
/// What it says of a result that is not known: a draw.
const UNKNOWN_RESULT: u8 = 1;

impl Position {
    /// Reads one record.
    ///
    /// # Errors
    /// [`PositionError`] for everything that [`Position::new`] refuses, for kings that do not stand where bytes 27 and
    /// 28 say, for codes beyond the last piece and for a result above 2.
    pub fn from_record(record: &[u8; RECORD_LEN_BYTES]) -> Result<Self, PositionError> {
        let [o0, o1, o2, o3, o4, o5, o6, o7, codes @ .., s0, s1, result, own_king, opponent_king, e0, e1, e2] = *record;
        let codes: [u8; 16] = codes;
        let nibble = |index: usize| (codes[index / 2] >> (4 * (index % 2))) & 15;

        let mut occupied = u64::from_le_bytes([o0, o1, o2, o3, o4, o5, o6, o7]);
        let count = occupied.count_ones() as usize;
        if count > MAX_PIECES {
            return Err(PositionError::TooManyPieces { found: count });
        }
        let mut pieces = [(0, 0); MAX_PIECES];
        for (index, piece) in pieces.iter_mut().enumerate().take(count) {
            *piece = (nibble(index), occupied.trailing_zeros() as u8);
            occupied &= occupied - 1;
        }
        let mut position = Self::new(&pieces[..count])?;

        if let Some(unused) = (count..MAX_PIECES).find(|&index| nibble(index) != 0) {
            return Err(PositionError::UnusedNibble { pieces: count, nibble: unused, found: nibble(unused) });
        }
        for (byte, side, found, expected) in [
            (27, "the side to move", own_king, position.own_king()),
            (28, "the opponent", opponent_king, position.opponent_king()),
        ] {
            if found != expected {
                return Err(PositionError::KingSquare { byte, side, found, expected });
            }
        }
        if result > 2 {
            return Err(PositionError::Result { found: result });
        }
        position.score = Some(i16::from_le_bytes([s0, s1]));
        position.result = Some(result);
        position.extra = [e0, e1, e2];
        Ok(position)
    }

    /// Writes a record; an unknown score becomes 0, an unknown result a draw.
    #[must_use]
    pub fn to_record(&self) -> [u8; RECORD_LEN_BYTES] {
        let mut pieces = self.pieces().to_vec();
        pieces.sort_unstable_by_key(|&(_, square)| square);
        let occupied = pieces.iter().fold(0u64, |bits, &(_, square)| bits | 1 << (square & 63));
        let mut record = [0; RECORD_LEN_BYTES];
        record[..8].copy_from_slice(&occupied.to_le_bytes());
        for (index, &(code, _)) in pieces.iter().enumerate() {
            record[8 + index / 2] |= code << (4 * (index % 2));
        }
        record[24..26].copy_from_slice(&self.score.unwrap_or(UNKNOWN_SCORE).to_le_bytes());
        record[26] = self.result.unwrap_or(UNKNOWN_RESULT);
        record[27] = self.own_king();
        record[28] = self.opponent_king();
        record[29..].copy_from_slice(&self.extra);
        record
    }
}

/// The positions of a file's bytes.
///
/// # Errors
/// [`PositionError::PartialRecord`] if the length is no multiple of 32. Each item is a position or
/// [`PositionError::AtRecord`]; a bad record does not end the iteration.
pub fn records(bytes: &[u8]) -> Result<Records<'_>, PositionError> {
    match bytes.as_chunks() {
        (records, []) => Ok(Records { records, index: 0 }),
        _ => Err(PositionError::PartialRecord { len_bytes: bytes.len() }),
    }
}

/// Iterator over the positions of a file; see [`records`].
#[derive(Debug, Clone)]
pub struct Records<'a> {
    records: &'a [[u8; RECORD_LEN_BYTES]],
    index: usize,
}

impl Iterator for Records<'_> {
    type Item = Result<Position, PositionError>;

    fn next(&mut self) -> Option<Self::Item> {
        let record = self.index;
        let bytes = self.records.get(record)?;
        self.index += 1;
        Some(Position::from_record(bytes).map_err(|cause| PositionError::AtRecord { record, cause: Box::new(cause) }))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.records.len().saturating_sub(self.index);
        (left, Some(left))
    }
}

impl ExactSizeIterator for Records<'_> {}

#[cfg(test)]
mod tests {
    use super::super::{Position, PositionError};
    use super::{RECORD_LEN_BYTES, records};

    /// White Ke1, Pe2, black Ke8 as 32 bytes written by hand: squares 4, 12, 60; codes 5, 0, 13; score −2; win.
    const RECORD: [u8; RECORD_LEN_BYTES] = [
        0x10, 0x10, 0, 0, 0, 0, 0, 0x10, 0x05, 0x0d, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xfe, 0xff, 2, 4, 4, 7,
        8, 9,
    ];

    fn spoiled(offset: usize, value: u8) -> PositionError {
        let mut record = RECORD;
        record[offset] = value;
        Position::from_record(&record).unwrap_err()
    }

    #[test]
    fn a_record_written_by_hand() {
        let position = Position::from_record(&RECORD).unwrap();
        assert_eq!(position.pieces(), [(5, 4), (0, 12), (13, 60)]);
        assert_eq!((position.own_king(), position.opponent_king()), (4, 4));
        assert_eq!((position.score, position.result, position.extra), (Some(-2), Some(2), [7, 8, 9]));
        assert_eq!(position.to_record(), RECORD);
        let mut from_fen = Position::from_fen("4k3/8/8/8/8/8/4P3/4K3 w").unwrap();
        assert_eq!(from_fen.to_record()[..24], RECORD[..24]);
        (from_fen.score, from_fen.result, from_fen.extra) = (Some(-2), Some(2), [7, 8, 9]);
        assert_eq!(from_fen, position);
    }

    #[test]
    fn every_lie_is_found() {
        assert!(matches!(spoiled(0, 0xff), PositionError::KingSquare { byte: 27, expected: 0, .. }));
        assert!(matches!(spoiled(0, 0), PositionError::Kings { side: "the opponent", found: 0 }));
        assert!(matches!(spoiled(8, 0x06), PositionError::NoSuchPiece { code: 6, .. }));
        assert!(matches!(spoiled(8, 0xf5), PositionError::NoSuchPiece { code: 15, .. }));
        assert!(matches!(spoiled(8, 0x55), PositionError::Kings { side: "the side to move", found: 2 }));
        assert!(matches!(spoiled(9, 0x05), PositionError::Kings { .. }));
        assert_eq!(spoiled(9, 0x1d), PositionError::UnusedNibble { pieces: 3, nibble: 3, found: 1 });
        assert_eq!(spoiled(23, 0x80), PositionError::UnusedNibble { pieces: 3, nibble: 31, found: 8 });
        assert!(matches!(spoiled(27, 3), PositionError::KingSquare { byte: 27, found: 3, expected: 4, .. }));
        assert!(matches!(spoiled(28, 60), PositionError::KingSquare { byte: 28, found: 60, expected: 4, .. }));
        assert_eq!(spoiled(26, 3), PositionError::Result { found: 3 });
        assert_eq!(Position::from_record(&[0xff; 32]).unwrap_err(), PositionError::TooManyPieces { found: 64 });
    }

    #[test]
    fn files_are_whole_records() {
        assert_eq!(records(&[]).unwrap().len(), 0);
        let message = records(&[0; 65]).unwrap_err().to_string();
        assert!(message.starts_with("65 bytes are 2 records of 32 bytes and 1 bytes more"), "{message}");
        let mut bytes = [RECORD, RECORD, RECORD].concat();
        bytes[32 + 26] = 9;
        let all: Vec<_> = records(&bytes).unwrap().collect();
        assert!(all[0].is_ok() && all[2].is_ok());
        assert_eq!(
            all[1].as_ref().unwrap_err().to_string(),
            "record 1: result 9: expected 0 (loss), 1 (draw) or 2 (win)"
        );
    }

    /// Every single-byte change of a good record is either another good record, written back as it was, or refused.
    #[test]
    fn no_byte_panics() {
        for offset in 0..RECORD_LEN_BYTES {
            for value in 0..=255 {
                let mut record = RECORD;
                record[offset] = value;
                if let Ok(position) = Position::from_record(&record) {
                    assert_eq!(position.to_record(), record);
                }
            }
        }
    }
}
