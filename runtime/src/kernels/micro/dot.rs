//! Dot products behind accumulators: both accumulators against the weights, clipped and squared on the way.
//!
//! What the tiers share is the walk over the two accumulators; a term, of one element or of two in a word, is the
//! target's ([`Terms`]).

use crate::num;

/// Which product a term is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::kernels) enum Product {
    /// `clip(x)·w`.
    Crelu,
    /// `clip(x)²·w`, wrapping.
    Screlu,
    /// The same where `clip(x)·w` fits i16, wrapping there otherwise.
    ScreluShort,
    /// The same with `clip(x)·w` rounded at 15 bits.
    ScreluRounded,
}

/// Terms of two neighbouring elements.
pub(in crate::kernels) trait Terms: Copy {
    /// Adds the terms of `x[0]`, `x[1]` to the sum.
    ///
    /// # Safety
    /// Two elements can be read at `x` and at `w`; no alignment is asked.
    unsafe fn two(self, product: Product, x: *const i16, w: *const i16, sum: i32) -> i32;
}

/// [`crate::kernels::Dot`].
#[inline(always)]
pub(in crate::kernels) fn dot<P: Terms>(
    terms: P,
    product: Product,
    first: &[i16],
    second: &[i16],
    w: &[i16],
    max: i16,
) -> i32 {
    let (w_first, w_second) = w.split_at_checked(first.len()).unwrap_or((w, &[]));
    let sum = half(terms, product, first, w_first, max, 0);
    half(terms, product, second, w_second, max, sum)
}

#[inline(always)]
fn half<P: Terms>(terms: P, product: Product, x: &[i16], w: &[i16], max: i16, mut sum: i32) -> i32 {
    let (x_pairs, x_rest) = x.as_chunks::<2>();
    let (w_pairs, w_rest) = w.as_chunks::<2>();
    for (x, w) in x_pairs.iter().zip(w_pairs) {
        // SAFETY: both are pairs.
        sum = unsafe { terms.two(product, x.as_ptr(), w.as_ptr(), sum) };
    }
    // An odd element, unless the weights ended before it.
    if x_pairs.len() <= w_pairs.len() {
        let w_rest = w.get(x_pairs.len() * 2..).unwrap_or(w_rest);
        for (x, w) in x_rest.iter().zip(w_rest) {
            sum = sum.wrapping_add(term(product, num::clip(*x, max), *w));
        }
    }
    sum
}

/// One term of a clipped element.
#[inline(always)]
pub(in crate::kernels) fn term(product: Product, x: i16, w: i16) -> i32 {
    let (wide, weight) = (i32::from(x), i32::from(w));
    match product {
        Product::Crelu => wide * weight,
        Product::Screlu => (wide * wide).wrapping_mul(weight),
        Product::ScreluShort => i32::from(x.wrapping_mul(w)) * wide,
        Product::ScreluRounded => i32::from(num::mul_round(x, w)) * wide,
    }
}

/// Two elements one after the other.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct Plain {
    /// The upper clip.
    pub max: i16,
}

impl Terms for Plain {
    #[inline(always)]
    unsafe fn two(self, product: Product, x: *const i16, w: *const i16, sum: i32) -> i32 {
        // SAFETY: the caller vouches for both.
        let (x, w) = unsafe { (x.cast::<[i16; 2]>().read_unaligned(), w.cast::<[i16; 2]>().read_unaligned()) };
        // Two calls: a closure would be compiled once for all products, and no vectors be made of the loop around it.
        let first = term(product, num::clip(x[0], self.max), w[0]);
        let second = term(product, num::clip(x[1], self.max), w[1]);
        sum.wrapping_add(first).wrapping_add(second)
    }
}
