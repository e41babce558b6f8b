//! Accumulators by tiles of 32 elements, four vectors, which stay in registers while all rows pass. The compiler makes Helium of
//! these loops by itself.

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
    let whole = out.len() - out.len() % TILE;
    let is_held = |row: &u32| ends_within(*row, stride, out.len(), rows.len());
    let has_source = source.is_none_or(|source| source.len() >= out.len());
    if whole == 0 || !(has_source && added.iter().all(is_held) && removed.iter().all(is_held)) {
        return scalar::update(out, source, rows, stride, added, removed);
    }
    let (tiles, rest) = out.split_at_mut(whole);
    for (index, tile) in tiles.as_chunks_mut::<TILE>().0.iter_mut().enumerate() {
        let start = index * TILE;
        let row = |row: &u32| rows.get(*row as usize * stride + start..).and_then(<[T]>::first_chunk::<TILE>);
        let mut sums = *tile;
        if let Some(source) = source.and_then(|source| source.get(start..)?.first_chunk::<TILE>()) {
            sums = *source;
        }
        for row in added.iter().filter_map(row) {
            for (sum, weight) in sums.iter_mut().zip(row) {
                *sum = sum.wrapping_add((*weight).into());
            }
        }
        for row in removed.iter().filter_map(row) {
            for (sum, weight) in sums.iter_mut().zip(row) {
                *sum = sum.wrapping_sub((*weight).into());
            }
        }
        *tile = sums;
    }
    let (source, rows) = (source.and_then(|source| source.get(whole..)), rows.get(whole..).unwrap_or(&[]));
    scalar::update(rest, source, rows, stride, added, removed);
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
    let (first, second) = source.split_at(source.len() / 2);
    let (out_first, out_second) = out.split_at_mut(out.len() / 2);
    for (side, (out, source)) in [(out_first, first), (out_second, second)].into_iter().enumerate() {
        let (added, removed) = match moved {
            Moved::Quiet(changes) => changes[side].split_at(1),
            Moved::Capture(changes) => changes[side].split_at(1),
        };
        update(out, Some(source), rows, stride, added, removed);
    }
}
