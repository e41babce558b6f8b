//! The f32 kernels, on eight lanes in every instruction set, because the definition sums in eight lanes.

use super::IS_COMPACT;
use super::columns::{Columns, active};
use crate::format::activation;
use crate::kernels::scalar;
use crate::num;
use crate::sure::{bias_at, biases_from, sure};
use crate::workspace::{rest as rest_of, rest_mut};

/// Lanes of the definition.
const LANES: usize = 8;
/// Rows whose lanes are summed together.
const ROWS: usize = 8;

/// Eight f32.
#[allow(clippy::wrong_self_convention, reason = "`self` is the instruction set, not what is converted")]
pub(in crate::kernels) trait Reals: Copy {
    type F32: Copy;
    fn load(self, x: &[f32; 8]) -> Self::F32;
    fn store(self, out: &mut [f32; 8], x: Self::F32);
    fn splat(self, x: f32) -> Self::F32;
    fn add(self, a: Self::F32, b: Self::F32) -> Self::F32;
    fn mul(self, a: Self::F32, b: Self::F32) -> Self::F32;
    /// [`num::relu`] in every lane.
    fn relu(self, x: Self::F32) -> Self::F32;
    /// [`num::crelu`] in every lane.
    fn crelu(self, x: Self::F32) -> Self::F32;
    /// Rounded to nearest, ties to even.
    fn from_i32(self, x: &[i32; 8]) -> Self::F32;
    /// Clipped to 0..=max; exact.
    fn from_clipped(self, x: &[i16; 8], max: i16) -> Self::F32;
    /// The sum of each vector's lanes, in the order of [`num::reduce_f32`].
    fn reduce(self, x: [Self::F32; 8]) -> Self::F32;
    /// [`num::reduce_f32`].
    #[inline(always)]
    fn reduce_one(self, x: Self::F32) -> f32 {
        let mut lanes = [0f32; LANES];
        self.store(&mut lanes, x);
        num::reduce_f32(lanes)
    }
    /// [`Columns::TILE`].
    const TILE: usize = 1;
}

/// Eight rows at a time on columns too.
impl<R: Reals> Columns for R {
    type Vector = R::F32;
    const ROWS: usize = 8;
    const TILE: usize = <R as Reals>::TILE;
    #[inline(always)]
    unsafe fn load(self, x: *const f32) -> R::F32 {
        // SAFETY: the caller's; an array of numbers is as aligned as one.
        Reals::load(self, unsafe { &*x.cast() })
    }
    #[inline(always)]
    unsafe fn store(self, out: *mut f32, x: R::F32) {
        // SAFETY: the caller's; an array of numbers is as aligned as one.
        Reals::store(self, unsafe { &mut *out.cast() }, x);
    }
    #[inline(always)]
    fn splat(self, x: f32) -> R::F32 {
        Reals::splat(self, x)
    }
    #[inline(always)]
    fn add(self, a: R::F32, b: R::F32) -> R::F32 {
        Reals::add(self, a, b)
    }
    #[inline(always)]
    fn mul(self, a: R::F32, b: R::F32) -> R::F32 {
        Reals::mul(self, a, b)
    }
    #[inline(always)]
    fn relu(self, x: R::F32) -> R::F32 {
        Reals::relu(self, x)
    }
    #[inline(always)]
    fn crelu(self, x: R::F32) -> R::F32 {
        Reals::crelu(self, x)
    }
}

/// [`crate::kernels::AffineF32`].
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
#[cfg_attr(target_arch = "wasm32", inline(never))]
pub(in crate::kernels) fn affine<R: Reals>(
    r: R,
    x: &[f32],
    w: &[f32],
    stride: usize,
    bias: &[f32],
    code: u32,
    out: &mut [f32],
) {
    // The widths that follow each other in small networks, each with loops of its own whose lengths are known when they
    // are compiled.
    match x.as_chunks::<LANES>() {
        (whole, rest) if IS_COMPACT => rows::<R, false>(r, whole, rest, w, stride, bias, code, out),
        (whole @ [_], []) => rows::<R, true>(r, whole, &[], w, stride, bias, code, out),
        (whole @ [_, _], []) => rows::<R, true>(r, whole, &[], w, stride, bias, code, out),
        (whole @ [_, _, _, _], []) => rows::<R, true>(r, whole, &[], w, stride, bias, code, out),
        (whole, []) => rows::<R, true>(r, whole, &[], w, stride, bias, code, out),
        (whole, rest) => rows::<R, false>(r, whole, rest, w, stride, bias, code, out),
    }
}

/// Eight rows at a time, whose columns are `whole` and `rest`; a lane that no column reaches adds 0·0, which changes at
/// most the sign of a zero, made good below. `WHOLE`: there is no rest.
#[inline(always)]
fn rows<R: Reals, const WHOLE: bool>(
    r: R,
    whole: &[[f32; LANES]],
    rest: &[f32],
    w: &[f32],
    stride: usize,
    bias: &[f32],
    code: u32,
    out: &mut [f32],
) {
    let cols = whole.len() * LANES + rest.len();
    let mut last = [0f32; LANES];
    if !WHOLE {
        for (last, x) in last.iter_mut().zip(rest) {
            *last = *x;
        }
    }
    let (tiles, singles) = out.as_chunks_mut::<ROWS>();
    let mut row = 0;
    for tile in tiles {
        let start = stride.saturating_mul(row);
        // Any safe code can call a kernel, with any stride, so the length must not wrap.
        let len = (ROWS - 1).checked_mul(stride).and_then(|rows| rows.checked_add(cols));
        let tile_weights = len.and_then(|len| w.get(start..)?.get(..len));
        let Some(weights) = tile_weights else { return };
        // The first products are sums of their own: 0 + p is p, unless p is −0, and that is made good below. Pages add
        // them to 0, by the code of the others.
        let mut sums = [r.splat(0.0); ROWS];
        let mut others = whole;
        if let [first, behind @ ..] = whole
            && !IS_COMPACT
        {
            for (index, sum) in sums.iter_mut().enumerate() {
                // SAFETY: the slice ends behind the last row's last column, and this chunk behind no row's last.
                *sum = unsafe { products(r, first, weights.as_ptr().add(index * stride)) };
            }
            others = behind;
        }
        for (chunk, x) in others.iter().enumerate() {
            let chunk = if IS_COMPACT { chunk } else { chunk + 1 };
            for (index, sum) in sums.iter_mut().enumerate() {
                // SAFETY: as above.
                let products = unsafe { products(r, x, weights.as_ptr().add(index * stride + chunk * LANES)) };
                *sum = r.add(*sum, products);
            }
        }
        // Which pages are asked as they run.
        let has_rest = if IS_COMPACT { !rest.is_empty() } else { !WHOLE };
        if has_rest {
            for (index, sum) in sums.iter_mut().enumerate() {
                let columns = rest_of(weights, index * stride + whole.len() * LANES);
                *sum = last_lanes(r, *sum, &last, columns, rest.len());
            }
        }
        // A sum that begins as +0 never becomes −0; one that did not may, where all products are −0. Added to +0, or to
        // a bias that is not −0, it makes no difference.
        let mut biases = r.splat(0.0);
        if let Some(bias) = bias.get(row..).and_then(|bias| bias.first_chunk()) {
            biases = r.add(r.load(bias), biases);
        }
        r.store(tile, active(r, r.add(r.reduce(sums), biases), code));
        row += ROWS;
    }
    for single in singles {
        let row_weights = w.get(stride.saturating_mul(row)..).and_then(|rest| rest.get(..cols));
        let (weights, weights_rest) = sure(row_weights).as_chunks::<LANES>();
        let mut sum = row_sum(r, whole, weights);
        if !WHOLE {
            sum = last_lanes(r, sum, &last, weights_rest, rest.len());
        }
        *single = num::activate(total(r, sum, bias_at(bias, row)), code);
        row += 1;
    }
}

/// A row's products with whole vectors of columns, and with no others.
#[inline(always)]
pub(super) fn row_sum<R: Reals>(r: R, x: &[[f32; LANES]], w: &[[f32; LANES]]) -> R::F32 {
    let ([first, others @ ..], [first_weights, weights @ ..]) = (x, w) else { return r.splat(0.0) };
    let mut sum = r.mul(r.load(first), r.load(first_weights));
    for (x, w) in others.iter().zip(weights) {
        sum = r.add(sum, r.mul(r.load(x), r.load(w)));
    }
    sum
}

/// A row's sum and its bias.
#[inline(always)]
pub(super) fn total<R: Reals>(r: R, sum: R::F32, bias: f32) -> f32 {
    // Adding 0 takes the sign off a bias of −0.
    r.reduce_one(sum) + (bias + 0.0)
}

/// The products of eight columns of a row.
///
/// # Safety
/// Eight numbers can be read from `w`.
#[inline(always)]
unsafe fn products<R: Reals>(r: R, x: &[f32; LANES], w: *const f32) -> R::F32 {
    // SAFETY: the caller's; an array of numbers is as aligned as one.
    r.mul(r.load(x), r.load(unsafe { &*w.cast() }))
}

/// Adds the products of the last `count` columns, `x` padded with zeros.
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
#[cfg_attr(target_arch = "wasm32", inline(never))]
fn last_lanes<R: Reals>(r: R, sum: R::F32, x: &[f32; 8], w: &[f32], count: usize) -> R::F32 {
    let mut padded = [0f32; LANES];
    for (padded, w) in padded.iter_mut().zip(w).take(count) {
        *padded = *w;
    }
    r.add(sum, r.mul(r.load(x), r.load(&padded)))
}

/// [`crate::kernels::ActivateF32`].
#[inline(always)]
pub(in crate::kernels) fn activate<R: Reals>(r: R, x: &[i16], code: u32, max: i16, inverse: f32, out: &mut [f32]) {
    let scale = r.splat(inverse);
    let (outs, _) = out.as_chunks_mut::<LANES>();
    let done = outs.len() * LANES;
    if code == activation::PAIRWISE_CRELU {
        let (first, second) = x.split_at(x.len() / 2);
        for ((out, a), b) in outs.iter_mut().zip(first.as_chunks().0).zip(second.as_chunks().0) {
            let a = r.mul(r.from_clipped(a, max), scale);
            let b = r.mul(r.from_clipped(b, max), scale);
            r.store(out, r.mul(a, b));
        }
        let (first, second) = (rest_of(first, done), rest_of(second, done));
        return scalar::activate_pairs(first, second, max, inverse, rest_mut(out, done));
    }
    for (out, x) in outs.iter_mut().zip(x.as_chunks().0) {
        let real = r.mul(r.from_clipped(x, max), scale);
        r.store(out, if code == activation::CRELU { real } else { r.mul(real, real) });
    }
    let (rest, out) = (rest_of(x, done), rest_mut(out, done));
    scalar::activate_f32(rest, code, max, inverse, out);
}

/// [`crate::kernels::ActivationF32`].
#[inline(always)]
pub(in crate::kernels) fn activation<R: Reals>(r: R, x: &[f32], code: u32, out: &mut [f32]) {
    match code {
        activation::PAIRWISE_CRELU => {
            let (first, second) = x.split_at(x.len() / 2);
            let (outs, outs_rest) = out.as_chunks_mut::<LANES>();
            let done = outs.len() * LANES;
            for ((out, a), b) in outs.iter_mut().zip(first.as_chunks().0).zip(second.as_chunks().0) {
                r.store(out, r.mul(r.crelu(r.load(a)), r.crelu(r.load(b))));
            }
            let (first, second) = (rest_of(first, done), rest_of(second, done));
            for ((out, a), b) in outs_rest.iter_mut().zip(first).zip(second) {
                *out = num::crelu(*a) * num::crelu(*b);
            }
        }
        activation::DUAL_CRELU => {
            let (plain, squared) = out.split_at_mut(x.len());
            each::<R, false>(r, x, activation::CRELU, plain);
            each::<R, true>(r, x, activation::CRELU, squared);
        }
        activation::IDENTITY => out.copy_from_slice(x),
        _ => each::<R, false>(r, x, code, out),
    }
}

/// The activation of each number, or of its square.
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
#[cfg_attr(target_arch = "wasm32", inline(never))]
fn each<R: Reals, const SQUARED: bool>(r: R, x: &[f32], code: u32, out: &mut [f32]) {
    let ((x, x_rest), (out, out_rest)) = (x.as_chunks(), out.as_chunks_mut());
    for (out, x) in out.iter_mut().zip(x) {
        let x = r.load(x);
        r.store(out, active(r, if SQUARED { r.mul(x, x) } else { x }, code));
    }
    for (out, x) in out_rest.iter_mut().zip(x_rest) {
        *out = num::activate(if SQUARED { x * x } else { *x }, code);
    }
}

/// [`crate::kernels::DequantiseF32`].
#[inline(always)]
pub(in crate::kernels) fn dequantise<R: Reals>(r: R, x: &[i32], factor: f32, bias: &[f32], code: u32, out: &mut [f32]) {
    let scale = r.splat(factor);
    let (outs, _) = out.as_chunks_mut::<LANES>();
    let done = outs.len() * LANES;
    let mut biases = bias.as_chunks::<LANES>().0.iter();
    for (out, x) in outs.iter_mut().zip(x.as_chunks().0) {
        let mut real = r.mul(r.from_i32(x), scale);
        if let Some(bias) = biases.next() {
            real = r.add(real, r.load(bias));
        }
        r.store(out, active(r, real, code));
    }
    if done == out.len() {
        return;
    }
    let (x, bias) = (rest_of(x, done), biases_from(bias, done));
    scalar::dequantise_f32(x, factor, bias, code, rest_mut(out, done));
}
