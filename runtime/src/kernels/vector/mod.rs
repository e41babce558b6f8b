//! The algorithms of the fast tiers, each once, over the vocabulary of an instruction set.
//!
//! A value of a type that implements [`Simd`], [`Reals`] or [`Dense`] is a proof: it exists only inside functions that
//! were compiled with the instruction set's features, and those run only on machines that have them. Everything here is
//! `inline(always)`, so that a tier's entry function, which carries the `target_feature` attribute, swallows it whole;
//! in WebAssembly, whose modules have features as a whole, all but the largest loops ([`IS_COMPACT`]).
//!
//! Why the bits are the definition's: integer sums wrap, so their order is free; sums of f32 keep the eight lanes of
//! [`crate::num::reduce_f32`] and round product and sum apart. What does not fill a vector goes through plain loops.
//!
//! | module | kernels | the trick |
//! |---|---|---|
//! | `accumulate` | update | eight vectors of an accumulator stay in registers while all rows pass |
//! | `dot`, `term` | dot_* | products of neighbours are added into i32 by one instruction; four chains hide it |
//! | `move_dot` | `move_dots` | a move's sums are clipped and multiplied while they are in registers |
//! | `wide_dot` | wide_dot_* | the upper halves of the same i32 are summed beside them, and make them 64 bits wide |
//! | `pairwise` | pairwise_u8 | a factor shifted up, so that the high half of a product is the quotient |
//! | `dense`, `products`, `dense_end` | affine_u8, affine_i8 | K4: four inputs, broadcast, meet four columns of rows |
//! | `batch` | `batch`: dense layers | the same, inputs by rows: each vector of weights is loaded once for several |
//! | `chain` | `chains` | dense layers one behind the other: sums are rounded while they are in registers |
//! | `whole` | `chains`: whole layers | the same of layers that fill vectors, for which nothing can be left over |
//! | `store` | `batch`: inputs | a reciprocal a little too large, so that halves round away and nothing else changes |
//! | `dense16` | affine_i16 | four rows share each load of the inputs; products of neighbours, as in `dot` |
//! | `sparse` | affine_u7_sparse | the same, over a list of the groups that are not zero |
//! | `columns` | affine_f32_columns | a row a lane: the definition's eight lanes are eight vectors |
//! | `real` | the f32 kernels | eight rows' lanes are summed together, transposed |
//! | `tail` | tail_f32 | the small layers at the end in one call |
//! | `convolve`, `band`, `tile`, `ends` | convolve | runs of inputs, no patches; pixels by outputs in registers |
//! | `finish` | the same, its end | sums of two lanes an output are rounded as they lie |
//! | `place` | `single_place` | a vector of weights meets the inputs and is summed, for the zero point, at once |
//! | `depthwise`, `filter` | depthwise | rows of a window are neighbours, so that one instruction adds their products |
//! | `sum` | add_maps | multipliers cut into halves, whose products fit 32 bits |
//! | `requantise` | requantise_* | shifts above 32 need only the high word of the product |

pub(super) mod accumulate;
mod band;
#[cfg(batches)]
pub(super) mod batch;
#[cfg(short_ways)]
pub(super) mod chain;
pub(super) mod columns;
pub(super) mod convolve;
pub(super) mod dense;
pub(super) mod dense16;
mod dense_end;
pub(super) mod depthwise;
pub(super) mod dot;
mod ends;
pub(super) mod filter;
pub(super) mod finish;
#[allow(unused_macros, unused_imports, reason = "not every target has a tier of all groups")]
pub(super) mod groups;
mod lanes;
#[cfg(short_ways)]
pub(super) mod move_dot;
pub(super) mod pairwise;
#[cfg(short_ways)]
pub(super) mod place;
mod products;
pub(super) mod real;
pub(super) mod requantise;
pub(super) mod sparse;
#[cfg(batches)]
pub(super) mod store;
pub(super) mod sum;
mod table;
pub(super) mod tail;
mod term;
#[cfg_attr(not(short_ways), allow(dead_code, reason = "only a place alone sums weights"))]
pub(super) mod tile;
#[cfg(short_ways)]
pub(super) mod whole;
pub(super) mod wide_dot;

/// Whether the code is downloaded before it runs, as modules of WebAssembly are: large loops exist once then, are
/// called from where they would be repeated, and have no copies for single widths. On every other machine each is a
/// part of its caller.
pub(super) const IS_COMPACT: bool = cfg!(target_arch = "wasm32");

pub(super) use columns::Columns;
pub(super) use dense::Dense;
#[allow(unused_imports, reason = "not every target has dot products of bytes")]
pub(super) use filter::{ByteFilter, LaneProducts, WordFilter};
pub(super) use real::Reals;
pub(super) use table::{entry, tier};
pub(super) use tile::ByteTile;

use super::maps::rounded;
pub(super) use ends::ByteRange;

/// Integer vectors: `LANES` i16, or half as many i32.
pub(super) trait Simd: Copy {
    /// i16 in a vector.
    const LANES: usize;
    /// A vector of i16.
    type I16: Copy;
    /// A vector of i32.
    type I32: Copy;
    /// `[i16; LANES]`.
    type Chunk: Copy;
    /// `[i8; LANES]`.
    type ByteChunk: Copy;
    /// `[u8; 2·LANES]`.
    type WideByteChunk: Copy;
    /// `[i32; LANES / 2]`.
    type Chunk32: Copy + Default + AsRef<[i32]> + AsMut<[i32]>;
    /// `[u8; LANES / 2]`.
    type NarrowByteChunk: Copy + AsRef<[u8]>;

    fn chunks(x: &[i16]) -> (&[Self::Chunk], &[i16]);
    fn chunks_mut(x: &mut [i16]) -> (&mut [Self::Chunk], &mut [i16]);
    fn byte_chunks(x: &[i8]) -> (&[Self::ByteChunk], &[i8]);
    fn wide_byte_chunks_mut(x: &mut [u8]) -> (&mut [Self::WideByteChunk], &mut [u8]);
    fn chunks32(x: &[i32]) -> (&[Self::Chunk32], &[i32]);
    fn chunks32_mut(x: &mut [i32]) -> (&mut [Self::Chunk32], &mut [i32]);
    fn narrow_byte_chunks(x: &[u8]) -> (&[Self::NarrowByteChunk], &[u8]);
    fn narrow_byte_chunks_mut(x: &mut [u8]) -> (&mut [Self::NarrowByteChunk], &mut [u8]);

    fn load(self, x: &Self::Chunk) -> Self::I16;
    fn store(self, out: &mut Self::Chunk, x: Self::I16);
    /// Bytes, widened with their sign.
    fn load_bytes(self, x: &Self::ByteChunk) -> Self::I16;
    fn splat(self, x: i16) -> Self::I16;
    fn add(self, a: Self::I16, b: Self::I16) -> Self::I16;
    fn sub(self, a: Self::I16, b: Self::I16) -> Self::I16;
    fn min(self, a: Self::I16, b: Self::I16) -> Self::I16;
    fn max(self, a: Self::I16, b: Self::I16) -> Self::I16;
    /// Whether processors that run these instructions learn from short steps along a row to fetch what lies behind it;
    /// see `accumulate`.
    const TAKES_LONG_STEPS: bool = false;
    /// Whether there is a shorter [`Simd::clip_bytes`], for which loops of their own are worth while.
    const CLIPS_BYTES: bool = false;
    /// Both clipped to 0 to 255.
    #[inline(always)]
    fn clip_bytes(self, a: Self::I16, b: Self::I16) -> [Self::I16; 2] {
        let (low, high) = (self.splat(0), self.splat(255));
        [self.min(self.max(a, low), high), self.min(self.max(b, low), high)]
    }
    fn xor(self, a: Self::I16, b: Self::I16) -> Self::I16;
    fn or(self, a: Self::I16, b: Self::I16) -> Self::I16;
    /// Low 16 bits of the products.
    fn mul_low(self, a: Self::I16, b: Self::I16) -> Self::I16;
    /// High 16 bits of the signed products.
    fn mul_high(self, a: Self::I16, b: Self::I16) -> Self::I16;
    /// Products rounded at 15 bits, [`crate::num::mul_round`]; anything where both are −32768.
    #[inline(always)]
    fn mul_round(self, a: Self::I16, b: Self::I16) -> Self::I16 {
        // Twice the high half, and the low half rounded at its top bit: 0, 1 or 2.
        let (low, high) = (self.mul_low(a, b), self.mul_high(a, b));
        let rounded = self.shift_right(self.add(self.shift_right(low, 14), self.splat(1)), 1);
        self.add(self.add(high, high), rounded)
    }
    /// `x << n`, `n` < 16.
    fn shift_left(self, x: Self::I16, n: u32) -> Self::I16;
    /// `x >> n` of the bits as u16, `n` < 16.
    fn shift_right(self, x: Self::I16, n: u32) -> Self::I16;
    /// `a[2i]·b[2i] + a[2i + 1]·b[2i + 1]`, in i32, wrapping.
    fn mul_add_pairs(self, a: Self::I16, b: Self::I16) -> Self::I32;
    /// `sums + mul_add_pairs(a, b)`, which some machines do in one instruction. Sums may be spread over lanes in
    /// another order.
    #[inline(always)]
    fn add_products(self, sums: Self::I32, a: Self::I16, b: Self::I16) -> Self::I32 {
        self.add32(sums, self.mul_add_pairs(a, b))
    }
    /// `sums + mul_add_pairs(a, b)`, each sum in its own lane.
    #[inline(always)]
    fn add_pairs(self, sums: Self::I32, a: Self::I16, b: Self::I16) -> Self::I32 {
        self.add32(sums, self.mul_add_pairs(a, b))
    }
    /// Two vectors of values up to 255, in order; what is negative becomes 0.
    fn store_bytes(self, out: &mut Self::WideByteChunk, low: Self::I16, high: Self::I16);

    fn zero32(self) -> Self::I32;
    fn load32(self, x: &Self::Chunk32) -> Self::I32;
    fn store32(self, out: &mut Self::Chunk32, x: Self::I32);
    fn splat32(self, x: i32) -> Self::I32;
    fn add32(self, a: Self::I32, b: Self::I32) -> Self::I32;
    fn min32(self, a: Self::I32, b: Self::I32) -> Self::I32;
    fn max32(self, a: Self::I32, b: Self::I32) -> Self::I32;
    /// Sum of all lanes, wrapping.
    fn sum32(self, x: Self::I32) -> i32;
    /// High 32 bits of the signed products.
    fn mul_high32(self, a: Self::I32, b: Self::I32) -> Self::I32;
    /// `clamp((a·b + c·d + 2^(n − 1)) >> n, low, high)` in 64 bits, each `n[i]` 1 to 62 and no sum of products beyond
    /// 63 bits.
    #[inline(always)]
    fn round_sums32(self, a: [Self::I32; 2], c: [Self::I32; 2], n: Self::I32, low: i32, high: i32) -> Self::I32 {
        let mut all = [Self::Chunk32::default(); 5];
        for (array, vector) in all.iter_mut().zip([a[0], a[1], c[0], c[1], n]) {
            self.store32(array, vector);
        }
        let [mut a, b, c, d, n] = all;
        let rest = b.as_ref().iter().zip(c.as_ref()).zip(d.as_ref()).zip(n.as_ref());
        for (a, (((b, c), d), n)) in a.as_mut().iter_mut().zip(rest) {
            let sum = i64::from(*a) * i64::from(*b) + i64::from(*c) * i64::from(*d);
            *a = rounded(sum, *n as u32, 0, low, high);
        }
        self.load32(&a)
    }
    /// Bytes, widened with zeros.
    fn widen32(self, x: &Self::NarrowByteChunk) -> Self::I32;
    /// Bytes, widened with their sign.
    #[inline(always)]
    fn widen_signed32(self, x: &Self::NarrowByteChunk) -> Self::I32 {
        let mut wide = Self::Chunk32::default();
        for (wide, byte) in wide.as_mut().iter_mut().zip(x.as_ref()) {
            *wide = i32::from(*byte as i8);
        }
        self.load32(&wide)
    }
    /// Low 32 bits of the products.
    #[inline(always)]
    fn mul32(self, a: Self::I32, b: Self::I32) -> Self::I32 {
        let mut all = [Self::Chunk32::default(); 2];
        self.store32(&mut all[0], a);
        self.store32(&mut all[1], b);
        let [mut a, b] = all;
        for (a, b) in a.as_mut().iter_mut().zip(b.as_ref()) {
            *a = a.wrapping_mul(*b);
        }
        self.load32(&a)
    }
    /// `1 << n[i]`, each `n[i]` 0 to 31; anything for others.
    fn power_of_two32(self, n: Self::I32) -> Self::I32;
    /// `x[i] >> n[i]`, arithmetic, each `n[i]` 0 to 31; anything for others.
    fn shift_right32(self, x: Self::I32, n: Self::I32) -> Self::I32;
    /// `x[i] >> 16`, arithmetic.
    #[inline(always)]
    fn upper_halves32(self, x: Self::I32) -> Self::I32 {
        self.shift_right32(x, self.splat32(16))
    }
    /// The low byte of every lane.
    fn store_low_bytes32(self, out: &mut Self::NarrowByteChunk, x: Self::I32);
    /// Whether two rows of a filter's outputs at once are worth their code.
    const TWO_ROWS: bool = false;
    /// Whether there is a shorter [`Simd::store_four`], for which ends of their own are worth while.
    const STORES_FOUR: bool = false;
    /// Four vectors of a convolution's rounded sums as bytes, each below 2³⁰ in magnitude.
    ///
    /// # Safety
    /// A vector of bytes can be written to each place.
    #[inline(always)]
    unsafe fn store_four(self, out: [*mut Self::NarrowByteChunk; 4], x: [Self::I32; 4], range: &ByteRange) {
        for (out, x) in out.iter().zip(&x) {
            // SAFETY: the caller's.
            self.store_low_bytes32(unsafe { &mut **out }, range.clip(self, *x));
        }
    }

    /// Four vectors as bytes without a sign, one behind the other, each clamped to `low..=high`.
    #[cfg_attr(not(short_ways), allow(dead_code, reason = "only chains of layers ask"))]
    #[inline(always)]
    fn store_clamped(self, out: &mut [Self::NarrowByteChunk; 4], x: [Self::I32; 4], low: u8, high: u8) {
        for (out, x) in out.iter_mut().zip(&x) {
            let x = self.max32(*x, self.splat32(low.into()));
            self.store_low_bytes32(out, self.min32(x, self.splat32(high.into())));
        }
    }

    /// A bit for every four bytes that are not all zero, the `LANES / 2` lowest, and no other; `x` as long as a vector.
    #[cfg_attr(
        all(target_arch = "x86_64", not(feature = "wide")),
        expect(dead_code, reason = "only what lists by bits asks")
    )]
    fn nonzero_groups(self, x: &Self::WideByteChunk) -> u32;
    /// The numbers of groups of four bytes as they are listed.
    type Group: Copy + From<u16> + Into<u32>;
    /// Writes the number of each group of four bytes that are not all zero, in ascending order; the first `count` of
    /// them are there then, and `count` is at most the number of groups. `x` has at most [`sparse::GROUPS`] of them.
    ///
    /// # Safety
    /// A number for each group and [`sparse::ROOM`] more can be written to `out`, needed or not.
    unsafe fn list(self, x: &[Self::WideByteChunk], out: *mut Self::Group) -> sparse::Found;
    fn wide_byte_chunks(x: &[u8]) -> (&[Self::WideByteChunk], &[u8]);
}

/// The views of slices as arrays, which every implementation of [`Simd`] has alike.
macro_rules! chunk_views {
    ($lanes:literal) => {
        const LANES: usize = $lanes;
        type Chunk = [i16; $lanes];
        type ByteChunk = [i8; $lanes];
        type WideByteChunk = [u8; 2 * $lanes];
        type Chunk32 = [i32; $lanes / 2];
        type NarrowByteChunk = [u8; $lanes / 2];

        #[inline(always)]
        fn chunks(x: &[i16]) -> (&[Self::Chunk], &[i16]) {
            x.as_chunks()
        }
        #[inline(always)]
        fn chunks_mut(x: &mut [i16]) -> (&mut [Self::Chunk], &mut [i16]) {
            x.as_chunks_mut()
        }
        #[inline(always)]
        fn byte_chunks(x: &[i8]) -> (&[Self::ByteChunk], &[i8]) {
            x.as_chunks()
        }
        #[inline(always)]
        fn wide_byte_chunks(x: &[u8]) -> (&[Self::WideByteChunk], &[u8]) {
            x.as_chunks()
        }
        #[inline(always)]
        fn wide_byte_chunks_mut(x: &mut [u8]) -> (&mut [Self::WideByteChunk], &mut [u8]) {
            x.as_chunks_mut()
        }
        #[inline(always)]
        fn chunks32(x: &[i32]) -> (&[Self::Chunk32], &[i32]) {
            x.as_chunks()
        }
        #[inline(always)]
        fn chunks32_mut(x: &mut [i32]) -> (&mut [Self::Chunk32], &mut [i32]) {
            x.as_chunks_mut()
        }
        #[inline(always)]
        fn narrow_byte_chunks(x: &[u8]) -> (&[Self::NarrowByteChunk], &[u8]) {
            x.as_chunks()
        }
        #[inline(always)]
        fn narrow_byte_chunks_mut(x: &mut [u8]) -> (&mut [Self::NarrowByteChunk], &mut [u8]) {
            x.as_chunks_mut()
        }
    };
}
pub(super) use chunk_views;
