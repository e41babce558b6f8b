//! `out = bias + W·x` for bytes, on weights in K4.
//!
//! Four inputs are broadcast to all lanes and meet the same four columns of as many rows as a vector holds; the
//! instruction set multiplies and adds the four products into the row's lane ([`Dense::mac`]). A tile of up to eight
//! vectors of rows keeps its sums in registers while all columns pass; where there are few rows, several chains of sums
//! take turns, so that no addition waits for the one before. Groups are taken in pairs, because some forms can add two
//! products before widening.

use super::IS_COMPACT;
use super::dense_end::{Ending, Sums, store};
pub(in crate::kernels) use super::products::Dense;
use crate::kernels::prefetch::fetch_row;
use crate::kernels::{AffineI8, scalar};
use crate::sure::at;

/// Groups of weights between those that are read and those that are asked for.
pub(super) const AHEAD: usize = 4;

/// [`crate::kernels::AffineI8`] for u8: the first form where it is exact, else the second. `entries`: both as functions
/// of their own, which other entries of the table are or call too, so that their loops are there once.
#[inline(always)]
pub(in crate::kernels) fn affine_u8<N: Dense, A: Dense>(
    (narrow, any): (N, A),
    entries: [AffineI8<u8>; 2],
    x: &[u8],
    w: &[i8],
    stride: usize,
    bias: &[i32],
    out: &mut [i32],
) {
    if N::ANY_U8 || narrow.all_below_128(x) {
        own(narrow, entries[0], x, w, stride, bias, out);
    } else {
        own(any, entries[1], x, w, stride, bias, out);
    }
}

/// A form's layer by its entry; in WebAssembly by [`affine`], which is a function there.
#[inline(always)]
pub(super) fn own<D: Dense>(
    d: D,
    entry: AffineI8<u8>,
    x: &[u8],
    w: &[i8],
    stride: usize,
    bias: &[i32],
    out: &mut [i32],
) {
    if IS_COMPACT {
        affine(d, x, w, stride, bias, out);
    } else {
        entry(x, w, stride, bias, out);
    }
}

/// Whether `outputs` rows lie within the stride and `weights` elements hold `groups` groups: what every unchecked load
/// below rests on. Any safe code can call a kernel, with any stride, so the product must not wrap.
#[inline(always)]
pub(in crate::kernels) fn fits(groups: usize, stride: usize, weights: usize, outputs: usize) -> bool {
    // Where a product of 64 bits is a library call, it is asked first whether 32 bits hold it.
    let is_short = cfg!(cortex_m = "thumb1") && (groups | stride) < 1 << 14;
    let is_held = if is_short {
        groups * stride * 4 <= weights
    } else if usize::BITS == 32 {
        (groups as u64 * stride as u64) <= weights as u64 / 4
    } else {
        let needed = stride.checked_mul(4).and_then(|group| group.checked_mul(groups));
        needed.is_some_and(|needed| needed <= weights)
    };
    outputs <= stride && stride.is_multiple_of(4) && is_held
}

/// [`crate::kernels::AffineI8`]; i8 inputs as the bytes that they are.
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
#[cfg_attr(target_arch = "wasm32", inline(never))]
pub(in crate::kernels) fn affine<D: Dense>(d: D, x: &[u8], w: &[i8], stride: usize, bias: &[i32], out: &mut [i32]) {
    let groups = x.len().div_ceil(4);
    if !fits(groups, stride, w.len(), out.len()) {
        return scalar::out_of_contract(out);
    }
    // SAFETY: just compared.
    unsafe { fitting(d, x, w, stride, &mut Sums { bias, out }) };
}

/// The same to any ending.
///
/// # Safety
/// [`fits`].
#[inline(always)]
pub(super) unsafe fn fitting<D: Dense, E: Ending>(d: D, x: &[u8], w: &[i8], stride: usize, end: &mut E) {
    if D::HAS_GROUPS && stride == 4 {
        // SAFETY: the caller's.
        return unsafe { four_rows(d, x, w, end) };
    }
    let outputs = end.outputs();
    let mut row = 0;
    // SAFETY: `row` and the rows of a tile, `8·ROWS`, `4·ROWS` …, stay within the stride: each is taken where so many
    // are left of it. The length of `w` is the caller's.
    unsafe {
        while IS_COMPACT && row < outputs && stride - row >= 4 * D::ROWS {
            row += tile::<D, E, 4, 1, true>(d, x, w, stride, row, end);
        }
        while IS_COMPACT && row < outputs && stride - row >= D::ROWS {
            row += tile::<D, E, 1, 4, true>(d, x, w, stride, row, end);
        }
        // A stride is a multiple of four, so that four rows are never too many.
        if IS_COMPACT && D::ROWS == 4 {
            return;
        }
        while row < outputs && stride - row >= 8 * D::ROWS {
            row += tile::<D, E, 8, 1, true>(d, x, w, stride, row, end);
        }
        // Each of the others once at most, and not by turns in one loop, whose preparations for all every small layer
        // would pay.
        if row < outputs && stride - row >= 4 * D::ROWS {
            row += tile::<D, E, 4, 2, true>(d, x, w, stride, row, end);
        }
        if row < outputs && stride - row >= 2 * D::ROWS {
            row += tile::<D, E, 2, 4, true>(d, x, w, stride, row, end);
        }
        if row < outputs && stride - row >= D::ROWS {
            row += tile::<D, E, 1, 8, true>(d, x, w, stride, row, end);
        }
        if row < outputs {
            tile::<D, E, 1, 4, false>(d, x, w, stride, row, end);
        }
    }
}

/// Up to four rows, as at the end of most networks: a vector of weights holds several groups then.
///
/// # Safety
/// `w` holds sixteen weights for every four elements of `x`, begun ones included.
#[inline(always)]
unsafe fn four_rows<D: Dense, E: Ending>(d: D, x: &[u8], w: &[i8], end: &mut E) {
    let mut sums = [d.zero(); 2];
    let (mut place, pairs) = (w.as_ptr(), x.chunks_exact(2 * D::ROWS));
    let rest = pairs.remainder();
    for pair in pairs {
        // SAFETY: as many groups lie here, of `x` and so of `w`.
        unsafe {
            sums[0] = d.mac_groups(sums[0], pair.as_ptr(), d.load(place));
            sums[1] = d.mac_groups(sums[1], pair.as_ptr().add(D::ROWS), d.load(place.add(4 * D::ROWS)));
        }
        place = place.wrapping_add(8 * D::ROWS);
    }
    for group in rest.chunks(4) {
        let mut four = [0; 4];
        for (byte, x) in four.iter_mut().zip(group) {
            *byte = *x;
        }
        // SAFETY: a group's four rows lie here.
        sums[0] = d.mac(sums[0], u32::from_le_bytes(four), unsafe { d.load_part(place, 4) });
        place = place.wrapping_add(16);
    }
    let lanes = d.rows(d.add(sums[0], sums[1]));
    let mut rows = [0i32; 4];
    for group in lanes.as_ref().as_chunks::<4>().0 {
        for (row, sum) in rows.iter_mut().zip(group) {
            *row = row.wrapping_add(*sum);
        }
    }
    let outputs = end.outputs();
    if outputs > 0 {
        end.single(rows[0], 0);
    }
    for row in 1..outputs {
        end.single(at(&rows, row), row);
    }
}

/// A layer of a stride of four.
///
/// # Safety
/// As of [`four_rows`].
#[inline(always)]
#[cfg_attr(not(short_ways), allow(dead_code, reason = "only a chain's last layer is known to have four rows"))]
pub(super) unsafe fn few_rows<D: Dense, E: Ending>(d: D, x: &[u8], w: &[i8], end: &mut E) {
    // SAFETY: the caller's; four rows are the whole stride.
    unsafe {
        if D::HAS_GROUPS {
            four_rows(d, x, w, end);
        } else if D::ROWS == 4 {
            tile::<D, E, 1, 8, true>(d, x, w, 4, 0, end);
        } else {
            tile::<D, E, 1, 4, false>(d, x, w, 4, 0, end);
        }
    }
}

/// Rows `row..row + VECTORS·ROWS`, or, if not `WHOLE`, those that are left of the stride; returns how many.
///
/// # Safety
/// Those rows lie within the stride, and `w` holds `4·stride` weights for every four elements of `x`, begun ones
/// included.
#[inline(always)]
unsafe fn tile<D: Dense, E: Ending, const VECTORS: usize, const CHAINS: usize, const WHOLE: bool>(
    d: D,
    x: &[u8],
    w: &[i8],
    stride: usize,
    row: usize,
    end: &mut E,
) -> usize {
    let (left, step) = (stride - row, 4 * stride);
    let mut sums = [[d.zero(); VECTORS]; CHAINS];
    // SAFETY: a place is where this row's weights of some group of `x` start, and a vector of rows is there or, if not
    // `WHOLE`, what is left of the stride.
    let weights = |place: *const i8, vector: usize| unsafe {
        let place = place.add(4 * vector * D::ROWS);
        if WHOLE { d.load(place) } else { d.load_part(place, left) }
    };
    // The place walks along instead of being multiplied out: compilers turn several multiplications into vectors of
    // them, which are slow. Behind the last group it points anywhere, and is not read.
    let mut place = w.as_ptr().wrapping_add(4 * row);
    let (fours, begun) = x.as_chunks::<4>();
    let (pairs, single) = fours.as_chunks::<2>();
    let (rounds, last_pairs) = pairs.as_chunks::<CHAINS>();
    for round in rounds {
        for (sums, pair) in sums.iter_mut().zip(round) {
            if D::FETCHES && VECTORS == 8 {
                for group in 0..2 {
                    fetch_row(place.wrapping_add((AHEAD + group) * step), 4 * VECTORS * D::ROWS);
                }
            }
            pair_of_groups(d, sums, pair, place, step, &weights);
            place = place.wrapping_add(2 * step);
        }
    }
    // What is left goes to the first chain, whose place is known when this is compiled: sums that are picked by a
    // number that is not would have to lie in memory from the start.
    for pair in last_pairs {
        pair_of_groups(d, &mut sums[0], pair, place, step, &weights);
        place = place.wrapping_add(2 * step);
    }
    if let [four] = single {
        group(d, &mut sums[0], *four, place, &weights);
        place = place.wrapping_add(step);
    }
    match *begun {
        [a] => group(d, &mut sums[0], [a, 0, 0, 0], place, &weights),
        [a, b] => group(d, &mut sums[0], [a, b, 0, 0], place, &weights),
        [a, b, c] => group(d, &mut sums[0], [a, b, c, 0], place, &weights),
        _ => {}
    }
    store(d, sums, row, end)
}

#[inline(always)]
fn group<D: Dense, const VECTORS: usize>(
    d: D,
    sums: &mut [D::Sums; VECTORS],
    four: [u8; 4],
    place: *const i8,
    weights: &impl Fn(*const i8, usize) -> D::Weights,
) {
    for (vector, sums) in sums.iter_mut().enumerate() {
        *sums = d.mac(*sums, u32::from_le_bytes(four), weights(place, vector));
    }
}

#[inline(always)]
pub(super) fn pair_of_groups<D: Dense, const VECTORS: usize>(
    d: D,
    sums: &mut [D::Sums; VECTORS],
    pair: &[[u8; 4]; 2],
    place: *const i8,
    step: usize,
    weights: &impl Fn(*const i8, usize) -> D::Weights,
) {
    let x = [u32::from_le_bytes(pair[0]), u32::from_le_bytes(pair[1])];
    let second = place.wrapping_add(step);
    for (vector, sums) in sums.iter_mut().enumerate() {
        *sums = d.mac2(*sums, x, [weights(place, vector), weights(second, vector)]);
    }
}
