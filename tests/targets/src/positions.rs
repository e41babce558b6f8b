//! Positions, as text and as records.

use tamis_quant::positions::{Position, RECORD_LEN_BYTES, is_text, lines, records};

/// A position as FEN, and as a record, is that position.
pub fn fen(bytes: &[u8]) -> bool {
    let _ = is_text(bytes);
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let _ = lines(text).filter(Result::is_ok).count();
    let Ok(position) = Position::from_line(text) else { return false };
    let again = Position::from_fen(&position.to_fen()).expect("a written FEN is read");
    assert_eq!(again.pieces(), position.pieces());
    assert_eq!(again.is_black, position.is_black);
    let record = Position::from_record(&position.to_record()).expect("a written record is read");
    assert_eq!(record.pieces(), position.pieces());
    true
}

/// A record that is read is written back byte for byte.
pub fn bulletformat(bytes: &[u8]) -> bool {
    if let Ok(all) = records(bytes) {
        let mut count = 0;
        all.for_each(|_| count += 1);
        assert!(count * RECORD_LEN_BYTES <= bytes.len());
    }
    let Some(record) = bytes.first_chunk::<RECORD_LEN_BYTES>() else { return false };
    let Ok(position) = Position::from_record(record) else { return false };
    assert_eq!(&position.to_record(), record);
    true
}
