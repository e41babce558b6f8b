//! Inputs of a tile's places to what its target multiplies, the zero point taken off where it does that.

use super::inputs::{Run, Walk};
use super::target::{GATHERED, SPREAD, Tile};
use crate::format::element;
use crate::kernels::maps::Layer;
use crate::workspace::{range, range_mut, rest};

/// Bytes of padding that are spread at once.
const PADDING: usize = 32;

/// Groups of pixels, from the first one and as many: from the first group and as many. No part of it belongs into the
/// loop over tiles, of which not all come here; a processor of few registers keeps the loop in memory anyway, and saves
/// a call.
#[cfg_attr(cortex_m = "thumb1", inline(always))]
#[cfg_attr(not(cortex_m = "thumb1"), inline(never))]
pub(super) fn pixels<T: Tile>(
    layer: &Layer<'_>,
    x: &[u8],
    [first, count]: [usize; 2],
    [done, groups]: [usize; 2],
    spread: &mut [u32; SPREAD],
) {
    let (is_signed, minus_zero) = (layer.from.element == element::I8, -layer.from.zero as i16);
    let channels = layer.from.channels;
    // The last group of a pixel may be no whole one.
    let whole = groups.min(channels / 4 - done);
    debug_assert!(groups * T::GROUP <= spread.len() && whole + 1 >= groups, "groups that there is no room for");
    for place in 0..count {
        let pixel = range(x, (first + place) * channels..(first + place + 1) * channels);
        let pixel = rest(pixel, 4 * done);
        let out = spread.as_mut_ptr().wrapping_add(place * T::PLACE);
        // SAFETY: `whole` groups were counted, and another one is copied to four bytes; the groups were found to fit.
        unsafe {
            T::spread(pixel.as_ptr(), whole, is_signed, minus_zero, out);
            if whole < groups {
                let mut last = [0; 4];
                last.iter_mut().zip(rest(pixel, 4 * whole)).for_each(|(to, from)| *to = *from);
                T::spread(last.as_ptr(), 1, is_signed, minus_zero, out.wrapping_add(whole * T::NEXT));
            }
        }
    }
}

/// All inputs of a place whose taps all see pixels: what a last group has behind them meets weights that are 0.
///
/// # Safety
/// `x` is the first of its inputs, all of which can be read, and its groups can be written at `out`.
#[inline(never)]
pub(super) unsafe fn corner<T: Tile>(layer: &Layer<'_>, x: *const u8, out: *mut u32) {
    let (is_signed, minus_zero) = (layer.from.element == element::I8, -layer.from.zero as i16);
    let [down, across] = layer.geometry.kernel;
    let len = across * layer.from.channels;
    let (mut x, mut out) = (x, out);
    for _ in 0..down {
        // SAFETY: a row of its taps, as the caller vouches; whole groups, or bytes side by side.
        out = unsafe {
            if T::SPREADS_BYTES {
                T::spread_bytes(x, len, is_signed, out.cast());
                out.wrapping_byte_add(len)
            } else {
                T::spread(x, len / 4, is_signed, minus_zero, out);
                out.wrapping_add(len / 4 * T::NEXT)
            }
        };
        x = x.wrapping_add(layer.from.row());
    }
}

/// Where groups of a place go, and room for gathering them.
pub(super) struct To<'a> {
    pub groups: usize,
    pub spread: &'a mut [u32; SPREAD],
    pub place: usize,
    pub gathered: &'a mut [u8; GATHERED],
}

/// The next groups of a place.
#[inline(never)]
pub(super) fn place<T: Tile>(layer: &Layer<'_>, x: &[u8], walk: &mut Walk, to: To<'_>) {
    let To { groups, spread: out, place, gathered } = to;
    let is_signed = layer.from.element == element::I8;
    let (padding, minus_zero) = ([layer.from.zero as u8; PADDING], -layer.from.zero as i16);
    debug_assert!(groups * T::GROUP <= out.len(), "groups that there is no room for");
    let mut out = out.as_mut_ptr().wrapping_add(place * T::PLACE);
    let mut put = |x: *const u8, groups: usize| {
        // SAFETY: below, `x` holds as many groups, which are `groups` in all, and these were found to fit.
        unsafe { T::spread(x, groups, is_signed, minus_zero, out) };
        out = out.wrapping_add(groups * T::NEXT);
    };
    if layer.from.channels.is_multiple_of(4) {
        let mut left = groups;
        while left > 0
            && let Some(run) = walk.run(layer, x, 4 * left)
        {
            left -= match run {
                Run::Pixels(pixels) => {
                    put(pixels.as_ptr(), pixels.len() / 4);
                    pixels.len() / 4
                }
                Run::Padding(len) => {
                    let mut left = len / 4;
                    while left > 0 {
                        let groups = left.min(PADDING / 4);
                        put(padding.as_ptr(), groups);
                        left -= groups;
                    }
                    len / 4
                }
            };
        }
    } else {
        let padding = layer.from.zero as u8;
        if !walk.gather_rows(layer, x, padding, 4 * groups, gathered) {
            walk.gather(layer, x, padding, range_mut(gathered, 0..4 * groups));
        }
        put(gathered.as_ptr(), groups);
    }
}
