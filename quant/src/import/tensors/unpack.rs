//! Unpacking with a bound on what comes out.

use super::error::TensorFileError;
use flate2::read::{DeflateDecoder, MultiGzDecoder};
use std::io::Read;

/// The most bytes that packed ones may become: a few bytes can say "a million zeros" over and over.
pub const MAX_UNPACKED_LEN_BYTES: u64 = 1 << 29;

/// Whether bytes start like gzip.
#[must_use]
pub fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1F, 0x8B])
}

/// What a gzip holds, of at most `limit` bytes.
///
/// # Errors
/// [`TensorFileError::Packed`] for damage, [`TensorFileError::TooLarge`].
pub fn gunzip(bytes: &[u8], limit: u64) -> Result<Vec<u8>, TensorFileError> {
    let mut out = Vec::new();
    MultiGzDecoder::new(bytes).take(limit + 1).read_to_end(&mut out).map_err(packed)?;
    if out.len() as u64 > limit {
        return Err(TensorFileError::TooLarge { found: "more".to_owned(), limit });
    }
    Ok(out)
}

/// What a deflated stream holds, which has to be exactly `len_bytes` and to need all of `bytes`.
pub(super) fn inflate(bytes: &[u8], len_bytes: usize) -> Result<Vec<u8>, TensorFileError> {
    let mut out = Vec::new();
    let mut decoder = DeflateDecoder::new(bytes);
    decoder.by_ref().take(len_bytes as u64 + 1).read_to_end(&mut out).map_err(packed)?;
    if out.len() != len_bytes {
        let found = if out.len() > len_bytes { "more".to_owned() } else { out.len().to_string() };
        return Err(TensorFileError::Packed(format!("{found} bytes come out, expected {len_bytes}")));
    }
    if decoder.total_in() != bytes.len() as u64 {
        let why = format!("{} of {} packed bytes are used", decoder.total_in(), bytes.len());
        return Err(TensorFileError::Packed(why));
    }
    Ok(out)
}

fn packed(error: std::io::Error) -> TensorFileError {
    TensorFileError::Packed(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    #[test]
    fn what_comes_out_is_bounded() {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&[0; 100_000]).unwrap();
        let packed = encoder.finish().unwrap();
        assert!(is_gzip(&packed) && packed.len() < 300);
        assert_eq!(gunzip(&packed, 100_000).unwrap().len(), 100_000);
        assert!(matches!(gunzip(&packed, 99_999), Err(TensorFileError::TooLarge { .. })));
        for end in 0..packed.len() {
            assert!(gunzip(&packed[..end], 100_000).is_err() || end == 0, "{end}");
        }
        let mut damaged = packed.clone();
        damaged[packed.len() - 6] ^= 1;
        assert!(matches!(gunzip(&damaged, 100_000), Err(TensorFileError::Packed(_))));
    }
}
