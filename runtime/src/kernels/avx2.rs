//! AVX2: vectors of 256 bits, with BMI and POPCNT, which come along with it.
//!
//! Byte products: `vpmaddubsw` multiplies u8 by i8 and adds neighbours *with saturation* in i16. With inputs up to 127
//! nothing saturates (2 · 127 · 128 < 2¹⁵), so that form is exact and `vpmaddwd` with ones widens the pairs into i32
//! ([`Narrow`]). Where four weights of a row fit the claim, two of those sums are added in i16 first ([`Paired`]). All
//! other bytes are widened to i16 before they are multiplied ([`Wide`]).

use super::vector::{Dense, Reals, Simd, chunk_views, sparse, tier};
use core::arch::x86_64::*;

tier!(
    /// The tier.
    KERNELS = "avx2", module table, features #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")],
    simd Avx2, reals Avx2, columns Avx2, u7 Narrow, paired Paired, u8 Wide<false>, i8 Wide<true>
);

/// Calls of intrinsics that only compute.
macro_rules! compute {
    ($expression:expr) => {
        // SAFETY: a value of this type is made only inside functions that enable the instruction set.
        unsafe { $expression }
    };
}
pub(super) use compute;

/// The instruction set.
#[derive(Clone, Copy)]
pub(super) struct Avx2(());

impl Avx2 {
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    #[inline]
    pub(super) fn new() -> Self {
        Self(())
    }
}

impl Simd for Avx2 {
    type I16 = __m256i;
    type I32 = __m256i;

    chunk_views!(16);

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
            let even = _mm256_mul_epi32(a, b);
            let odd = _mm256_mul_epi32(_mm256_srli_epi64::<32>(a), _mm256_srli_epi64::<32>(b));
            _mm256_blend_epi32::<0b1010_1010>(_mm256_srli_epi64::<32>(even), odd)
        })
    }
    #[inline(always)]
    fn widen32(self, x: &[u8; 8]) -> __m256i {
        // SAFETY: the array has 8 bytes; AVX2 as in `compute`.
        unsafe { _mm256_cvtepu8_epi32(_mm_loadl_epi64(x.as_ptr().cast())) }
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
        // SAFETY: the caller's.
        unsafe { sparse::list_by_bits(self, x, out) }
    }
}

impl Reals for Avx2 {
    type F32 = __m256;

    #[inline(always)]
    fn load(self, x: &[f32; 8]) -> __m256 {
        // SAFETY: the array has 32 bytes; AVX2 as in `compute`.
        unsafe { _mm256_loadu_ps(x.as_ptr()) }
    }
    #[inline(always)]
    fn store(self, out: &mut [f32; 8], x: __m256) {
        // SAFETY: the array has 32 bytes; AVX2 as in `compute`.
        unsafe { _mm256_storeu_ps(out.as_mut_ptr(), x) }
    }
    #[inline(always)]
    fn splat(self, x: f32) -> __m256 {
        compute!(_mm256_set1_ps(x))
    }
    #[inline(always)]
    fn add(self, a: __m256, b: __m256) -> __m256 {
        compute!(_mm256_add_ps(a, b))
    }
    #[inline(always)]
    fn mul(self, a: __m256, b: __m256) -> __m256 {
        compute!(_mm256_mul_ps(a, b))
    }
    /// MAXPS gives its second operand for a NaN and for zeros of either sign.
    #[inline(always)]
    fn relu(self, x: __m256) -> __m256 {
        compute!(_mm256_max_ps(x, _mm256_setzero_ps()))
    }
    #[inline(always)]
    fn crelu(self, x: __m256) -> __m256 {
        compute!(_mm256_min_ps(_mm256_max_ps(x, _mm256_setzero_ps()), _mm256_set1_ps(1.0)))
    }
    #[inline(always)]
    fn from_i32(self, x: &[i32; 8]) -> __m256 {
        // SAFETY: the array has 32 bytes; AVX2 as in `compute`.
        unsafe { _mm256_cvtepi32_ps(_mm256_loadu_si256(x.as_ptr().cast())) }
    }
    #[inline(always)]
    fn from_clipped(self, x: &[i16; 8], max: i16) -> __m256 {
        // SAFETY: the array has 16 bytes; AVX2 as in `compute`.
        unsafe {
            let x = _mm_loadu_si128(x.as_ptr().cast());
            let clipped = _mm_min_epi16(_mm_max_epi16(x, _mm_setzero_si128()), _mm_set1_epi16(max));
            _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(clipped))
        }
    }
    /// Two vectors become one in every step, `a` in one half of the lanes and `b` in the other: a blend and a shuffle
    /// put the two operands of every addition opposite each other, whichever comes first, and blends, unlike shuffles,
    /// run on every port.
    #[inline(always)]
    fn reduce(self, x: [__m256; 8]) -> __m256 {
        compute!({
            // Lanes four apart: of `a` in the low half, of `b` in the high one.
            let fours = |a, b| _mm256_add_ps(_mm256_blend_ps::<0xF0>(a, b), _mm256_permute2f128_ps::<0x21>(a, b));
            // Two apart: in each half two lanes of `a`, two of `b`.
            let twos = |a, b| _mm256_add_ps(_mm256_blend_ps::<0xCC>(a, b), _mm256_shuffle_ps::<0b01_00_11_10>(a, b));
            let even = twos(fours(x[0], x[4]), fours(x[2], x[6]));
            let odd = twos(fours(x[1], x[5]), fours(x[3], x[7]));
            // Neighbours: lane 0 of `even` meets lane 1, and lane 1 of `odd` lane 0.
            let swapped = _mm256_permute_ps::<0b10_11_00_01>(_mm256_blend_ps::<0xAA>(odd, even));
            _mm256_add_ps(_mm256_blend_ps::<0xAA>(even, odd), swapped)
        })
    }
}

/// Loads of weights, which all byte products of 256 bits share.
macro_rules! load_256 {
    () => {
        const ROWS: usize = 8;
        type Weights = __m256i;
        type Rows = [i32; 8];

        #[inline(always)]
        unsafe fn load(self, w: *const i8) -> __m256i {
            // SAFETY: the caller vouches for 32 bytes; the instruction set as in `compute`.
            unsafe { _mm256_loadu_si256(w.cast()) }
        }
        #[inline(always)]
        unsafe fn load_part(self, w: *const i8, rows: usize) -> __m256i {
            // SAFETY: only lanes below `rows` are read, for which the caller vouches; the instruction set as in
            // `compute`.
            unsafe {
                let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
                _mm256_maskload_epi32(w.cast(), _mm256_cmpgt_epi32(_mm256_set1_epi32(rows as i32), lanes))
            }
        }
    };
}
pub(super) use load_256;

/// u8 up to 127 by i8.
#[derive(Clone, Copy)]
struct Narrow(Avx2);

impl Narrow {
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    #[inline]
    fn new() -> Self {
        Self(Avx2::new())
    }
}

/// One i32 a row.
macro_rules! one_sum_a_row {
    () => {
        type Sums = __m256i;

        #[inline(always)]
        fn zero(self) -> __m256i {
            compute!(_mm256_setzero_si256())
        }
        #[inline(always)]
        fn add(self, a: __m256i, b: __m256i) -> __m256i {
            compute!(_mm256_add_epi32(a, b))
        }
        #[inline(always)]
        fn rows(self, sums: __m256i) -> [i32; 8] {
            let mut rows = [0; 8];
            // SAFETY: the array has 32 bytes; the instruction set as in `compute`.
            unsafe { _mm256_storeu_si256(rows.as_mut_ptr().cast(), sums) };
            rows
        }
    };
}
pub(super) use one_sum_a_row;

impl Dense for Narrow {
    const ANY_U8: bool = false;
    load_256!();
    one_sum_a_row!();

    #[inline(always)]
    fn mac(self, sums: __m256i, x: u32, w: __m256i) -> __m256i {
        compute!({
            let pairs = _mm256_maddubs_epi16(_mm256_set1_epi32(x as i32), w);
            _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)))
        })
    }

    const HAS_GROUPS: bool = true;
    #[inline(always)]
    unsafe fn mac_groups(self, sums: __m256i, x: *const u8, w: __m256i) -> __m256i {
        // SAFETY: the caller vouches for eight bytes; the instruction set as in `compute`.
        unsafe {
            let pairs = _mm256_maddubs_epi16(two_groups(x), w);
            _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)))
        }
    }
}

/// Four inputs in each lane of the low half, the next four in each of the high one.
///
/// # Safety
/// Eight bytes can be read from `x`.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) unsafe fn two_groups(x: *const u8) -> __m256i {
    // SAFETY: the caller's.
    let eight = unsafe { x.cast::<i64>().read_unaligned() };
    _mm256_permutevar8x32_epi32(_mm256_set1_epi64x(eight), _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1))
}

/// The same where the sums of two groups' pairs fit i16.
#[derive(Clone, Copy)]
struct Paired(Narrow);

impl Paired {
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    #[inline]
    fn new() -> Self {
        Self(Narrow::new())
    }
}

impl Dense for Paired {
    const ANY_U8: bool = false;
    load_256!();
    one_sum_a_row!();

    #[inline(always)]
    fn mac(self, sums: __m256i, x: u32, w: __m256i) -> __m256i {
        self.0.mac(sums, x, w)
    }
    #[inline(always)]
    fn mac2(self, sums: __m256i, x: [u32; 2], w: [__m256i; 2]) -> __m256i {
        compute!({
            let first = _mm256_maddubs_epi16(_mm256_set1_epi32(x[0] as i32), w[0]);
            let second = _mm256_maddubs_epi16(_mm256_set1_epi32(x[1] as i32), w[1]);
            let both = _mm256_add_epi16(first, second);
            _mm256_add_epi32(sums, _mm256_madd_epi16(both, _mm256_set1_epi16(1)))
        })
    }

    const HAS_GROUPS: bool = true;
    #[inline(always)]
    unsafe fn mac_groups(self, sums: __m256i, x: *const u8, w: __m256i) -> __m256i {
        // SAFETY: the caller's.
        unsafe { self.0.mac_groups(sums, x, w) }
    }
}

/// Any byte, signed or not, by i8, widened to i16.
#[derive(Clone, Copy)]
struct Wide<const SIGNED: bool>(());

impl<const SIGNED: bool> Wide<SIGNED> {
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    #[inline]
    fn new() -> Self {
        Self(())
    }
}

impl<const SIGNED: bool> Dense for Wide<SIGNED> {
    const ANY_U8: bool = true;
    load_256!();
    /// Rows 0 to 3 and rows 4 to 7, two i32 each.
    type Sums = [__m256i; 2];

    #[inline(always)]
    fn zero(self) -> Self::Sums {
        compute!([_mm256_setzero_si256(); 2])
    }
    #[inline(always)]
    fn mac(self, sums: Self::Sums, x: u32, w: __m256i) -> Self::Sums {
        compute!({
            let four = _mm_cvtsi32_si128(x as i32);
            let wide = if SIGNED { _mm_cvtepi8_epi16(four) } else { _mm_cvtepu8_epi16(four) };
            let x = _mm256_broadcastq_epi64(wide);
            let low = _mm256_cvtepi8_epi16(_mm256_castsi256_si128(w));
            let high = _mm256_cvtepi8_epi16(_mm256_extracti128_si256::<1>(w));
            [
                _mm256_add_epi32(sums[0], _mm256_madd_epi16(x, low)),
                _mm256_add_epi32(sums[1], _mm256_madd_epi16(x, high)),
            ]
        })
    }
    #[inline(always)]
    fn add(self, a: Self::Sums, b: Self::Sums) -> Self::Sums {
        compute!([_mm256_add_epi32(a[0], b[0]), _mm256_add_epi32(a[1], b[1])])
    }
    #[inline(always)]
    fn rows(self, sums: Self::Sums) -> [i32; 8] {
        let mut rows = [0; 8];
        // Horizontal addition works in halves: rows 0 1 4 5, 2 3 6 7.
        // SAFETY: the array has 32 bytes; AVX2 as in `compute`.
        unsafe {
            let both = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_hadd_epi32(sums[0], sums[1]));
            _mm256_storeu_si256(rows.as_mut_ptr().cast(), both);
        }
        rows
    }
}
