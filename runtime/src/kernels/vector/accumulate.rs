//! `out = source + Σ rows − Σ rows`: the input stage of a feature network.
//!
//! An accumulator is cut into tiles of eight vectors. A tile is loaded once, all rows pass over it while it stays in
//! registers, and it is stored once: a refresh of thirty rows writes the accumulator once instead of thirty times, and a
//! move reads the parent and writes the child in the same pass.

use super::Simd;

/// Vectors of a turn of the loop over a move.
const ROUND: usize = 4;
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
    let done = match (source, added, removed) {
        (Some(source), &[a], &[b]) => fixed(s, out, source, rows, stride, [a], [b]),
        (Some(source), &[a], &[b, c]) => fixed(s, out, source, rows, stride, [a], [b, c]),
        _ => tiles::<S, R, TILE>(s, out, source, rows, stride, added, removed, 0),
    };
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

/// All whole vectors, for as many rows as are known when it is compiled; returns where they end.
#[inline(always)]
fn fixed<S: Simd, R: Row<S>, const ADDED: usize, const REMOVED: usize>(
    s: S,
    out: &mut [i16],
    source: &[i16],
    rows: &[R],
    stride: usize,
    added: [u32; ADDED],
    removed: [u32; REMOVED],
) -> usize {
    let len = out.len();
    let row = |row: u32| {
        let start = row as usize * stride;
        R::chunks(rows.get(start..start + len).unwrap_or(&[]))
    };
    let (outs, source) = (S::chunks_mut(out).0, S::chunks(source).0);
    let (added, removed) = (added.map(row), removed.map(row));
    let count = outs.len();
    // Slices of one length let the compiler leave the bounds out of the loop.
    if source.len() < count || added.iter().chain(&removed).any(|row| row.len() < count) {
        return 0;
    }
    let (added, removed, source) = (added.map(|row| &row[..count]), removed.map(|row| &row[..count]), &source[..count]);
    let (rounds, _) = outs.as_chunks_mut::<ROUND>();
    let (sources, pluses, minuses) = (
        source.as_chunks::<ROUND>().0,
        added.map(|row| row.as_chunks::<ROUND>().0),
        removed.map(|row| row.as_chunks().0),
    );
    for (index, round) in rounds.iter_mut().enumerate() {
        let mut sums = [s.splat(0); ROUND];
        for (sum, from) in sums.iter_mut().zip(&sources[index]) {
            *sum = s.load(from);
        }
        for row in &pluses {
            for (sum, row) in sums.iter_mut().zip(&row[index]) {
                *sum = s.add(*sum, R::load(s, row));
            }
        }
        for row in &minuses {
            let row: &[R::Chunk; ROUND] = &row[index];
            for (sum, row) in sums.iter_mut().zip(row) {
                *sum = s.sub(*sum, R::load(s, row));
            }
        }
        for (out, sum) in round.iter_mut().zip(sums) {
            s.store(out, sum);
        }
    }
    count / ROUND * ROUND * S::LANES
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
