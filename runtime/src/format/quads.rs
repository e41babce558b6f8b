//! The one claim that the loader checks: which weights let a kernel add four byte products in i16.

use super::records::claim::QUAD_LIMIT;

/// Whether [`super::claim::QUADS_FIT_I16`] holds for a bank of weights in `K4`, `stride` rows a group: of every row and
/// every pair of neighbouring groups, from the first on, the weights of one sign in columns 0 and 1 of both groups sum
/// up to at most 258 in magnitude, and so do those of columns 2 and 3. Inputs up to 127 then give sums up to 127 · 258
/// = 32766.
///
/// ```
/// use tamis_runtime::raw::quads_fit;
/// assert!(quads_fit(&[127, 127, 1, -128, 4, 0, 0, 0], 1));
/// assert!(!quads_fit(&[127, 127, 1, -128, 4, 1, 0, 0], 1)); // 127 + 127 + 4 + 1
/// ```
#[inline(never)]
pub fn quads_fit(bank: &[i8], stride: usize) -> bool {
    // A second group that is not there is as if all of it were zeros.
    let group = stride.min(bank.len() / 4) * 4;
    let (mut at, mut left) = (0, group);
    while at < bank.len() {
        let (mut sum, mut size) = (0, 0);
        for nth in 0..4 {
            // The last group may be a half one.
            let Some(weight) = bank.get(at + nth % 2 + nth / 2 * group) else { continue };
            let weight = i32::from(*weight);
            sum += weight;
            size += weight.abs();
        }
        // Twice the weights of one sign, and of the other.
        if size + sum > 2 * QUAD_LIMIT || size - sum > 2 * QUAD_LIMIT {
            return false;
        }
        at += 2;
        left = left.wrapping_sub(2);
        if left == 0 {
            at += group;
            left = group;
        }
    }
    true
}
