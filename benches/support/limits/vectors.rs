//! Bandwidth of the caches and of memory, and the most multiplications, with vectors of 32 and of 64 bytes. The weights
//! lie in the first cache, as those of a small layer do; `read` reads and does nothing else.

use crate::{Cases, Random};
use bytemuck::{Pod, Zeroable, cast};
use pulp::NullaryFnOnce;
use pulp::x86::{V3, V4};
use std::arch::x86_64::{__m256i, __m512i};
use std::hint::black_box;
use std::rc::Rc;

/// What is read: the first cache, the second, the third, and memory behind it.
const SIZES: [(&str, usize); 6] = [
    ("16KiB", 16 << 10),
    ("256KiB", 256 << 10),
    ("1MiB", 1 << 20),
    ("4MiB", 4 << 20),
    ("16MiB", 16 << 20),
    ("256MiB", 256 << 20),
];
/// Vectors of weights: a multiple of what every loop below takes at once.
const WEIGHTS: usize = 96;
/// Passes over them in an iteration.
const PASSES: usize = 16;

/// An instruction set by the few operations that are wanted of it.
trait Vectors: Copy + 'static {
    /// Integers.
    type Int: Pod;
    /// The tier that uses these.
    const TIER: &'static str;
    fn run<F: NullaryFnOnce>(self, work: F) -> F::Output;
    fn or(self, a: Self::Int, b: Self::Int) -> Self::Int;
    fn ones(self) -> Self::Int;
    /// Neighbouring products of u8 and i8, summed in i16.
    fn bytes(self, a: Self::Int, b: Self::Int) -> Self::Int;
    /// Neighbouring products of i16, summed in i32.
    fn words(self, a: Self::Int, b: Self::Int) -> Self::Int;
    fn add_i16(self, a: Self::Int, b: Self::Int) -> Self::Int;
    fn add_i32(self, a: Self::Int, b: Self::Int) -> Self::Int;
    /// `a · b + c` in f32.
    fn fused(self, a: Self::Int, b: Self::Int, c: Self::Int) -> Self::Int;
}

macro_rules! vectors {
    ($set:ty, $tier:literal, $int:ty: $or:ident $bytes:ident $words:ident $add_i16:ident $add_i32:ident $fused:ident;
     $wide:ident $narrow:ident $real:ident) => {
        impl Vectors for $set {
            type Int = $int;
            const TIER: &'static str = $tier;
            #[inline(always)]
            fn run<F: NullaryFnOnce>(self, work: F) -> F::Output {
                self.vectorize(work)
            }
            #[inline(always)]
            fn or(self, a: $int, b: $int) -> $int {
                self.$wide.$or(a, b)
            }
            #[inline(always)]
            fn ones(self) -> $int {
                cast([1i16; size_of::<$int>() / 2])
            }
            #[inline(always)]
            fn bytes(self, a: $int, b: $int) -> $int {
                self.$narrow.$bytes(a, b)
            }
            #[inline(always)]
            fn words(self, a: $int, b: $int) -> $int {
                self.$narrow.$words(a, b)
            }
            #[inline(always)]
            fn add_i16(self, a: $int, b: $int) -> $int {
                self.$narrow.$add_i16(a, b)
            }
            #[inline(always)]
            fn add_i32(self, a: $int, b: $int) -> $int {
                self.$wide.$add_i32(a, b)
            }
            #[inline(always)]
            fn fused(self, a: $int, b: $int, c: $int) -> $int {
                cast(self.$real.$fused(cast(a), cast(b), cast(c)))
            }
        }
    };
}

vectors!(V3, "avx2", __m256i: _mm256_or_si256 _mm256_maddubs_epi16 _mm256_madd_epi16 _mm256_add_epi16 _mm256_add_epi32
    _mm256_fmadd_ps; avx2 avx2 fma);
vectors!(V4, "avx512", __m512i: _mm512_or_si512 _mm512_maddubs_epi16 _mm512_madd_epi16 _mm512_add_epi16 _mm512_add_epi32
    _mm512_fmadd_ps; avx512f avx512bw avx512f);

/// All of one instruction set.
#[allow(private_bounds, reason = "the caller has only the two sets that there are")]
pub(super) fn limits<S: Vectors>(simd: S, cases: &mut Cases) {
    for (shape, len) in SIZES {
        cases.single("read", shape, S::TIER, len, || {
            let memory = vec![S::Int::zeroed(); len / size_of::<S::Int>()];
            move |iterations| {
                for _ in 0..iterations {
                    black_box(simd.run(Read(simd, black_box(&memory))));
                }
            }
        });
    }
    let len = size_of::<S::Int>();
    let weights = vectors::<S>(&Random::new(1).vector(WEIGHTS * len, -63, 63, |value| value as i8 as u8));
    let reals = vectors::<S>(bytemuck::cast_slice(&vec![0.5f32; WEIGHTS * len / 4]));
    let macs = PASSES * WEIGHTS * len;
    peak::<S, _>(cases, "peak-u8-exact", macs, &weights, move |w| simd.run(Exact(simd, w)));
    peak::<S, _>(cases, "peak-u8-paired", macs, &weights, move |w| simd.run(Paired(simd, w)));
    peak::<S, _>(cases, "peak-i16", macs / 2, &weights, move |w| simd.run(Words(simd, w)));
    peak::<S, _>(cases, "peak-f32", macs / 4, &reals, move |w| simd.run(Reals(simd, w)));
}

fn vectors<S: Vectors>(bytes: &[u8]) -> Rc<[S::Int]> {
    bytes.chunks(size_of::<S::Int>()).map(bytemuck::pod_read_unaligned).collect()
}

fn peak<S: Vectors, R>(
    cases: &mut Cases,
    what: &'static str,
    macs: usize,
    weights: &Rc<[S::Int]>,
    pass: impl Fn(&[S::Int]) -> R + 'static,
) {
    cases.single(what, "L1", S::TIER, macs, || {
        let weights = Rc::clone(weights);
        move |iterations| {
            for _ in 0..iterations {
                black_box(pass(black_box(&weights)));
            }
        }
    });
}

struct Read<'a, S: Vectors>(S, &'a [S::Int]);

impl<S: Vectors> NullaryFnOnce for Read<'_, S> {
    type Output = [S::Int; 8];

    #[inline(always)]
    fn call(self) -> Self::Output {
        let Self(simd, memory) = self;
        let mut found = [S::Int::zeroed(); 8];
        for vectors in memory.as_chunks::<8>().0 {
            for (found, vector) in found.iter_mut().zip(vectors) {
                *found = simd.or(*found, *vector);
            }
        }
        found
    }
}

/// The loop of a peak: `PASSES` times over the weights, `$sums` sums at a time, `$step` for each sum and its `$each`
/// weights.
macro_rules! peak {
    ($(#[$doc:meta])* $name:ident, $sums:literal, $each:literal,
     |$simd:ident, $x:ident, $sum:ident, $w:ident| $step:expr) => {
        $(#[$doc])*
        struct $name<'a, S: Vectors>(S, &'a [S::Int]);

        impl<S: Vectors> NullaryFnOnce for $name<'_, S> {
            type Output = [S::Int; $sums];

            #[inline(always)]
            fn call(self) -> Self::Output {
                let Self($simd, weights) = self;
                let mut sums = [S::Int::zeroed(); $sums];
                for _ in 0..PASSES {
                    // Of the weights' own kind: integers read as reals would be denormal.
                    let $x = black_box(weights[0]);
                    for weights in weights.as_chunks::<{ $sums * $each }>().0 {
                        for (sum, $w) in sums.iter_mut().zip(weights.as_chunks::<$each>().0) {
                            let $sum = *sum;
                            *sum = $step;
                        }
                    }
                }
                sums
            }
        }
    };
}

peak! {
    /// Bytes, right for any weights.
    Exact, 8, 1, |simd, x, sum, w| simd.add_i32(sum, simd.words(simd.bytes(x, w[0]), simd.ones()))
}
peak! {
    /// Bytes whose products fit i16 four at a time.
    Paired, 4, 2, |simd, x, sum, w| {
        let four = simd.add_i16(simd.bytes(x, w[0]), simd.bytes(x, w[1]));
        simd.add_i32(sum, simd.words(four, simd.ones()))
    }
}
peak! {
    /// i16.
    Words, 8, 1, |simd, x, sum, w| simd.add_i32(sum, simd.words(x, w[0]))
}
peak! {
    /// f32, products and sums rounded together, which the runtime never does.
    Reals, 12, 1, |simd, x, sum, w| simd.fused(x, w[0], sum)
}
