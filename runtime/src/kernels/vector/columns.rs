//! `out = activation(bias + W·x)` in f32 on weights in Columns: column after column, so that neighbouring rows lie side
//! by side.
//!
//! A vector holds as many rows, and one input, repeated in all of its lanes, meets a column of them. The definition's
//! eight lanes are then eight vectors of sums, and adding them in its order takes no shuffles, where rows have to be
//! turned first (`real`). A tile is as many vectors of rows as leaves room for their eight sums.

use super::IS_COMPACT;
use crate::format::activation;
use crate::kernels::scalar;

/// Lanes of the definition.
const LANES: usize = 8;
/// Elements of the widest vector.
const WIDEST: usize = 16;

static ZEROS: [f32; WIDEST] = [0.0; WIDEST];

/// Weights from a row on: its first, and the distance from column to column.
#[derive(Clone, Copy)]
struct Weights {
    first: *const f32,
    stride: usize,
}

impl Weights {
    #[inline(always)]
    fn from(self, row: usize) -> Self {
        Self { first: self.first.wrapping_add(row), ..self }
    }
}

/// Vectors of f32 of any width.
pub(in crate::kernels) trait Columns: Copy {
    type Vector: Copy;
    /// Elements of a vector.
    const ROWS: usize;
    /// Vectors in a tile: eight times as many registers hold its sums. 1 or 2.
    const TILE: usize;
    /// # Safety
    /// [`Columns::ROWS`] numbers can be read from `x`.
    unsafe fn load(self, x: *const f32) -> Self::Vector;
    /// # Safety
    /// [`Columns::ROWS`] numbers can be written to `out`.
    unsafe fn store(self, out: *mut f32, x: Self::Vector);
    fn splat(self, x: f32) -> Self::Vector;
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn mul(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// [`crate::num::relu`] in every lane.
    fn relu(self, x: Self::Vector) -> Self::Vector;
    /// [`crate::num::crelu`] in every lane.
    fn crelu(self, x: Self::Vector) -> Self::Vector;
}

/// [`crate::kernels::AffineF32`] on columns. `wide` where its vectors are filled by the rows, else `narrow` where eight
/// fill one.
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
#[cfg_attr(target_arch = "wasm32", inline(never))]
pub(in crate::kernels) fn affine<W: Columns, N: Columns>(
    wide: W,
    narrow: N,
    x: &[f32],
    w: &[f32],
    stride: usize,
    bias: &[f32],
    code: u32,
    out: &mut [f32],
) {
    // Any safe code can call a kernel, with any stride, so the product must not wrap.
    if out.len() > stride || stride.checked_mul(x.len()).is_none_or(|len| len > w.len()) {
        return;
    }
    // A sum is never −0, so that adding no bias is adding 0.
    let (bias, step) = if bias.is_empty() { (&ZEROS[..], 0) } else { (bias, 1) };
    let bias_fits = step == 0 || bias.len() >= out.len();
    let place = Weights { first: w.as_ptr(), stride };
    if bias_fits && out.len().is_multiple_of(W::ROWS) {
        // SAFETY: the lengths were compared, and the vectors of rows end where the rows do.
        unsafe { by_width(wide, x, place, bias.as_ptr(), step, code, out) }
    } else if bias_fits && out.len().is_multiple_of(N::ROWS) {
        // SAFETY: as above.
        unsafe { by_width(narrow, x, place, bias.as_ptr(), step, code, out) }
    } else {
        scalar::affine_f32_columns(x, w, stride, if step == 0 { &[] } else { bias }, code, out);
    }
}

/// The widths that follow each other in small networks, each with loops of its own whose lengths are known when they
/// are compiled.
///
/// # Safety
/// At `w` lie as many columns as `x` has elements, each of as many rows as `out` has, a multiple of [`Columns::ROWS`];
/// at `bias` as many numbers, or, if `step` is 0, [`WIDEST`].
#[inline(always)]
unsafe fn by_width<C: Columns>(c: C, x: &[f32], w: Weights, bias: *const f32, step: usize, code: u32, out: &mut [f32]) {
    // SAFETY: the caller's.
    unsafe {
        match x.as_chunks::<LANES>() {
            (whole, rest) if IS_COMPACT => tiles(c, whole, rest, w, bias, step, code, out),
            (whole @ [_], []) => tiles(c, whole, &[], w, bias, step, code, out),
            (whole @ [_, _], []) => tiles(c, whole, &[], w, bias, step, code, out),
            (whole @ [_, _, _, _], []) => tiles(c, whole, &[], w, bias, step, code, out),
            (whole, rest) => tiles(c, whole, rest, w, bias, step, code, out),
        }
    }
}

/// # Safety
/// As [`by_width`], `x` cut into `whole` and `rest`.
#[inline(always)]
unsafe fn tiles<C: Columns>(
    c: C,
    whole: &[[f32; LANES]],
    rest: &[f32],
    w: Weights,
    bias: *const f32,
    step: usize,
    code: u32,
    out: &mut [f32],
) {
    let mut row = 0;
    // SAFETY: the caller's; that many rows are left.
    unsafe {
        while C::TILE == 2 && out.len() - row >= 2 * C::ROWS {
            let sums = sums::<C, 2>(c, whole, rest, w.from(row));
            let out = out.as_mut_ptr().add(row);
            finish(c, sums, bias.wrapping_add(row * step), step, code, out);
            row += 2 * C::ROWS;
        }
        while row < out.len() {
            let sums = sums::<C, 1>(c, whole, rest, w.from(row));
            let out = out.as_mut_ptr().add(row);
            finish(c, sums, bias.wrapping_add(row * step), step, code, out);
            row += C::ROWS;
        }
    }
}

/// The sums of a tile's rows, without biases.
///
/// # Safety
/// `VECTORS` vectors can be read of every column of `w`, as many as there are inputs.
#[inline(always)]
unsafe fn sums<C: Columns, const VECTORS: usize>(
    c: C,
    whole: &[[f32; LANES]],
    rest: &[f32],
    w: Weights,
) -> [C::Vector; VECTORS] {
    let (mut column, stride) = (w.first, w.stride);
    let mut sums = [[c.splat(0.0); VECTORS]; LANES];
    let mut eights = whole.iter();
    // The first products are sums of their own: 0 + p is p, unless p is −0, and that is made good below.
    if let Some(eight) = eights.next() {
        for (sums, x) in sums.iter_mut().zip(eight) {
            // SAFETY: the caller's.
            *sums = unsafe { products(c, *x, column) };
            column = column.wrapping_add(stride);
        }
    }
    for eight in eights {
        for (sums, x) in sums.iter_mut().zip(eight) {
            // SAFETY: the caller's.
            *sums = added(c, *sums, unsafe { products(c, *x, column) });
            column = column.wrapping_add(stride);
        }
    }
    for (lane, sums) in sums.iter_mut().enumerate() {
        if let Some(x) = rest.get(lane) {
            // SAFETY: the caller's.
            *sums = added(c, *sums, unsafe { products(c, *x, column) });
            column = column.wrapping_add(stride);
        }
    }
    // The order of `num::reduce_f32`.
    let [e0, e1, e2, e3, e4, e5, e6, e7] = sums;
    let fours = [added(c, e0, e4), added(c, e1, e5), added(c, e2, e6), added(c, e3, e7)];
    added(c, added(c, fours[0], fours[2]), added(c, fours[1], fours[3]))
}

#[inline(always)]
fn added<C: Columns, const VECTORS: usize>(
    c: C,
    mut a: [C::Vector; VECTORS],
    b: [C::Vector; VECTORS],
) -> [C::Vector; VECTORS] {
    for (a, b) in a.iter_mut().zip(b) {
        *a = c.add(*a, b);
    }
    a
}

/// The products of one input and its column.
///
/// # Safety
/// `VECTORS` vectors can be read from `w`.
#[inline(always)]
unsafe fn products<C: Columns, const VECTORS: usize>(c: C, x: f32, w: *const f32) -> [C::Vector; VECTORS] {
    let x = c.splat(x);
    let mut products = [x; VECTORS];
    for (vector, product) in products.iter_mut().enumerate() {
        // SAFETY: the caller's.
        *product = c.mul(x, unsafe { c.load(w.wrapping_add(vector * C::ROWS)) });
    }
    products
}

/// Biases, activation and the way out of a tile.
///
/// # Safety
/// `VECTORS` vectors can be written to `out`, and as many read from `bias`, or one if `step` is 0.
#[inline(always)]
unsafe fn finish<C: Columns, const VECTORS: usize>(
    c: C,
    sums: [C::Vector; VECTORS],
    bias: *const f32,
    step: usize,
    code: u32,
    out: *mut f32,
) {
    for (vector, sum) in sums.into_iter().enumerate() {
        let first = vector * C::ROWS;
        // SAFETY: the caller's.
        unsafe {
            // A sum that begins as +0 never becomes −0; one that did not may, where all products are −0. Added to +0,
            // or to a bias that is not −0, it makes no difference.
            let bias = c.add(c.load(bias.wrapping_add(first * step)), c.splat(0.0));
            let total = c.add(sum, bias);
            c.store(out.add(first), active(c, total, code));
        }
    }
}

/// [`crate::num::activate`] in every lane.
#[inline(always)]
pub(super) fn active<C: Columns>(c: C, x: C::Vector, code: u32) -> C::Vector {
    match code {
        activation::RELU => c.relu(x),
        activation::CRELU => c.crelu(x),
        activation::SCRELU => c.mul(c.crelu(x), c.crelu(x)),
        activation::SQRRELU => c.mul(c.relu(x), c.relu(x)),
        _ => x,
    }
}
