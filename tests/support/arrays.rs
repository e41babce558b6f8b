//! Minimal readers of the files in which fixtures keep arrays.

use flate2::read::GzDecoder;
use std::io::Read;
use std::path::Path;

/// The images of an idx file in gzip, each element divided by 255 as f32, then widened.
pub fn images(path: &Path) -> Vec<Vec<f64>> {
    let bytes = unpacked(path);
    assert_eq!(&bytes[..4], [0, 0, 8, 3], "idx of bytes with three dimensions");
    let size = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let pixels = size(8) * size(12);
    assert_eq!(bytes.len(), 16 + size(4) * pixels);
    let image = |image: &[u8]| image.iter().map(|pixel| f64::from(f32::from(*pixel) / 255.0)).collect();
    bytes[16..].chunks_exact(pixels).map(image).collect()
}

/// The labels of an idx file in gzip.
pub fn labels(path: &Path) -> Vec<u8> {
    let bytes = unpacked(path);
    assert_eq!(&bytes[..4], [0, 0, 8, 1], "idx of bytes with one dimension");
    bytes[8..].to_vec()
}

fn unpacked(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_end(&mut bytes).unwrap();
    bytes
}

/// The elements of a `.npy` file, version 1, as bytes; `kind` is what its header says of them.
pub fn npy(path: &Path, kind: &str) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap();
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    let end = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = std::str::from_utf8(&bytes[10..end]).unwrap();
    assert!(header.contains(&format!("'{kind}'")) && header.contains("'fortran_order': False"), "{header}");
    bytes[end..].to_vec()
}

/// Little-endian f32, widened.
pub fn f32s(bytes: &[u8]) -> Vec<f64> {
    let (words, rest) = bytes.as_chunks::<4>();
    assert!(rest.is_empty());
    words.iter().map(|word| f64::from(f32::from_le_bytes(*word))).collect()
}
