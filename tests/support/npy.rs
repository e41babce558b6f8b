//! The simplest reader of NumPy's `.npy`: little-endian f32 or f64, as f64 in C order.

use std::path::Path;

/// The shape and the elements of a file.
pub fn read(path: &Path) -> (Vec<usize>, Vec<f64>) {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(bytes[..8], *b"\x93NUMPY\x01\x00", "{}", path.display());
    let header_len = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let (header, data) = bytes[10..].split_at(header_len);
    let header = std::str::from_utf8(header).unwrap();
    let shape = header.split_once("'shape': (").unwrap().1.split_once(')').unwrap().0;
    let shape: Vec<usize> = shape.split(',').filter_map(|dim| dim.trim().parse().ok()).collect();
    let values: Vec<f64> = if header.contains("'<f8'") {
        data.chunks_exact(8).map(|chunk| f64::from_le_bytes(chunk.try_into().unwrap())).collect()
    } else {
        assert!(header.contains("'<f4'"), "{header}");
        data.chunks_exact(4).map(|chunk| f32::from_le_bytes(chunk.try_into().unwrap()).into()).collect()
    };
    assert_eq!(values.len(), shape.iter().product::<usize>());
    if header.contains("'fortran_order': False") {
        return (shape, values);
    }
    let [rows, cols] = shape[..] else { panic!("columns first, and not two dimensions: {header}") };
    let transposed = (0..rows * cols).map(|at| values[at / cols + rows * (at % cols)]).collect();
    (shape, transposed)
}
