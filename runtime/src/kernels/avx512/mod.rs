//! AVX-512 with BW, DQ and VL, alone and with VNNI: vectors of 512 bits, masks for what does not fill them.
//!
//! The first is `avx512bw`, which Skylake-SP and its like take: products of bytes and of words are AVX2's,
//! twice as wide ([`bytes`], [`pairs`]). With VNNI, `avx512`, one instruction adds them to their sums ([`vnni`];
//! `vpdpwssd` for words). The f32 kernels are AVX2's in both, because the definition has eight lanes, but for layers on
//! columns, alone or within `tail_f32`, where a lane is a row ([`columns`]).

mod bytes;
mod columns;
mod pairs;
mod vnni;

use super::avx2::{self, Avx2, Wide, compute};
use super::vector::sparse::Found;
use super::vector::{ByteFilter, ByteTile, Simd, WordFilter, chunk_views, tier};
use bytes::{Narrow, Paired};
use core::arch::x86_64::*;
use pairs::Pairs;
use vnni::{Signed, Unsigned};

tier!(
    /// The tier without VNNI. Batches, chains of layers and inputs that are not narrow are AVX2's: with them an
    /// engine's program would be 170 kB longer, for up to a seventh of a layer's time.
    BW = "avx512bw" over avx2::KERNELS, module bw_table,
    features #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,avx512f,avx512bw,avx512dq,avx512vl")],
    vectors(simd Bw),
    reals(reals Avx2, columns Bw),
    dots(simd Bw),
    narrow_bytes(simd Bw, u7 Narrow, paired Paired, u8 Wide<false>, any avx2::table::all_bytes::affine_any),
    convolutions(
        simd Bw, tile Pairs::new(), filter WordFilter::new(Bw::new()),
        few 8 of avx2::table::convolutions::convolve
    ),
    single_places(simd Bw, tile Pairs::new())
);

tier!(
    /// The tier with VNNI.
    VNNI = "avx512" over bw_table::KERNELS, module vnni_table,
    features #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")],
    dots(simd Vnni),
    narrow_bytes(simd Vnni, u7 Unsigned, paired Unsigned, u8 Unsigned, any all_bytes::affine_any),
    all_bytes(simd Vnni, u7 Unsigned, paired Unsigned, u8 Unsigned, i8 Signed),
    convolutions(
        simd Vnni, tile ByteTile::<_, u8, 4, 16>::new(Unsigned::new()),
        filter ByteFilter::<_, _, u8>::new(Vnni::new(), Unsigned::new())
    ),
    single_places(simd Vnni, tile ByteTile::<_, u8, 4, 16>::new(Unsigned::new())),
    batches(u7 Unsigned, u8 Unsigned, i8 Signed)
);

/// The instruction set, with VNNI or without.
#[derive(Clone, Copy)]
struct Avx512<const VNNI: bool>(());

type Bw = Avx512<false>;
type Vnni = Avx512<true>;

impl Bw {
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    #[inline]
    fn new() -> Self {
        Self(())
    }
}

impl Vnni {
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    #[inline]
    fn new() -> Self {
        Self(())
    }
}

impl<const VNNI: bool> Simd for Avx512<VNNI> {
    type I16 = __m512i;
    type I32 = __m512i;

    chunk_views!(32);

    const TAKES_LONG_STEPS: bool = true;

    #[inline(always)]
    fn load(self, x: &[i16; 32]) -> __m512i {
        // SAFETY: the array has 64 bytes; the instruction set as in `compute`.
        unsafe { _mm512_loadu_si512(x.as_ptr().cast()) }
    }
    #[inline(always)]
    fn store(self, out: &mut [i16; 32], x: __m512i) {
        // SAFETY: the array has 64 bytes; the instruction set as in `compute`.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), x) }
    }
    #[inline(always)]
    fn load_bytes(self, x: &[i8; 32]) -> __m512i {
        // SAFETY: the array has 32 bytes; the instruction set as in `compute`.
        unsafe { _mm512_cvtepi8_epi16(_mm256_loadu_si256(x.as_ptr().cast())) }
    }
    #[inline(always)]
    fn splat(self, x: i16) -> __m512i {
        compute!(_mm512_set1_epi16(x))
    }
    #[inline(always)]
    fn add(self, a: __m512i, b: __m512i) -> __m512i {
        compute!(_mm512_add_epi16(a, b))
    }
    #[inline(always)]
    fn sub(self, a: __m512i, b: __m512i) -> __m512i {
        compute!(_mm512_sub_epi16(a, b))
    }
    #[inline(always)]
    fn min(self, a: __m512i, b: __m512i) -> __m512i {
        compute!(_mm512_min_epi16(a, b))
    }
    #[inline(always)]
    fn max(self, a: __m512i, b: __m512i) -> __m512i {
        compute!(_mm512_max_epi16(a, b))
    }
    #[inline(always)]
    fn xor(self, a: __m512i, b: __m512i) -> __m512i {
        compute!(_mm512_xor_si512(a, b))
    }
    #[inline(always)]
    fn or(self, a: __m512i, b: __m512i) -> __m512i {
        compute!(_mm512_or_si512(a, b))
    }
    #[inline(always)]
    fn mul_low(self, a: __m512i, b: __m512i) -> __m512i {
        compute!(_mm512_mullo_epi16(a, b))
    }
    #[inline(always)]
    fn mul_high(self, a: __m512i, b: __m512i) -> __m512i {
        compute!(_mm512_mulhi_epi16(a, b))
    }
    #[inline(always)]
    fn mul_round(self, a: __m512i, b: __m512i) -> __m512i {
        compute!(_mm512_mulhrs_epi16(a, b))
    }
    #[inline(always)]
    fn shift_left(self, x: __m512i, n: u32) -> __m512i {
        compute!(_mm512_sll_epi16(x, _mm_cvtsi32_si128(n as i32)))
    }
    #[inline(always)]
    fn shift_right(self, x: __m512i, n: u32) -> __m512i {
        compute!(_mm512_srl_epi16(x, _mm_cvtsi32_si128(n as i32)))
    }
    #[inline(always)]
    fn mul_add_pairs(self, a: __m512i, b: __m512i) -> __m512i {
        compute!(_mm512_madd_epi16(a, b))
    }
    #[inline(always)]
    fn add_products(self, sums: __m512i, a: __m512i, b: __m512i) -> __m512i {
        self.add_pairs(sums, a, b)
    }
    #[inline(always)]
    fn add_pairs(self, sums: __m512i, a: __m512i, b: __m512i) -> __m512i {
        if VNNI { compute!(_mm512_dpwssd_epi32(sums, a, b)) } else { self.add32(sums, self.mul_add_pairs(a, b)) }
    }
    #[inline(always)]
    fn store_bytes(self, out: &mut [u8; 64], low: __m512i, high: __m512i) {
        // Packing works in quarters: eighths come out as low, high, low, high … and are put in order.
        let packed = compute!({
            let order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
            _mm512_permutexvar_epi64(order, _mm512_packus_epi16(low, high))
        });
        // SAFETY: the array has 64 bytes; the instruction set as in `compute`.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), packed) }
    }

    #[inline(always)]
    fn zero32(self) -> __m512i {
        compute!(_mm512_setzero_si512())
    }
    #[inline(always)]
    fn load32(self, x: &[i32; 16]) -> __m512i {
        // SAFETY: the array has 64 bytes; the instruction set as in `compute`.
        unsafe { _mm512_loadu_si512(x.as_ptr().cast()) }
    }
    #[inline(always)]
    fn store32(self, out: &mut [i32; 16], x: __m512i) {
        // SAFETY: the array has 64 bytes; the instruction set as in `compute`.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), x) }
    }
    #[inline(always)]
    fn splat32(self, x: i32) -> __m512i {
        compute!(_mm512_set1_epi32(x))
    }
    #[inline(always)]
    fn add32(self, a: __m512i, b: __m512i) -> __m512i {
        compute!(_mm512_add_epi32(a, b))
    }
    #[inline(always)]
    fn min32(self, a: __m512i, b: __m512i) -> __m512i {
        compute!(_mm512_min_epi32(a, b))
    }
    #[inline(always)]
    fn max32(self, a: __m512i, b: __m512i) -> __m512i {
        compute!(_mm512_max_epi32(a, b))
    }
    #[inline(always)]
    fn sum32(self, x: __m512i) -> i32 {
        compute!({
            let eight = _mm256_add_epi32(_mm512_castsi512_si256(x), _mm512_extracti64x4_epi64::<1>(x));
            let four = _mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256::<1>(eight));
            let two = _mm_add_epi32(four, _mm_shuffle_epi32::<0b01_00_11_10>(four));
            _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32::<0b10_11_00_01>(two)))
        })
    }
    #[inline(always)]
    fn mul_high32(self, a: __m512i, b: __m512i) -> __m512i {
        // The multiplication reads even lanes; odd ones are shifted down. High words of even products move to their
        // lane.
        compute!({
            let even = _mm512_mul_epi32(a, b);
            let odd = _mm512_mul_epi32(_mm512_srli_epi64::<32>(a), _mm512_srli_epi64::<32>(b));
            _mm512_mask_mov_epi32(_mm512_srli_epi64::<32>(even), 0b1010_1010_1010_1010, odd)
        })
    }
    #[inline(always)]
    fn round_sums32(self, a: [__m512i; 2], c: [__m512i; 2], n: __m512i, low: i32, high: i32) -> __m512i {
        compute!({
            let even_n = _mm512_and_si512(n, _mm512_set1_epi64(0xFFFF_FFFF));
            let even = _mm512_add_epi64(_mm512_mul_epi32(a[0], a[1]), _mm512_mul_epi32(c[0], c[1]));
            let odd = _mm512_add_epi64(
                _mm512_mul_epi32(_mm512_srli_epi64::<32>(a[0]), _mm512_srli_epi64::<32>(a[1])),
                _mm512_mul_epi32(_mm512_srli_epi64::<32>(c[0]), _mm512_srli_epi64::<32>(c[1])),
            );
            let odd = round64(odd, _mm512_srli_epi64::<32>(n), low, high);
            let odd = _mm512_slli_epi64::<32>(odd);
            _mm512_mask_mov_epi32(round64(even, even_n, low, high), 0b1010_1010_1010_1010, odd)
        })
    }
    #[inline(always)]
    fn widen32(self, x: &[u8; 16]) -> __m512i {
        // SAFETY: the array has 16 bytes; the instruction set as in `compute`.
        unsafe { _mm512_cvtepu8_epi32(_mm_loadu_si128(x.as_ptr().cast())) }
    }
    #[inline(always)]
    fn widen_signed32(self, x: &[u8; 16]) -> __m512i {
        // SAFETY: the array has 16 bytes; the instruction set as in `compute`.
        unsafe { _mm512_cvtepi8_epi32(_mm_loadu_si128(x.as_ptr().cast())) }
    }
    #[inline(always)]
    fn mul32(self, a: __m512i, b: __m512i) -> __m512i {
        compute!(_mm512_mullo_epi32(a, b))
    }
    #[inline(always)]
    fn power_of_two32(self, n: __m512i) -> __m512i {
        compute!(_mm512_sllv_epi32(_mm512_set1_epi32(1), n))
    }
    #[inline(always)]
    fn shift_right32(self, x: __m512i, n: __m512i) -> __m512i {
        compute!(_mm512_srav_epi32(x, n))
    }
    #[inline(always)]
    fn store_low_bytes32(self, out: &mut [u8; 16], x: __m512i) {
        // SAFETY: the array has 16 bytes; the instruction set as in `compute`.
        unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), _mm512_cvtepi32_epi8(x)) }
    }

    #[inline(always)]
    fn nonzero_groups(self, x: &[u8; 64]) -> u32 {
        // SAFETY: the array has 64 bytes; the instruction set as in `compute`.
        unsafe {
            let groups = _mm512_loadu_si512(x.as_ptr().cast());
            u32::from(_mm512_test_epi32_mask(groups, groups))
        }
    }

    /// Numbers of 32 bits, so that they need not be narrowed: shuffles are what there are fewest of.
    type Group = u32;
    /// Sixteen numbers at once, those that count moved together.
    #[inline(always)]
    unsafe fn list(self, x: &[[u8; 64]], out: *mut u32) -> Found {
        // SAFETY: the arrays have 64 bytes; the caller vouches for a number a group and sixteen more; the instruction
        // set as in `compute`.
        unsafe {
            let mut numbers = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            let mut found = Found::NOTHING;
            for groups in x {
                let groups = _mm512_loadu_si512(groups.as_ptr().cast());
                let set = _mm512_test_epi32_mask(groups, groups);
                _mm512_storeu_si512(out.add(found.count).cast(), _mm512_maskz_compress_epi32(set, numbers));
                found.see(set.into(), 16);
                numbers = _mm512_add_epi32(numbers, _mm512_set1_epi32(16));
            }
            found
        }
    }
}

/// `clamp((x + 2^(n − 1)) >> n, low, high)` of eight i64.
#[target_feature(enable = "avx512f")]
#[inline]
fn round64(x: __m512i, n: __m512i, low: i32, high: i32) -> __m512i {
    let one = _mm512_set1_epi64(1);
    let x = _mm512_add_epi64(x, _mm512_sllv_epi64(one, _mm512_sub_epi64(n, one)));
    let x = _mm512_max_epi64(_mm512_srav_epi64(x, n), _mm512_set1_epi64(low.into()));
    _mm512_min_epi64(x, _mm512_set1_epi64(high.into()))
}
