//! `out = source + Σ rows − Σ rows`: the input stage of a feature network.
//!
//! An accumulator is cut into tiles of eight vectors. A tile is loaded once, all rows pass over it while it stays in
//! registers, and it is stored once: a refresh of thirty rows writes the accumulator once instead of thirty times, and a
//! move reads the parent and writes the child in the same pass.

use super::Simd;

/// Vectors of a tile.
const TILE: usize = 8;

/// An element of a feature row.
pub(in crate::kernels) trait Row<S: Simd>: Copy {
    /// As many as a vector has i16.
    type Chunk: Copy;
    fn chunks(row: &[Self]) -> &[Self::Chunk];
    fn load(s: S, chunk: &Self::Chunk) -> S::I16;
    fn widen(self) -> i16;
}

impl<S: Simd> Row<S> for i16 {
    type Chunk = S::Chunk;
    #[inline(always)]
    fn chunks(row: &[Self]) -> &[Self::Chunk] {
        S::chunks(row).0
    }
    #[inline(always)]
    fn load(s: S, chunk: &Self::Chunk) -> S::I16 {
        s.load(chunk)
    }
    #[inline(always)]
    fn widen(self) -> i16 {
        self
    }
}

impl<S: Simd> Row<S> for i8 {
    type Chunk = S::ByteChunk;
    #[inline(always)]
    fn chunks(row: &[Self]) -> &[Self::Chunk] {
        S::byte_chunks(row).0
    }
    #[inline(always)]
    fn load(s: S, chunk: &Self::Chunk) -> S::I16 {
        s.load_bytes(chunk)
    }
    #[inline(always)]
    fn widen(self) -> i16 {
        i16::from(self)
    }
}

/// [`crate::kernels::Update`].
#[inline(always)]
pub(in crate::kernels) fn update<S: Simd, R: Row<S>>(
    s: S,
    out: &mut [i16],
    source: Option<&[i16]>,
    rows: &[R],
    stride: usize,
    added: &[u32],
    removed: &[u32],
) {
    let done = tiles::<S, R, TILE>(s, out, source, rows, stride, added, removed, 0);
    if done == out.len() {
        return;
    }
    let done = tiles::<S, R, 1>(s, out, source, rows, stride, added, removed, done);
    for (index, sum) in out.iter_mut().enumerate().skip(done) {
        if let Some(source) = source.and_then(|source| source.get(index)) {
            *sum = *source;
        }
        let weight = |row: &u32| rows.get(*row as usize * stride + index).map_or(0, |weight| R::widen(*weight));
        for row in added {
            *sum = sum.wrapping_add(weight(row));
        }
        for row in removed {
            *sum = sum.wrapping_sub(weight(row));
        }
    }
}

/// Whole tiles of `N` vectors from element `start` on; returns where they end.
#[inline(always)]
fn tiles<S: Simd, R: Row<S>, const N: usize>(
    s: S,
    out: &mut [i16],
    source: Option<&[i16]>,
    rows: &[R],
    stride: usize,
    added: &[u32],
    removed: &[u32],
    mut start: usize,
) -> usize {
    let width = N * S::LANES;
    while let Some(tile) = out.get_mut(start..start + width) {
        let from = match source {
            Some(source) => source.get(start..start + width),
            None => Some(&*tile),
        };
        let Some(from) = from.and_then(|from| S::chunks(from).0.first_chunk::<N>()) else { break };
        let mut sums = [s.splat(0); N];
        for (sum, from) in sums.iter_mut().zip(from) {
            *sum = s.load(from);
        }
        for row in added {
            if let Some(row) = part::<S, R, N>(rows, *row as usize * stride + start) {
                for (sum, weights) in sums.iter_mut().zip(row) {
                    *sum = s.add(*sum, R::load(s, weights));
                }
            }
        }
        for row in removed {
            if let Some(row) = part::<S, R, N>(rows, *row as usize * stride + start) {
                for (sum, weights) in sums.iter_mut().zip(row) {
                    *sum = s.sub(*sum, R::load(s, weights));
                }
            }
        }
        for (out, sum) in S::chunks_mut(tile).0.iter_mut().zip(sums) {
            s.store(out, sum);
        }
        start += width;
    }
    start
}

#[inline(always)]
fn part<S: Simd, R: Row<S>, const N: usize>(rows: &[R], start: usize) -> Option<&[R::Chunk; N]> {
    R::chunks(rows.get(start..start + N * S::LANES)?).first_chunk()
}
