//! Layers of f32 on columns: a lane is a row.

use super::{Avx512, compute};
use crate::kernels::vector::Columns;
use core::arch::x86_64::*;

impl<const VNNI: bool> Columns for Avx512<VNNI> {
    type Vector = __m512;
    const ROWS: usize = 16;
    const TILE: usize = 2;
    #[inline(always)]
    unsafe fn load(self, x: *const f32) -> __m512 {
        // SAFETY: the caller's; the instruction set as in `compute`.
        unsafe { _mm512_loadu_ps(x) }
    }
    #[inline(always)]
    unsafe fn store(self, out: *mut f32, x: __m512) {
        // SAFETY: the caller's; the instruction set as in `compute`.
        unsafe { _mm512_storeu_ps(out, x) }
    }
    #[inline(always)]
    fn splat(self, x: f32) -> __m512 {
        compute!(_mm512_set1_ps(x))
    }
    #[inline(always)]
    fn add(self, a: __m512, b: __m512) -> __m512 {
        compute!(_mm512_add_ps(a, b))
    }
    #[inline(always)]
    fn mul(self, a: __m512, b: __m512) -> __m512 {
        compute!(_mm512_mul_ps(a, b))
    }
    #[inline(always)]
    fn relu(self, x: __m512) -> __m512 {
        compute!(_mm512_max_ps(x, _mm512_setzero_ps()))
    }
    #[inline(always)]
    fn crelu(self, x: __m512) -> __m512 {
        compute!(_mm512_min_ps(_mm512_max_ps(x, _mm512_setzero_ps()), _mm512_set1_ps(1.0)))
    }
}
