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
#[inline(never)]
pub fn quads_fit(bank: &[i8], stride: usize) -> bool {
    let group = stride.saturating_mul(4).max(1);
    bank.chunks(group.saturating_mul(2)).all(|pair| {
        let (first, second) = pair.split_at_checked(group).unwrap_or((pair, &[]));
        let (first, _) = first.as_chunks::<2>();
        let (second, _) = second.as_chunks::<2>();
        first.iter().enumerate().all(|(half, a)| {
            let b = second.get(half).copied().unwrap_or_default();
            let quad = [a[0], a[1], b[0], b[1]].map(i32::from);
            let sum: i32 = quad.iter().sum();
            let size: i32 = quad.iter().map(|weight| weight.abs()).sum();
            // Twice the weights of one sign, and of the other.
            size + sum <= 2 * QUAD_LIMIT && size - sum <= 2 * QUAD_LIMIT
        })
    })
}
