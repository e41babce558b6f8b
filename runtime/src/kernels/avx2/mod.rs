//! AVX2: vectors of 256 bits, with BMI and POPCNT, which come along with it. [`bytes`] has the products of bytes,
//! `pairs` and `finish` those of convolutions and their end, `reals` the vocabulary of f32.

mod bytes;
mod finish;
mod pairs;
mod reals;

use super::vector::{ByteRange, Simd, WordFilter, chunk_views, sparse, tier};
use bytes::{Narrow, Paired};
use core::arch::asm;
use core::arch::x86_64::*;
use finish::ToBytes;
use pairs::Pairs;

tier!(
    /// The tier.
    KERNELS = "avx2", module table, features #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")],
    vectors(simd Avx2),
    reals(reals Avx2, columns Avx2),
    dots(simd Avx2),
    narrow_bytes(simd Avx2, u7 Narrow, paired Paired, u8 Wide<false>, any all_bytes::affine_any),
    all_bytes(simd Avx2, u7 Narrow, paired Paired, u8 Wide<false>, i8 Wide<true>),
    convolutions(simd Avx2, tile Pairs::new(), filter WordFilter::new(Avx2::new())),
    single_places(simd Avx2, tile Pairs::new()),
    batches(u7 Narrow, u8 Wide<false>, i8 Wide<true>)
);

/// Calls of intrinsics that only compute.
macro_rules! compute {
    ($expression:expr) => {
        // SAFETY: a value of this type is made only inside functions that enable the instruction set.
        unsafe { $expression }
    };
}
#[cfg(feature = "avxvnni")]
pub(in crate::kernels) use bytes::{load_256, one_sum_a_row, two_groups};
pub(in crate::kernels) use {bytes::Wide, compute};

/// The instruction set.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct Avx2(());

impl Avx2 {
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    #[inline]
    pub(in crate::kernels) fn new() -> Self {
        Self(())
    }
}

impl Simd for Avx2 {
    type I16 = __m256i;
    type I32 = __m256i;

    chunk_views!(16);

    const TAKES_LONG_STEPS: bool = true;

    #[inline(always)]
    fn load(self, x: &[i16; 16]) -> __m256i {
        // SAFETY: the array has 32 bytes; AVX2 as in `compute`.
        unsafe { _mm256_loadu_si256(x.as_ptr().cast()) }
    }
    #[inline(always)]
    fn store(self, out: &mut [i16; 16], x: __m256i) {
        // SAFETY: the array has 32 bytes; AVX2 as in `compute`.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), x) }
    }
    #[inline(always)]
    fn load_bytes(self, x: &[i8; 16]) -> __m256i {
        // SAFETY: the array has 16 bytes; AVX2 as in `compute`.
        unsafe { _mm256_cvtepi8_epi16(_mm_loadu_si128(x.as_ptr().cast())) }
    }
    #[inline(always)]
    fn splat(self, x: i16) -> __m256i {
        compute!(_mm256_set1_epi16(x))
    }
    #[inline(always)]
    fn add(self, a: __m256i, b: __m256i) -> __m256i {
        compute!(_mm256_add_epi16(a, b))
    }
    #[inline(always)]
    fn sub(self, a: __m256i, b: __m256i) -> __m256i {
        compute!(_mm256_sub_epi16(a, b))
    }
    #[inline(always)]
    fn min(self, a: __m256i, b: __m256i) -> __m256i {
        compute!(_mm256_min_epi16(a, b))
    }
    #[inline(always)]
    fn max(self, a: __m256i, b: __m256i) -> __m256i {
        compute!(_mm256_max_epi16(a, b))
    }
    const CLIPS_BYTES: bool = true;
    #[inline(always)]
    fn clip_bytes(self, a: __m256i, b: __m256i) -> [__m256i; 2] {
        // Packing to bytes with saturation clips both at both ends in one instruction. It and unpacking work in the
        // same halves of 128 bits, so that every element comes back to its place: three instructions for four.
        compute!({
            let (bytes, zero) = (_mm256_packus_epi16(a, b), _mm256_setzero_si256());
            [_mm256_unpacklo_epi8(bytes, zero), _mm256_unpackhi_epi8(bytes, zero)]
        })
    }
    #[inline(always)]
    fn xor(self, a: __m256i, b: __m256i) -> __m256i {
        compute!(_mm256_xor_si256(a, b))
    }
    #[inline(always)]
    fn or(self, a: __m256i, b: __m256i) -> __m256i {
        compute!(_mm256_or_si256(a, b))
    }
    #[inline(always)]
    fn mul_low(self, a: __m256i, b: __m256i) -> __m256i {
        compute!(_mm256_mullo_epi16(a, b))
    }
    #[inline(always)]
    fn mul_high(self, a: __m256i, b: __m256i) -> __m256i {
        compute!(_mm256_mulhi_epi16(a, b))
    }
    #[inline(always)]
    fn mul_round(self, a: __m256i, b: __m256i) -> __m256i {
        compute!(_mm256_mulhrs_epi16(a, b))
    }
    #[inline(always)]
    fn shift_left(self, x: __m256i, n: u32) -> __m256i {
        compute!(_mm256_sll_epi16(x, _mm_cvtsi32_si128(n as i32)))
    }
    #[inline(always)]
    fn shift_right(self, x: __m256i, n: u32) -> __m256i {
        compute!(_mm256_srl_epi16(x, _mm_cvtsi32_si128(n as i32)))
    }
    #[inline(always)]
    fn mul_add_pairs(self, a: __m256i, b: __m256i) -> __m256i {
        compute!(_mm256_madd_epi16(a, b))
    }
    #[inline(always)]
    fn store_bytes(self, out: &mut [u8; 32], low: __m256i, high: __m256i) {
        // Packing works in halves of 128 bits: quarters come out as low, high, low, high and are put in order.
        let packed = compute!(_mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packus_epi16(low, high)));
        // SAFETY: the array has 32 bytes; AVX2 as in `compute`.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), packed) }
    }

    #[inline(always)]
    fn zero32(self) -> __m256i {
        compute!(_mm256_setzero_si256())
    }
    #[inline(always)]
    fn load32(self, x: &[i32; 8]) -> __m256i {
        // SAFETY: the array has 32 bytes; AVX2 as in `compute`.
        unsafe { _mm256_loadu_si256(x.as_ptr().cast()) }
    }
    #[inline(always)]
    fn store32(self, out: &mut [i32; 8], x: __m256i) {
        // SAFETY: the array has 32 bytes; AVX2 as in `compute`.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), x) }
    }
    #[inline(always)]
    fn splat32(self, x: i32) -> __m256i {
        compute!(_mm256_set1_epi32(x))
    }
    #[inline(always)]
    fn add32(self, a: __m256i, b: __m256i) -> __m256i {
        compute!(_mm256_add_epi32(a, b))
    }
    #[inline(always)]
    fn min32(self, a: __m256i, b: __m256i) -> __m256i {
        compute!(_mm256_min_epi32(a, b))
    }
    #[inline(always)]
    fn max32(self, a: __m256i, b: __m256i) -> __m256i {
        compute!(_mm256_max_epi32(a, b))
    }
    #[inline(always)]
    fn sum32(self, x: __m256i) -> i32 {
        compute!({
            let four = _mm_add_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256::<1>(x));
            let two = _mm_add_epi32(four, _mm_shuffle_epi32::<0b01_00_11_10>(four));
            _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32::<0b10_11_00_01>(two)))
        })
    }
    #[inline(always)]
    fn mul_high32(self, a: __m256i, b: __m256i) -> __m256i {
        // The multiplication reads even lanes; odd ones are shifted down. High words of even products move to their
        // lane.
        compute!({
            let even = mul_even32(a, b);
            let odd = mul_even32(_mm256_srli_epi64::<32>(a), _mm256_srli_epi64::<32>(b));
            _mm256_blend_epi32::<0b1010_1010>(_mm256_srli_epi64::<32>(even), odd)
        })
    }
    #[inline(always)]
    fn round_sums32(self, a: [__m256i; 2], c: [__m256i; 2], n: __m256i, low: i32, high: i32) -> __m256i {
        // SAFETY: AVX2 as in `compute`.
        unsafe {
            let even_n = _mm256_and_si256(n, _mm256_set1_epi64x(0xFFFF_FFFF));
            let even = _mm256_add_epi64(_mm256_mul_epi32(a[0], a[1]), _mm256_mul_epi32(c[0], c[1]));
            let odd = _mm256_add_epi64(
                _mm256_mul_epi32(_mm256_srli_epi64::<32>(a[0]), _mm256_srli_epi64::<32>(a[1])),
                _mm256_mul_epi32(_mm256_srli_epi64::<32>(c[0]), _mm256_srli_epi64::<32>(c[1])),
            );
            let (even, odd) = (round64(even, even_n, low, high), round64(odd, _mm256_srli_epi64::<32>(n), low, high));
            _mm256_blend_epi32::<0b1010_1010>(even, _mm256_slli_epi64::<32>(odd))
        }
    }
    #[inline(always)]
    fn widen32(self, x: &[u8; 8]) -> __m256i {
        // SAFETY: the array has 8 bytes; AVX2 as in `compute`.
        unsafe { _mm256_cvtepu8_epi32(_mm_loadl_epi64(x.as_ptr().cast())) }
    }
    #[inline(always)]
    fn widen_signed32(self, x: &[u8; 8]) -> __m256i {
        // SAFETY: the array has 8 bytes; AVX2 as in `compute`.
        unsafe { _mm256_cvtepi8_epi32(_mm_loadl_epi64(x.as_ptr().cast())) }
    }
    #[inline(always)]
    fn mul32(self, a: __m256i, b: __m256i) -> __m256i {
        compute!(_mm256_mullo_epi32(a, b))
    }
    #[inline(always)]
    fn power_of_two32(self, n: __m256i) -> __m256i {
        compute!(_mm256_sllv_epi32(_mm256_set1_epi32(1), n))
    }
    #[inline(always)]
    fn shift_right32(self, x: __m256i, n: __m256i) -> __m256i {
        compute!(_mm256_srav_epi32(x, n))
    }
    #[inline(always)]
    fn store_low_bytes32(self, out: &mut [u8; 8], x: __m256i) {
        // Byte 0 of each lane to the front of its half, then the halves' first words side by side.
        let bytes = compute!({
            let gather = _mm_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
            let low = _mm_shuffle_epi8(_mm256_castsi256_si128(x), gather);
            let high = _mm_shuffle_epi8(_mm256_extracti128_si256::<1>(x), gather);
            _mm_cvtsi128_si64(_mm_unpacklo_epi32(low, high))
        });
        *out = bytes.to_le_bytes();
    }
    const TWO_ROWS: bool = true;
    const STORES_FOUR: bool = true;
    #[inline(always)]
    unsafe fn store_four(self, out: [*mut [u8; 8]; 4], x: [__m256i; 4], range: &ByteRange) {
        // SAFETY: the caller vouches for the places; AVX2 as in `compute`.
        unsafe {
            let bytes = ToBytes::of(range).pack(x);
            // The halves of a vector are put side by side.
            let (low, high) = (_mm256_castsi256_si128(bytes), _mm256_extracti128_si256::<1>(bytes));
            let (a, b) = (_mm_unpacklo_epi32(low, high), _mm_unpackhi_epi32(low, high));
            _mm_storel_epi64(out[0].cast(), a);
            _mm_storeh_pd(out[1].cast(), _mm_castsi128_pd(a));
            _mm_storel_epi64(out[2].cast(), b);
            _mm_storeh_pd(out[3].cast(), _mm_castsi128_pd(b));
        }
    }

    #[inline(always)]
    fn store_clamped(self, out: &mut [[u8; 8]; 4], x: [__m256i; 4], low: u8, high: u8) {
        // SAFETY: the arrays have 32 bytes; AVX2 as in `compute`.
        unsafe {
            // What saturation cuts off is beyond the clamp anyway. Packing works in halves of 128 bits: each gets four
            // bytes of a vector, one vector after the other.
            let halves = [_mm256_packs_epi32(x[0], x[1]), _mm256_packs_epi32(x[2], x[3])];
            let bytes = _mm256_max_epu8(_mm256_packus_epi16(halves[0], halves[1]), _mm256_set1_epi8(low as i8));
            let bytes = _mm256_min_epu8(bytes, _mm256_set1_epi8(high as i8));
            let bytes = _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
            _mm256_storeu_si256(out.as_mut_ptr().cast(), bytes);
        }
    }

    #[inline(always)]
    fn nonzero_groups(self, x: &[u8; 32]) -> u32 {
        // SAFETY: the array has 32 bytes; AVX2 as in `compute`.
        unsafe {
            let groups = _mm256_loadu_si256(x.as_ptr().cast());
            let zero = _mm256_cmpeq_epi32(groups, _mm256_setzero_si256());
            !_mm256_movemask_ps(_mm256_castsi256_ps(zero)) as u32 & 0xFF
        }
    }
    type Group = u16;
    #[inline(always)]
    unsafe fn list(self, x: &[[u8; 32]], out: *mut u16) -> sparse::Found {
        // Groups that are zero are what is counted, since a comparison names them: numbers lie as many places before
        // those of a full list. The first group's number is kept in all lanes, where it grows by an addition: brought
        // there anew from a register for each vector, it takes two instructions.
        let (mut behind, mut first) = (0, compute!(_mm_setzero_si128()));
        let (fours, rest) = x.as_chunks::<4>();
        for (index, four) in fours.iter().enumerate() {
            for (vector, groups) in four.iter().enumerate() {
                let place = out.wrapping_add(32 * index + 8 * vector).wrapping_offset(behind);
                // SAFETY: the caller's; so many groups came before that are not zero.
                behind -= unsafe { list_eight(groups, &mut first, place) };
            }
        }
        for (index, groups) in rest.iter().enumerate() {
            let place = out.wrapping_add(32 * fours.len() + 8 * index).wrapping_offset(behind);
            // SAFETY: as above.
            behind -= unsafe { list_eight(groups, &mut first, place) };
        }
        let mut zero = None;
        if let Some(groups) = x.first() {
            let bits = compute!(zero_groups(groups));
            zero = (bits != 0).then_some(bits.trailing_zeros() as u16);
        }
        sparse::Found::counted((8 * x.len()).wrapping_add_signed(behind), zero)
    }
}

/// A bit for every four bytes that are all zero.
#[target_feature(enable = "avx2")]
#[inline]
fn zero_groups(x: &[u8; 32]) -> u32 {
    // SAFETY: the array has 32 bytes.
    let x = unsafe { _mm256_loadu_si256(x.as_ptr().cast()) };
    _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(x, _mm256_setzero_si256()))) as u32
}

/// Writes the numbers of a vector's groups that are not all zero, the first of which is in all lanes of `first`, and
/// goes on to the next vector's; returns how many are zero.
///
/// # Safety
/// Eight numbers can be written to `out`.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn list_eight(groups: &[u8; 32], first: &mut __m128i, out: *mut u16) -> isize {
    let bits = zero_groups(groups);
    // SAFETY: a table's row has eight bytes, and the caller's list as many places.
    unsafe {
        let places = _mm_cvtepu8_epi16(_mm_loadl_epi64(sparse::places_of_clear_bits(bits as u8).as_ptr().cast()));
        _mm_storeu_si128(out.cast(), _mm_add_epi16(*first, places));
    }
    *first = _mm_add_epi16(*first, _mm_set1_epi16(8));
    bits.count_ones() as isize
}

/// `clamp((x + 2^(n − 1)) >> n, low, high)` of four i64.
#[target_feature(enable = "avx2")]
#[inline]
fn round64(x: __m256i, n: __m256i, low: i32, high: i32) -> __m256i {
    // There is no arithmetic shift of 64 bits: what is moved up by 2⁶³ is shifted as if it had no sign.
    let (sign, one) = (_mm256_set1_epi64x(i64::MIN), _mm256_set1_epi64x(1));
    let x = _mm256_add_epi64(x, _mm256_sllv_epi64(one, _mm256_sub_epi64(n, one)));
    let shifted = _mm256_srlv_epi64(_mm256_xor_si256(x, sign), n);
    let x = _mm256_sub_epi64(shifted, _mm256_srlv_epi64(sign, n));
    let (low, high) = (_mm256_set1_epi64x(low.into()), _mm256_set1_epi64x(high.into()));
    let x = _mm256_blendv_epi8(x, low, _mm256_cmpgt_epi64(low, x));
    _mm256_blendv_epi8(x, high, _mm256_cmpgt_epi64(x, high))
}

/// Signed products of even lanes, 64 bits each, by the instruction itself. Where one side does not change in a loop,
/// the compiler takes its widening out of it, forgets that it has a sign of 32 bits, and multiplies 64 by 64 bits:
/// three multiplications in place of one.
#[target_feature(enable = "avx2")]
#[inline]
fn mul_even32(a: __m256i, b: __m256i) -> __m256i {
    let out;
    // SAFETY: an instruction of AVX2, which this function has; it reads and writes registers only.
    unsafe {
        asm!(
            "vpmuldq {out}, {a}, {b}",
            out = lateout(ymm_reg) out,
            a = in(ymm_reg) a,
            b = in(ymm_reg) b,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    out
}
