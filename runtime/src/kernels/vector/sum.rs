//! The sum of two maps of bytes, in lanes of 32 bits.
//!
//! The definition wants 64 bits: a difference of bytes has 9 bits, a multiplier 31. Cut into halves of 16 bits, m =
//! 2¹⁶·h + l, every product fits 32 bits, and with `H = a·h₀ + b·h₁` and `L = a·l₀ + b·l₁` the sum of products is
//! `2¹⁶·H + L`. Where the shift s is at least 17, what rounds is a multiple of 2¹⁶, so that the sum shifted by 16 is
//! `H + (L >> 16) + 2^(s−17)`, and what is left is a shift by s − 16. The zero points' products, which are the same for
//! all elements, are added to both halves beforehand.
//!
//! Nothing leaves 32 bits: bytes are below 2⁸ and so are zero points, halves below 2¹⁵ and 2¹⁶, so that H and its part
//! of the zero points stay below 2²⁵, L below 2²⁶, and what rounds, of shifts up to 46, below 2³⁰.

use super::Simd;
use crate::format::element;
use crate::kernels::maps::{Map, Sum, plain};
use crate::workspace::{range, range_mut};

/// Shifts that the halves allow.
const SHIFTS: core::ops::RangeInclusive<u32> = 17..=46;

/// [`crate::kernels::AddMaps`].
#[inline(always)]
pub(in crate::kernels) fn add<S: Simd>(
    s: S,
    sum: &Sum,
    (from, x): (Map, &[u8]),
    (other, second): (Map, &[u8]),
    (to, out): (Map, &mut [u8]),
) {
    let len = to.height * to.row();
    let is_bytes = |map: &Map| matches!(map.element, element::U8 | element::I8) && (-128..=255).contains(&map.zero);
    let lanes = S::LANES / 2;
    let are_bytes = is_bytes(&from) && is_bytes(&other) && is_bytes(&to);
    let is_there = x.len() >= len && second.len() >= len && out.len() >= len;
    if !are_bytes || !is_there || len < lanes || !SHIFTS.contains(&sum.shift) {
        return plain::add(sum, (from, x), (other, second), (to, out));
    }
    let [first, last] = sum.multipliers;
    let a = [s.splat32(first >> 16), s.splat32(first & 0xFFFF)];
    let b = [s.splat32(last >> 16), s.splat32(last & 0xFFFF)];
    let zeros = -(i64::from(from.zero) * i64::from(first) + i64::from(other.zero) * i64::from(last));
    let high = s.splat32((zeros >> 16) as i32 + (1 << (sum.shift - 17)));
    let low = s.splat32((zeros & 0xFFFF) as i32);
    let (shift, zero) = (s.splat32(sum.shift as i32 - 16), s.splat32(to.zero));
    let (least, greatest) = (s.splat32(sum.low - to.zero), s.splat32(sum.high - to.zero));
    let mut start = 0;
    while start < len {
        // The last vector ends with the map, whatever of it has been written before.
        let at = start.min(len - lanes);
        let (x, y) = (widen(s, &from, x, at), widen(s, &other, second, at));
        let low = s.add32(s.add32(s.mul32(x, a[1]), s.mul32(y, b[1])), low);
        let high = s.add32(s.add32(s.mul32(x, a[0]), s.mul32(y, b[0])), high);
        let rounded = s.shift_right32(s.add32(high, s.upper_halves32(low)), shift);
        let clamped = s.min32(s.max32(rounded, least), greatest);
        if let Some(out) = S::narrow_byte_chunks_mut(range_mut(out, at..at + lanes)).0.first_mut() {
            s.store_low_bytes32(out, s.add32(clamped, zero));
        }
        start += lanes;
    }
}

/// A vector of a map's elements from `at` on, where there are as many.
#[inline(always)]
fn widen<S: Simd>(s: S, map: &Map, bytes: &[u8], at: usize) -> S::I32 {
    let bytes = range(bytes, at..at + S::LANES / 2);
    match S::narrow_byte_chunks(bytes).0 {
        [first, ..] if map.element == element::I8 => s.widen_signed32(first),
        [first, ..] => s.widen32(first),
        [] => s.zero32(),
    }
}
