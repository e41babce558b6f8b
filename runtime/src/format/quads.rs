//! The one claim that the loader checks: which weights let a kernel add four byte products in i16.

use super::records::claim::QUAD_LIMIT;

/// Whether [`super::claim::QUADS_FIT_I16`] holds for a bank of weights in `K4`, `stride` rows a group: of every row and every
/// pair of neighbouring groups, from the first on, the weights of one sign in columns 0 and 1 of both groups sum up to at most
/// 258 in magnitude, and so do those of columns 2 and 3. Inputs up to 127 then give sums up to 127 · 258 = 32766.
///
/// ```
/// use tamis_runtime::format::quads_fit;
/// assert!(quads_fit(&[127, 127, 1, -128, 4, 0, 0, 0], 1));
/// assert!(!quads_fit(&[127, 127, 1, -128, 4, 1, 0, 0], 1)); // 127 + 127 + 4 + 1
/// ```
pub fn quads_fit(bank: &[i8], stride: usize) -> bool {
    let group = stride.saturating_mul(4).max(1);
    bank.chunks(group.saturating_mul(2)).all(|pair| {
        let (first, second) = pair.split_at(group.min(pair.len()));
        let (first, _) = first.as_chunks::<4>();
        let (second, _) = second.as_chunks::<4>();
        let mut fits = true;
        for (row, a) in first.iter().enumerate() {
            let b = second.get(row).copied().unwrap_or([0; 4]);
            for half in [0, 2] {
                let quad = [a[half], a[half + 1], b[half], b[half + 1]].map(i32::from);
                let positive: i32 = quad.iter().map(|weight| *weight.max(&0)).sum();
                let negative: i32 = quad.iter().map(|weight| *weight.min(&0)).sum();
                fits &= positive <= QUAD_LIMIT && negative >= -QUAD_LIMIT;
            }
        }
        fits
    })
}
