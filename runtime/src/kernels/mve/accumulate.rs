//! Accumulators by tiles of 32 elements, four vectors, which stay in registers while all rows pass. The compiler makes
//! Helium of these loops by itself, as long as they are over pointers.

use crate::kernels::micro::accumulate::ends_within;
use crate::kernels::{Moved, scalar};

/// Elements of a tile.
const TILE: usize = 32;

/// [`crate::kernels::Update`].
#[inline(always)]
pub(super) fn update<T: Copy + Into<i16>>(
    out: &mut [i16],
    source: Option<&[i16]>,
    rows: &[T],
    stride: usize,
    added: &[u32],
    removed: &[u32],
) {
    let len = out.len();
    let is_held = |row: &u32| ends_within(*row, stride, len, rows.len());
    let has_source = source.is_none_or(|source| source.len() >= len);
    if !(has_source && added.iter().all(is_held) && removed.iter().all(is_held)) {
        return scalar::update(out, source, rows, stride, added, removed);
    }
    let out = out.as_mut_ptr();
    let source = source.map_or(out.cast_const(), <[i16]>::as_ptr);
    // SAFETY: `out` and its source have `len` elements, and so has every row from its start on, as was asked above.
    unsafe { tiles(out, len, source, rows.as_ptr(), stride, added, removed) }
}

/// [`crate::kernels::UpdateBoth`].
#[inline(always)]
pub(super) fn update_both<T: Copy + Into<i16>>(
    out: &mut [i16],
    source: &[i16],
    rows: &[T],
    stride: usize,
    moved: &Moved,
) {
    let len = out.len() / 2;
    if source.len() != out.len() || !ends_within(moved.largest(), stride, len, rows.len()) {
        return scalar::update_both(out, source, rows, stride, moved);
    }
    let (mut out, mut source) = (out.as_mut_ptr(), source.as_ptr());
    for side in 0..2 {
        let (added, removed) = match moved {
            Moved::Quiet(changes) => changes[side].split_at(1),
            Moved::Capture(changes) => changes[side].split_at(1),
        };
        // SAFETY: halves have `len` elements, and so has every row from its start on, as was asked above of the last of
        // them.
        unsafe {
            tiles(out, len, source, rows.as_ptr(), stride, added, removed);
            (out, source) = (out.add(len), source.add(len));
        }
    }
}

/// `out[i] ← source[i] + Σ added[i] − Σ removed[i]`, tile by tile, then element by element.
///
/// # Safety
/// `len` elements of `out` can be written, and as many of the source and of every row read. `out` may be the source.
#[inline(never)]
unsafe fn tiles<T: Copy + Into<i16>>(
    out: *mut i16,
    len: usize,
    source: *const i16,
    rows: *const T,
    stride: usize,
    added: &[u32],
    removed: &[u32],
) {
    let mut done = 0;
    // SAFETY: a tile ends within `len`, and is read before it is written.
    unsafe {
        while len - done >= TILE {
            tile::<T, TILE>(out.add(done), source.add(done), rows.wrapping_add(done), stride, added, removed);
            done += TILE;
        }
        while done < len {
            tile::<T, 1>(out.add(done), source.add(done), rows.wrapping_add(done), stride, added, removed);
            done += 1;
        }
    }
}

/// `N` elements.
///
/// # Safety
/// As many can be written at `out` and read at `source` and at every row, `stride` elements apart from `rows` on.
#[inline(always)]
unsafe fn tile<T: Copy + Into<i16>, const N: usize>(
    out: *mut i16,
    source: *const i16,
    rows: *const T,
    stride: usize,
    added: &[u32],
    removed: &[u32],
) {
    let row = |row: &u32| rows.wrapping_add(*row as usize * stride);
    // SAFETY: as the caller vouches.
    unsafe {
        let mut sums: [i16; N] = core::array::from_fn(|lane| *source.add(lane));
        for row in added.iter().map(row) {
            for (lane, sum) in sums.iter_mut().enumerate() {
                *sum = sum.wrapping_add((*row.add(lane)).into());
            }
        }
        for row in removed.iter().map(row) {
            for (lane, sum) in sums.iter_mut().enumerate() {
                *sum = sum.wrapping_sub((*row.add(lane)).into());
            }
        }
        for (lane, sum) in sums.into_iter().enumerate() {
            *out.add(lane) = sum;
        }
    }
}
