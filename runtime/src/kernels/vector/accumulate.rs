//! `out = source + Σ rows − Σ rows`: the input stage of a feature network.
//!
//! An accumulator is cut into tiles of eight vectors, and of four of 512 bits. A tile is loaded once, all rows pass
//! over it while it stays in registers, and it is stored once: a refresh of thirty rows writes the accumulator once
//! instead of thirty times, and a move reads the parent and writes the child in the same pass.

use super::Simd;
use crate::kernels::Moved;
use crate::sure::sure;

/// Vectors of a turn of the loop over a move.
const ROUND: usize = 2;
/// The same where an instruction set takes long steps, the longer first. Processors fetch ahead by what single loads
/// have done, and loads that walk along a row in short steps have them fetch beyond its end, where another row lies
/// that nobody wants: in steps as long as these, a row of 512 is over before that is learnt. Measured on Zen 5: a fifth
/// of the time at 256 and 512 wide.
pub(super) const LONG_ROUNDS: [usize; 2] = [16, 8];
/// Vectors of a tile.
const TILE: usize = 8;
/// Vectors of a shorter tile behind the whole ones, for vectors of 512 bits: an accumulator of 128 is exactly one.
/// Vector by vector it takes twice as long, since each looks for every row's start again. With 256 bits 128 is a whole
/// tile, and refreshes of threats had 2 % more instructions.
const SHORT_TILE: usize = 4;

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
    let is_done = match (source, added, removed) {
        (Some(source), &[a], &[b]) => in_rounds(s, out, source, rows, stride, &[[a, b]]),
        (Some(source), &[a], &[b, c]) => in_rounds(s, out, source, rows, stride, &[[a, b, c]]),
        _ => false,
    };
    if is_done {
        return;
    }
    let done = tiles::<S, R, TILE>(s, out, source, rows, stride, added, removed, 0);
    let is_wide = const { S::LANES * size_of::<i16>() == 64 };
    let done =
        if is_wide { tiles::<S, R, SHORT_TILE>(s, out, source, rows, stride, added, removed, done) } else { done };
    let done = tiles::<S, R, 1>(s, out, source, rows, stride, added, removed, done);
    for (index, sum) in out.iter_mut().enumerate().skip(done) {
        if let Some(source) = source.and_then(|source| source.get(index)) {
            *sum = *source;
        }
        let weight = |row: &u32| sure(rows.get(*row as usize * stride + index).map(|weight| R::widen(*weight)));
        for row in added {
            *sum = sum.wrapping_add(weight(row));
        }
        for row in removed {
            *sum = sum.wrapping_sub(weight(row));
        }
    }
}

/// [`crate::kernels::UpdateBoth`].
#[inline(always)]
pub(in crate::kernels) fn update_both<S: Simd, R: Row<S>>(
    s: S,
    out: &mut [i16],
    source: &[i16],
    rows: &[R],
    stride: usize,
    moved: &Moved,
) {
    let is_done = match moved {
        Moved::Quiet(changes) => in_rounds(s, out, source, rows, stride, &loaded(changes)),
        Moved::Capture(changes) => in_rounds(s, out, source, rows, stride, &loaded(changes)),
    };
    if is_done {
        return;
    }
    let half = out.len() / 2;
    let Some((first, second)) = source.split_at_checked(half) else { return };
    let (out_first, out_second) = out.split_at_mut(half);
    for (side, (out, source)) in [(out_first, first), (out_second, second)].into_iter().enumerate() {
        let (added, removed) = match moved {
            Moved::Quiet(changes) => changes[side].split_at(1),
            Moved::Capture(changes) => changes[side].split_at(1),
        };
        update(s, out, Some(source), rows, stride, added, removed);
    }
}

/// `source + rows[change[0]] − Σ rows[the others]` for `SIDES` accumulators, for as many rows as are known when it is
/// compiled; false, and nothing done, where an accumulator is no whole number of vectors or a row is not there.
#[inline(always)]
fn in_rounds<S: Simd, R: Row<S>, const SIDES: usize, const N: usize>(
    s: S,
    out: &mut [i16],
    source: &[i16],
    rows: &[R],
    stride: usize,
    changes: &[[u32; N]; SIDES],
) -> bool {
    const {
        assert!(
            size_of::<R::Chunk>() == S::LANES * size_of::<R>() && size_of::<S::Chunk>() == S::LANES * size_of::<i16>()
        );
        assert!(SIDES == 1 || SIDES == 2);
    };
    let len = out.len() / SIDES;
    let mut starts = [[0; N]; SIDES];
    for (start, row) in starts.as_flattened_mut().iter_mut().zip(changes.as_flattened()) {
        *start = (*row as usize).wrapping_mul(stride);
    }
    let is_whole = len.is_multiple_of(S::LANES) && out.len() == SIDES * len && source.len() == out.len();
    let Some(last) = rows.len().checked_sub(len).filter(|_| is_whole) else { return false };
    if starts.as_flattened().iter().any(|start| *start > last) {
        return false;
    }
    // One after the other: rows come from the second cache, which serves few of them at a time better than many.
    // SAFETY: an accumulator of `len` elements begins at 0, and at `len` where there are two, of `out` and of `source`,
    // and `start + len` is at most `last + len`, the length of `rows`. The chunks are arrays of that many elements
    // (asserted above) and as aligned as one. `out` is borrowed for writing, and no reference into it lives longer than
    // its vector.
    unsafe {
        let (out, source, rows) = (out.as_mut_ptr(), source.as_ptr(), rows.as_ptr());
        match &starts[..] {
            // Each with loops of its own, which shows at 128 wide.
            [first, second] if S::TAKES_LONG_STEPS => {
                one_side::<S, R, N>(s, out, source, rows, first, len);
                one_side::<S, R, N>(s, out.add(len), source.add(len), rows, second, len);
            }
            starts => {
                for (side, starts) in starts.iter().enumerate() {
                    one_side::<S, R, N>(s, out.add(side * len), source.add(side * len), rows, starts, len);
                }
            }
        }
    }
    true
}

/// An accumulator of [`in_rounds`].
///
/// # Safety
/// As [`vectors`], for `len` elements, a multiple of [`Simd::LANES`].
#[inline(always)]
unsafe fn one_side<S: Simd, R: Row<S>, const N: usize>(
    s: S,
    out: *mut i16,
    source: *const i16,
    rows: *const R,
    starts: &[usize; N],
    len: usize,
) {
    let [long, short] = LONG_ROUNDS.map(|vectors| vectors * S::LANES);
    let mut at = 0;
    // SAFETY: a round is done where all of its vectors are left, and a vector where one is.
    unsafe {
        while S::TAKES_LONG_STEPS && len - at >= long {
            vectors::<S, R, N, { LONG_ROUNDS[0] }>(s, out, source, rows, starts, at);
            at += long;
        }
        if S::TAKES_LONG_STEPS && len - at >= short {
            vectors::<S, R, N, { LONG_ROUNDS[1] }>(s, out, source, rows, starts, at);
            at += short;
        }
        while !S::TAKES_LONG_STEPS && len - at >= ROUND * S::LANES {
            vectors::<S, R, N, ROUND>(s, out, source, rows, starts, at);
            at += ROUND * S::LANES;
        }
        while at < len {
            vectors::<S, R, N, 1>(s, out, source, rows, starts, at);
            at += S::LANES;
        }
    }
}

/// The rows of a move, each by a load of its own. The caller has just stored them one by one, and a load of two at
/// once, which the compiler would make of two loads, could not be served before those stores are in the cache, behind
/// all of the accumulator written last.
#[inline(always)]
pub(super) fn loaded<const N: usize>(changes: &[[u32; N]; 2]) -> [[u32; N]; 2] {
    let mut rows = [[0; N]; 2];
    for (loaded, row) in rows.as_flattened_mut().iter_mut().zip(changes.as_flattened()) {
        // SAFETY: a reference may be read.
        *loaded = unsafe { core::ptr::read_volatile(row) };
    }
    rows
}

/// `VECTORS` vectors of [`in_rounds`], element `at` on. No closure, which could be compiled apart and without the
/// instruction set.
///
/// # Safety
/// The vectors can be read from element `at` on of `source` and of each row, a row beginning at its start of `rows`,
/// and written from there on of `out`, to which nothing else refers.
#[inline(always)]
unsafe fn vectors<S: Simd, R: Row<S>, const N: usize, const VECTORS: usize>(
    s: S,
    out: *mut i16,
    source: *const i16,
    rows: *const R,
    starts: &[usize; N],
    at: usize,
) {
    for vector in 0..VECTORS {
        let at = at + vector * S::LANES;
        // SAFETY: the caller's.
        unsafe {
            let mut sum = s.load(&*source.add(at).cast());
            for (place, start) in starts.iter().enumerate() {
                let row = R::load(s, &*rows.add(start + at).cast());
                sum = if place == 0 { s.add(sum, row) } else { s.sub(sum, row) };
            }
            s.store(&mut *out.add(at).cast(), sum);
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
