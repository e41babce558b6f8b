//! `out = activation(bias + W·x)` in f32 on weights in Columns: column after column, so that neighbouring rows lie side
//! by side.
//!
//! A vector holds as many rows, and one input, repeated in all of its lanes, meets a column of them. The definition's
//! eight lanes are then eight vectors of sums, and adding them in its order takes no shuffles, where rows have to be
//! turned first (`real`). A tile is as many vectors of rows as leaves room for their eight sums; or, where there are
//! few registers, four, and the lanes come one after the other: what repeats an input is shared by more rows.

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
    /// Vectors in a tile: 1 or 2, and eight times as many registers hold its sums; or 4, lane by lane, and twelve do.
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
    // SAFETY: the lengths were compared, and `out` is borrowed for writing.
    if !unsafe { vectors(wide, narrow, x, w, stride, bias, code, out.as_mut_ptr(), out.len()) } {
        scalar::affine_f32_columns(x, w, stride, bias, code, out);
    }
}

/// The same where vectors are filled by the rows; else it does nothing and returns false. All of `out` is written, and
/// nothing of it is read.
///
/// # Safety
/// `rows` numbers can be written to `out`. `stride` is at least `rows`, and `w` holds as many columns as `x` elements.
#[inline(always)]
pub(super) unsafe fn vectors<W: Columns, N: Columns>(
    wide: W,
    narrow: N,
    x: &[f32],
    w: &[f32],
    stride: usize,
    bias: &[f32],
    code: u32,
    out: *mut f32,
    rows: usize,
) -> bool {
    // A sum is never −0, so that adding no bias is adding 0.
    let (bias, step) = if bias.is_empty() { (&ZEROS[..], 0) } else { (bias, 1) };
    if step != 0 && bias.len() < rows {
        return false;
    }
    let (place, bias) = (Weights { first: w.as_ptr(), stride }, bias.as_ptr());
    // SAFETY: the caller's; the vectors of rows end where the rows do, of which there is a bias each.
    unsafe {
        if rows.is_multiple_of(W::ROWS) {
            by_width(wide, x, place, bias, step, code, out, rows);
        } else if rows.is_multiple_of(N::ROWS) {
            by_width(narrow, x, place, bias, step, code, out, rows);
        } else {
            return false;
        }
    }
    true
}

/// The widths that follow each other in small networks, each with loops of its own whose lengths are known when they
/// are compiled.
///
/// # Safety
/// At `w` lie as many columns as `x` has elements, each of `rows` rows, a multiple of [`Columns::ROWS`]; at `bias` as
/// many numbers, or, if `step` is 0, [`WIDEST`]; and as many can be written to `out`.
#[inline(always)]
unsafe fn by_width<C: Columns>(
    c: C,
    x: &[f32],
    w: Weights,
    bias: *const f32,
    step: usize,
    code: u32,
    out: *mut f32,
    rows: usize,
) {
    // SAFETY: the caller's.
    unsafe {
        match x.as_chunks::<LANES>() {
            (whole, rest) if IS_COMPACT => tiles(c, whole, rest, w, bias, step, code, out, rows),
            // Most engines' 16 → 32: every place is a number then.
            (whole @ [_, _], []) if w.stride == 32 && rows == 32 => {
                tiles(c, whole, &[], Weights { stride: 32, ..w }, bias, step, code, out, 32)
            }
            (whole @ [_], []) => tiles(c, whole, &[], w, bias, step, code, out, rows),
            (whole @ [_, _], []) => tiles(c, whole, &[], w, bias, step, code, out, rows),
            (whole @ [_, _, _, _], []) => tiles(c, whole, &[], w, bias, step, code, out, rows),
            (whole, rest) => tiles(c, whole, rest, w, bias, step, code, out, rows),
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
    out: *mut f32,
    rows: usize,
) {
    let mut row = 0;
    // SAFETY: the caller's; that many rows are left.
    unsafe {
        while C::TILE == 4 && rest.is_empty() && rows - row >= 4 * C::ROWS {
            let sums = lanes::<C, 4>(c, whole, w.from(row));
            finish(c, sums, bias.wrapping_add(row * step), step, code, out.add(row));
            row += 4 * C::ROWS;
        }
        while C::TILE == 2 && rows - row >= 2 * C::ROWS {
            let sums = sums::<C, 2>(c, whole, rest, w.from(row));
            finish(c, sums, bias.wrapping_add(row * step), step, code, out.add(row));
            row += 2 * C::ROWS;
        }
        while row < rows {
            let sums = sums::<C, 1>(c, whole, rest, w.from(row));
            finish(c, sums, bias.wrapping_add(row * step), step, code, out.add(row));
            row += C::ROWS;
        }
    }
}

/// [`sums`] of whole eights, lane by lane, each as soon as its fellow is there: sums of at most four lanes are alive.
///
/// # Safety
/// As [`sums`].
#[inline(always)]
unsafe fn lanes<C: Columns, const VECTORS: usize>(c: C, whole: &[[f32; LANES]], w: Weights) -> [C::Vector; VECTORS] {
    // The order of `num::reduce_f32`. Not closures, which may be compiled apart, without the instruction set.
    // SAFETY: the caller's.
    unsafe {
        let quarters = [quarter(c, whole, w, 0), quarter(c, whole, w, 2)];
        let half = added(c, quarters[0], quarters[1]);
        let quarters = [quarter(c, whole, w, 1), quarter(c, whole, w, 3)];
        added(c, half, added(c, quarters[0], quarters[1]))
    }
}

/// Lane `first` and the one four further on, added up.
///
/// # Safety
/// As [`sums`].
#[inline(always)]
unsafe fn quarter<C: Columns, const VECTORS: usize>(
    c: C,
    whole: &[[f32; LANES]],
    w: Weights,
    first: usize,
) -> [C::Vector; VECTORS] {
    let mut sums = [[c.splat(0.0); VECTORS]; 2];
    let mut column = w.first.wrapping_add(first * w.stride);
    for (index, eight) in whole.iter().enumerate() {
        for (half, sum) in sums.iter_mut().enumerate() {
            // SAFETY: the caller's.
            let products = unsafe { products(c, eight[first + half * LANES / 2], column) };
            *sum = if index == 0 { products } else { added(c, *sum, products) };
            column = column.wrapping_add(LANES / 2 * w.stride);
        }
    }
    added(c, sums[0], sums[1])
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
    let mut totals = sums;
    for (vector, total) in totals.iter_mut().enumerate() {
        // A sum that begins as +0 never becomes −0; one that did not may, where all products are −0. Added to +0, or to
        // a bias that is not −0, it makes no difference.
        // SAFETY: the caller's.
        let bias = unsafe { c.load(bias.wrapping_add(vector * C::ROWS * step)) };
        *total = c.add(*total, c.add(bias, c.splat(0.0)));
    }
    for (vector, total) in all_active(c, totals, code).into_iter().enumerate() {
        // SAFETY: the caller's.
        unsafe { c.store(out.add(vector * C::ROWS), total) };
    }
}

/// [`crate::num::activate`] in every lane.
#[inline(always)]
pub(super) fn active<C: Columns>(c: C, x: C::Vector, code: u32) -> C::Vector {
    all_active(c, [x], code)[0]
}

/// The same for several vectors, which ask only once.
#[inline(always)]
pub(super) fn all_active<C: Columns, const VECTORS: usize>(
    c: C,
    mut all: [C::Vector; VECTORS],
    code: u32,
) -> [C::Vector; VECTORS] {
    // Loops within arms: vectors with a loop around the question ask it for each.
    match code {
        activation::RELU => {
            for x in &mut all {
                *x = c.relu(*x);
            }
        }
        activation::CRELU => {
            for x in &mut all {
                *x = c.crelu(*x);
            }
        }
        activation::SCRELU => {
            for x in &mut all {
                *x = c.mul(c.crelu(*x), c.crelu(*x));
            }
        }
        activation::SQRRELU => {
            for x in &mut all {
                *x = c.mul(c.relu(*x), c.relu(*x));
            }
        }
        _ => {}
    }
    all
}
