//! The portable fast tier, in `wide`: vectors of sixteen i16 and eight f32, which the compiler maps to whatever the
//! target has.
//!
//! It has no byte products: weights are widened to i16, four inputs are repeated over four rows, and products of
//! neighbours give two sums a row.

use super::vector::{ByteTile, Dense, Reals, Simd, WordFilter, chunk_views, sparse, tier};
use crate::num;
use bytemuck::cast;
use wide::{f32x8, i8x16, i16x8, i16x16, i32x8, u16x16};

tier!(
    /// The tier.
    KERNELS = "wide", module table, features #[inline],
    vectors(simd Wide),
    reals(reals Wide, columns Wide),
    dots(simd Wide),
    narrow_bytes(simd Wide, u7 Widened<false>, paired Widened<false>, u8 Widened<false>, any all_bytes::affine_any),
    all_bytes(simd Wide, u7 Widened<false>, paired Widened<false>, u8 Widened<false>, i8 Widened<true>),
    convolutions(
        simd Wide, tile ByteTile::<_, u8, 1, 4>::new(Widened::<false>::new()),
        filter WordFilter::new(Wide::new())
    ),
    batches(u7 Widened<false>, u8 Widened<false>, i8 Widened<true>)
);

/// `a[2i]·b[2i] + a[2i + 1]·b[2i + 1]`, wrapping: four times −32,768 are 2³¹. Where a target has no instruction for it,
/// `wide` adds with Rust's `+`, which a build with checks of overflow would end in.
#[inline(always)]
fn dot(a: i16x16, b: i16x16) -> i32x8 {
    if cfg!(any(
        target_feature = "sse2",
        target_feature = "simd128",
        all(target_feature = "neon", target_arch = "aarch64")
    )) {
        return a.dot(b);
    }
    let (a, b) = (a.to_array(), b.to_array());
    let mut sums = [0i32; 8];
    for ((sum, a), b) in sums.iter_mut().zip(a.as_chunks::<2>().0).zip(b.as_chunks::<2>().0) {
        let product = |index: usize| i32::from(a[index]) * i32::from(b[index]);
        *sum = product(0).wrapping_add(product(1));
    }
    i32x8::new(sums)
}

#[derive(Clone, Copy)]
struct Wide;

impl Wide {
    const fn new() -> Self {
        Self
    }
}

impl Simd for Wide {
    type I16 = i16x16;
    type I32 = i32x8;

    chunk_views!(16);

    #[inline(always)]
    fn load(self, x: &[i16; 16]) -> i16x16 {
        i16x16::new(*x)
    }
    #[inline(always)]
    fn store(self, out: &mut [i16; 16], x: i16x16) {
        *out = x.to_array();
    }
    #[inline(always)]
    fn load_bytes(self, x: &[i8; 16]) -> i16x16 {
        i16x16::from_i8x16(i8x16::new(*x))
    }
    #[inline(always)]
    fn splat(self, x: i16) -> i16x16 {
        i16x16::splat(x)
    }
    #[inline(always)]
    fn add(self, a: i16x16, b: i16x16) -> i16x16 {
        a + b
    }
    #[inline(always)]
    fn sub(self, a: i16x16, b: i16x16) -> i16x16 {
        a - b
    }
    #[inline(always)]
    fn min(self, a: i16x16, b: i16x16) -> i16x16 {
        a.min(b)
    }
    #[inline(always)]
    fn max(self, a: i16x16, b: i16x16) -> i16x16 {
        a.max(b)
    }
    #[inline(always)]
    fn xor(self, a: i16x16, b: i16x16) -> i16x16 {
        a ^ b
    }
    #[inline(always)]
    fn or(self, a: i16x16, b: i16x16) -> i16x16 {
        a | b
    }
    #[inline(always)]
    fn mul_low(self, a: i16x16, b: i16x16) -> i16x16 {
        a * b
    }
    #[inline(always)]
    fn mul_high(self, a: i16x16, b: i16x16) -> i16x16 {
        a.mul_keep_high(b)
    }
    #[inline(always)]
    fn mul_round(self, a: i16x16, b: i16x16) -> i16x16 {
        a.mul_scale_round(b)
    }
    #[inline(always)]
    fn shift_left(self, x: i16x16, n: u32) -> i16x16 {
        x << n
    }
    #[inline(always)]
    fn shift_right(self, x: i16x16, n: u32) -> i16x16 {
        let bits: u16x16 = cast(x);
        cast(bits >> n)
    }
    #[inline(always)]
    fn mul_add_pairs(self, a: i16x16, b: i16x16) -> i32x8 {
        dot(a, b)
    }
    #[inline(always)]
    fn store_bytes(self, out: &mut [u8; 32], low: i16x16, high: i16x16) {
        let (first, second) = out.split_at_mut(16);
        for (out, x) in [(first, low), (second, high)] {
            for (out, x) in out.iter_mut().zip(x.to_array()) {
                *out = x.max(0) as u8;
            }
        }
    }

    #[inline(always)]
    fn zero32(self) -> i32x8 {
        i32x8::ZERO
    }
    #[inline(always)]
    fn load32(self, x: &[i32; 8]) -> i32x8 {
        i32x8::new(*x)
    }
    #[inline(always)]
    fn store32(self, out: &mut [i32; 8], x: i32x8) {
        *out = x.to_array();
    }
    #[inline(always)]
    fn splat32(self, x: i32) -> i32x8 {
        i32x8::splat(x)
    }
    #[inline(always)]
    fn add32(self, a: i32x8, b: i32x8) -> i32x8 {
        a + b
    }
    #[inline(always)]
    fn min32(self, a: i32x8, b: i32x8) -> i32x8 {
        a.min(b)
    }
    #[inline(always)]
    fn max32(self, a: i32x8, b: i32x8) -> i32x8 {
        a.max(b)
    }
    #[inline(always)]
    fn sum32(self, x: i32x8) -> i32 {
        x.to_array().into_iter().fold(0, i32::wrapping_add)
    }
    #[inline(always)]
    fn mul_high32(self, a: i32x8, b: i32x8) -> i32x8 {
        each(a, b, |a, b| ((i64::from(a) * i64::from(b)) >> 32) as i32)
    }
    #[inline(always)]
    fn widen32(self, x: &[u8; 8]) -> i32x8 {
        i32x8::new(x.map(i32::from))
    }
    #[inline(always)]
    fn power_of_two32(self, n: i32x8) -> i32x8 {
        each(n, n, |n, _| 1 << (n & 31))
    }
    #[inline(always)]
    fn shift_right32(self, x: i32x8, n: i32x8) -> i32x8 {
        each(x, n, |x, n| x >> (n & 31))
    }
    #[inline(always)]
    fn store_low_bytes32(self, out: &mut [u8; 8], x: i32x8) {
        *out = x.to_array().map(|x| x as u8);
    }

    #[inline(always)]
    fn nonzero_groups(self, x: &[u8; 32]) -> u32 {
        let (groups, _) = x.as_chunks::<4>();
        groups.iter().rev().fold(0, |bits, group| bits << 1 | u32::from(*group != [0; 4]))
    }
    type Group = u16;
    #[inline(always)]
    unsafe fn list(self, x: &[[u8; 32]], out: *mut u16) -> sparse::Found {
        // SAFETY: the caller's.
        unsafe { sparse::list_by_bits(self, x, out) }
    }
}

#[inline(always)]
fn each(a: i32x8, b: i32x8, operation: impl Fn(i32, i32) -> i32) -> i32x8 {
    let mut out = a.to_array();
    for (a, b) in out.iter_mut().zip(b.to_array()) {
        *a = operation(*a, b);
    }
    i32x8::new(out)
}

impl Reals for Wide {
    type F32 = f32x8;

    #[inline(always)]
    fn load(self, x: &[f32; 8]) -> f32x8 {
        f32x8::new(*x)
    }
    #[inline(always)]
    fn store(self, out: &mut [f32; 8], x: f32x8) {
        *out = x.to_array();
    }
    #[inline(always)]
    fn splat(self, x: f32) -> f32x8 {
        f32x8::splat(x)
    }
    #[inline(always)]
    fn add(self, a: f32x8, b: f32x8) -> f32x8 {
        a + b
    }
    #[inline(always)]
    fn mul(self, a: f32x8, b: f32x8) -> f32x8 {
        a * b
    }
    /// A comparison that fails for NaN and for both zeros leaves all bits clear.
    #[inline(always)]
    fn relu(self, x: f32x8) -> f32x8 {
        x & x.simd_gt(f32x8::ZERO)
    }
    #[inline(always)]
    fn crelu(self, x: f32x8) -> f32x8 {
        let x = self.relu(x);
        x.simd_lt(f32x8::ONE).select(x, f32x8::ONE)
    }
    #[inline(always)]
    fn from_i32(self, x: &[i32; 8]) -> f32x8 {
        f32x8::from_i32x8(i32x8::new(*x))
    }
    #[inline(always)]
    fn from_clipped(self, x: &[i16; 8], max: i16) -> f32x8 {
        let clipped = i16x8::new(*x).max(i16x8::ZERO).min(i16x8::splat(max));
        f32x8::from_i32x8(i32x8::from_i16x8(clipped))
    }
    #[inline(always)]
    fn reduce(self, x: [f32x8; 8]) -> f32x8 {
        f32x8::new(x.map(|x| num::reduce_f32(x.to_array())))
    }
}

/// Bytes widened to i16.
#[derive(Clone, Copy)]
struct Widened<const SIGNED: bool>;

impl<const SIGNED: bool> Widened<SIGNED> {
    const fn new() -> Self {
        Self
    }
}

impl<const SIGNED: bool> Dense for Widened<SIGNED> {
    const ANY_U8: bool = true;
    const ROWS: usize = 4;
    type Weights = i16x16;
    /// Two a row.
    type Sums = i32x8;
    type Rows = [i32; 4];

    #[inline(always)]
    fn zero(self) -> i32x8 {
        i32x8::ZERO
    }
    #[inline(always)]
    unsafe fn load(self, w: *const i8) -> i16x16 {
        // SAFETY: the caller vouches for 16 bytes; an array of bytes needs no alignment.
        let bytes = unsafe { w.cast::<[i8; 16]>().read() };
        i16x16::from_i8x16(i8x16::new(bytes))
    }
    #[inline(always)]
    unsafe fn load_part(self, _: *const i8, _: usize) -> i16x16 {
        // A stride is a multiple of four, so four rows are never cut.
        i16x16::ZERO
    }
    #[inline(always)]
    fn mac(self, sums: i32x8, x: u32, w: i16x16) -> i32x8 {
        let widen = |byte: u8| if SIGNED { i16::from(byte as i8) } else { i16::from(byte) };
        let four = x.to_le_bytes().map(widen);
        let repeated: i16x16 = cast([four; 4]);
        sums + dot(repeated, w)
    }
    #[inline(always)]
    fn add(self, a: i32x8, b: i32x8) -> i32x8 {
        a + b
    }
    #[inline(always)]
    fn rows(self, sums: i32x8) -> [i32; 4] {
        let [a, b, c, d, e, f, g, h] = sums.to_array();
        [a.wrapping_add(b), c.wrapping_add(d), e.wrapping_add(f), g.wrapping_add(h)]
    }
}

#[cfg(test)]
mod tests {
    use super::{dot, i16x16};

    #[test]
    fn the_least_products_wrap() {
        let least = i16x16::splat(i16::MIN);
        assert_eq!(dot(least, least).to_array(), [i32::MIN; 8]);
    }
}
