//! A convolution whose outputs see all channels, a tile of neighbouring places at a time.
//!
//!     for each block of outputs, for each tile of places:
//!         for each piece of the inputs that fits the stack:
//!             spread the piece of every place, the zero point taken off
//!             for each output:
//!                 sums ← biases, or those of the piece before
//!                 sums += its weights · the inputs of all places
//!                 behind the last piece, round
//!
//! What an input becomes when it is spread, how those of the places lie, and what is done for each output are the
//! target's ([`Tile`]). Inputs are spread once for all outputs of a block, and the weights of an output are read and
//! unpacked once for all places of a tile. Padding is 0 then. Weights lie in K4, in which what stands behind the last
//! input is 0.

use super::finish::{End, Part};
use super::inputs::{Inner, Walk};
use super::spread::{self, To};
use super::target::{GATHERED, Rows, SPREAD, Tile};
use crate::format::element;
use crate::kernels::maps::{Layer, Map};
use crate::kernels::vector::dense::fits;
use crate::sure::{at, bias_at};
use crate::workspace::{range_mut, rest};
use core::ptr;

/// Most places of a tile.
const MOST_PLACES: usize = 4;
/// Sums of a block of outputs, of all places.
const SUMS: usize = 256;

/// [`crate::kernels::Convolve`].
#[inline(always)]
pub(in crate::kernels) fn convolve<T: Tile>(layer: &Layer<'_>, x: &[u8], second: Option<(Map, &[u8])>, out: &mut [u8]) {
    let groups = (layer.taps() * layer.from.channels).div_ceil(4);
    let outputs = layer.to.channels;
    if groups == 0
        || !fits(groups, layer.stride, layer.weights.len(), outputs)
        || !layer.weights.as_ptr().addr().is_multiple_of(4)
        || !(layer.bias.is_empty() || layer.bias.len() >= outputs)
    {
        debug_assert!(false, "weights that are not those of the layer");
        return;
    }
    let mut first = 0;
    while first < outputs {
        block::<T>(layer, x, groups, End::new(layer, second, out), first);
        first += SUMS / T::PLACES;
    }
}

/// Outputs `first..` of all places, as many as there is room for.
#[inline(never)]
fn block<T: Tile>(layer: &Layer<'_>, x: &[u8], groups: usize, mut end: End<'_, '_>, first: usize) {
    let to = &layer.to;
    let outputs = (to.channels - first).min(SUMS / T::PLACES);
    let (mut sums, mut spread) = ([0; SUMS], [0; SPREAD]);
    let (mut walks, mut gathered) = ([Walk::default(); MOST_PLACES], [0; GATHERED]);
    let is_plain = layer.sees_itself();
    let is_gathered = !is_plain && !layer.from.channels.is_multiple_of(4);
    let at_once = (SPREAD / T::GROUP).min(if is_gathered { GATHERED / 4 } else { SPREAD });
    let mut folded = [0; SUMS / 4];
    let mut bias = if layer.bias.is_empty() { ptr::null() } else { layer.bias.as_ptr().wrapping_add(first) };
    if T::FOLDS_ZERO {
        fold::<T>(layer, groups, first, &mut spread, &mut sums);
        for (index, (folded, sums)) in folded.iter_mut().zip(sums.chunks_exact(T::PLACES)).enumerate().take(outputs) {
            *folded = bias_at(layer.bias, first + index).wrapping_sub(at(sums, 0));
        }
        bias = folded.as_ptr();
    }
    // All groups at once.
    let whole = Rows {
        x: spread.as_ptr(),
        w: layer.weights.as_ptr().wrapping_add(4 * first),
        stride_bytes: 4 * layer.stride,
        bias,
        sums: sums.as_mut_ptr(),
        bytes: ptr::null(),
        groups,
        outputs,
        place_bytes: size_of::<u32>() * T::PLACE,
        places: T::PLACES,
    };
    let (count, mut start) = (to.height * to.width, 0);
    let mut next = [0, 0];
    let inner = Inner::new(layer);
    // Whether the inputs of an inner place are read without a walk.
    let has_corners = !is_plain
        && (T::SPREADS_BYTES || !is_gathered)
        && groups <= at_once
        && layer.geometry.dilation == [1, 1]
        && layer.from.height * layer.from.row() <= x.len();
    let mut corners = [None; MOST_PLACES];
    if is_plain {
        start = where_they_lie::<T>(layer, x, &mut end, &whole, first);
    }
    while start < count {
        if T::SPREADS_BYTES && has_corners {
            let part = Part { first, outputs, start: start * to.channels, places: 0, step: to.channels };
            let done =
                neighbours::<T>(layer, x, &mut end, Rows { x: spread.as_mut_ptr(), ..whole }, part, (&inner, next));
            if done > 0 {
                start += done;
                next[1] += done;
                if next[1] == to.width {
                    next = [next[0] + 1, 0];
                }
                continue;
            }
        }
        let places = (count - start).min(T::PLACES);
        // Those behind the last place are summed and not written.
        let walks = range_mut(&mut walks, 0..if is_plain { 0 } else { places });
        for (walk, corner) in walks.iter_mut().zip(&mut corners) {
            *corner = if has_corners { inner.corner(layer, next) } else { None };
            if corner.is_none() {
                *walk = Walk::new(layer, next, &inner);
            }
            next[1] += 1;
            if next[1] == to.width {
                next = [next[0] + 1, 0];
            }
        }
        let part = Part { first, outputs, start: start * to.channels, places, step: to.channels };
        let bytes = if places == T::PLACES { end.bytes(part) } else { None };
        let mut rows = Rows { groups: 0, ..whole };
        // What a last group has behind its pixel meets weights that are 0.
        let reads_pixels = T::READS_PIXELS
            && is_plain
            && places == T::PLACES
            && layer.from.element == element::I8
            && (start + places - 1) * layer.from.channels + 4 * groups <= x.len();
        if reads_pixels {
            rows.place_bytes = layer.from.channels;
        }
        if rows.bias.is_null() {
            sums.fill(0);
        }
        let mut done = 0;
        while done < groups {
            rows.groups = (groups - done).min(at_once);
            if reads_pixels {
                rows.x = rest(x, start * layer.from.channels + 4 * done).as_ptr().cast();
            } else if is_plain {
                spread::pixels::<T>(layer, x, [start, places], [done, rows.groups], &mut spread);
            }
            for (place, (walk, corner)) in walks.iter_mut().zip(&corners).enumerate() {
                if let Some(corner) = corner {
                    let out = spread.as_mut_ptr().wrapping_add(place * T::PLACE);
                    // SAFETY: the window of an inner place lies in the map, which `x` holds, and its groups were found
                    // to fit.
                    unsafe { spread::corner::<T>(layer, x.as_ptr().wrapping_add(*corner), out) };
                    continue;
                }
                let to = To { groups: rows.groups, spread: &mut spread, place, gathered: &mut gathered };
                spread::place::<T>(layer, x, walk, to);
            }
            rows.w = layer.weights.as_ptr().wrapping_add(4 * (done * layer.stride + first));
            done += rows.groups;
            if let Some(bytes) = &bytes
                && done == groups
            {
                rows.bytes = bytes;
            }
            if !reads_pixels {
                rows.x = spread.as_ptr();
            }
            // SAFETY: the groups lie in `spread`; `convolve` has measured weights and biases, whose rows lie within the
            // stride, a multiple of four; `sums` holds those of all outputs, and `bytes` says what is there.
            unsafe { T::rows(&rows) };
            rows.bias = ptr::null();
        }
        if bytes.is_none() {
            if T::HAS_BESIDE
                && let Some(four) = end.four_beside(&sums, part)
            {
                // SAFETY: `four` says what is there.
                unsafe { T::beside(&four) };
            } else {
                end.part(&sums, part, [T::PLACES, 1]);
            }
        }
        start += places;
    }
}

/// Places whose inputs are read where they lie, to bytes: how many of the first ones were done.
#[inline(always)]
fn where_they_lie<T: Tile>(layer: &Layer<'_>, x: &[u8], end: &mut End<'_, '_>, whole: &Rows, first: usize) -> usize {
    if !T::READS_PIXELS || layer.from.element != element::I8 || whole.bias.is_null() {
        return 0;
    }
    // What a last group has behind its pixel meets weights that are 0, but has to be there.
    let (channels, to) = (layer.from.channels, &layer.to);
    if channels == 0 || x.len() < 4 * whole.groups {
        return 0;
    }
    let seen = (x.len() - 4 * whole.groups) / channels + 1;
    let places = (to.height * to.width).min(seen) / T::PLACES * T::PLACES;
    let part = Part { first, outputs: whole.outputs, start: 0, places, step: to.channels };
    let Some(bytes) = end.bytes(part) else { return 0 };
    let rows = Rows { x: x.as_ptr().cast(), bytes: &bytes, place_bytes: channels, places, ..*whole };
    // SAFETY: all groups of the places lie in `x`; `convolve` has measured weights and biases, and `bytes` says what is
    // there.
    unsafe { T::rows(&rows) };
    places
}

/// Neighbours all of whose taps see pixels, to bytes, if there is room for more of them than a tile has: how many were
/// done. whole: with where their inputs go · part: of no place.
#[inline(always)]
fn neighbours<T: Tile>(
    layer: &Layer<'_>,
    x: &[u8],
    end: &mut End<'_, '_>,
    whole: Rows,
    part: Part,
    (inner, next): (&Inner, [usize; 2]),
) -> usize {
    let groups = whole.groups;
    let places = inner.run(next).min(SPREAD / groups) / T::PLACES * T::PLACES;
    if places <= T::PLACES || whole.bias.is_null() {
        return 0;
    }
    let (Some(corner), Some(bytes)) = (inner.corner(layer, next), end.bytes(Part { places, ..part })) else { return 0 };
    let mut corner = x.as_ptr().wrapping_add(corner);
    for place in 0..places {
        // SAFETY: the windows of inner places lie in the map, which `x` holds; there is room.
        unsafe { spread::corner::<T>(layer, corner, whole.x.cast_mut().wrapping_add(place * groups)) };
        corner = corner.wrapping_add(layer.geometry.stride[1] * layer.from.channels);
    }
    // SAFETY: the groups were just spread; `convolve` has measured weights and biases, and `bytes` says what is there.
    unsafe { T::rows(&Rows { bytes: &bytes, place_bytes: 4 * groups, places, ..whole }) };
    places
}

/// The sums of outputs `first..` where all inputs are the zero point, of the tile's first place.
#[inline(never)]
fn fold<T: Tile>(layer: &Layer<'_>, groups: usize, first: usize, spread: &mut [u32; SPREAD], sums: &mut [i32; SUMS]) {
    let (is_signed, padding) = (layer.from.element == element::I8, [layer.from.zero as u8; 4]);
    let at_once = groups.min(SPREAD / T::GROUP);
    for group in 0..at_once {
        // SAFETY: four bytes, and as many groups as there is room for.
        unsafe { T::spread(padding.as_ptr(), 1, is_signed, 0, spread.as_mut_ptr().wrapping_add(group * T::NEXT)) };
    }
    sums.fill(0);
    let mut done = 0;
    while done < groups {
        let rows = Rows {
            x: spread.as_ptr(),
            w: layer.weights.as_ptr().wrapping_add(4 * (done * layer.stride + first)),
            stride_bytes: 4 * layer.stride,
            bias: ptr::null(),
            sums: sums.as_mut_ptr(),
            bytes: ptr::null(),
            groups: (groups - done).min(at_once),
            outputs: (layer.to.channels - first).min(SUMS / T::PLACES),
            place_bytes: size_of::<u32>() * T::PLACE,
            places: T::PLACES,
        };
        // SAFETY: as in `block`.
        unsafe { T::rows(&rows) };
        done += rows.groups;
    }
}
