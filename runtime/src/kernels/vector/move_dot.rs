//! A move in both accumulators, and the head of a network of one layer over what it makes, in one pass.
//!
//! Most evaluations of a search follow one move. Apart, the move stores vectors that the dot loads again a moment
//! later, and each has its own way from the plan to its loop; here a vector of an accumulator is added up, stored,
//! clipped and multiplied while it is in a register. Which instructions add a product to the sums is
//! [`super::term::Term`]'s to say, and the rows of a move are loaded as in [`super::accumulate`].

use super::Simd;
use super::accumulate::{LONG_ROUNDS, loaded};
use super::term::{
    BYTE_MAX, Between, Biased, Bytes, Clip, Plain, Rounded, SQUARE_FITS_I16, SQUARE_FITS_U16, Short, Split, Square,
    Term, total,
};
use crate::kernels::prefetch::fetch_row;
use crate::kernels::{MoveRows, Moved, NARROW, NARROW_MAX, NarrowPair};

/// Chains of sums.
const CHAINS: usize = 4;
/// Elements of a row from which on the other perspective's are asked for ahead: the processor goes on by itself once it
/// has seen a row begin, and shorter ones are read before it has.
const LONG_ROW: usize = 512;
/// Bytes of each that are asked for.
const ASKED_LEN_BYTES: usize = 256;

/// CReLU.
#[inline(always)]
pub(in crate::kernels) fn crelu<S: Simd>(
    s: S,
    out: &mut [i16],
    source: &[i16],
    rows: &MoveRows<'_>,
    moved: &Moved,
    w: &[i16],
    first: usize,
    max: i16,
) -> Option<i32> {
    either::<S, Plain>(s, out, source, rows, moved, w, first, max)
}

/// SCReLU or squared ReLU, any weights.
#[inline(always)]
pub(in crate::kernels) fn screlu<S: Simd>(
    s: S,
    out: &mut [i16],
    source: &[i16],
    rows: &MoveRows<'_>,
    moved: &Moved,
    w: &[i16],
    first: usize,
    max: i16,
) -> Option<i32> {
    if max <= SQUARE_FITS_I16 {
        either::<S, Square>(s, out, source, rows, moved, w, first, max)
    } else if max <= SQUARE_FITS_U16 {
        either::<S, Biased>(s, out, source, rows, moved, w, first, max)
    } else {
        either::<S, Split>(s, out, source, rows, moved, w, first, max)
    }
}

/// SCReLU where the products fit.
#[inline(always)]
pub(in crate::kernels) fn screlu_short<S: Simd>(
    s: S,
    out: &mut [i16],
    source: &[i16],
    rows: &MoveRows<'_>,
    moved: &Moved,
    w: &[i16],
    first: usize,
    max: i16,
) -> Option<i32> {
    either::<S, Short>(s, out, source, rows, moved, w, first, max)
}

/// [`crate::kernels::moves::NarrowMoveDot`]: what leads to the loops and round them is a third of the instructions of a
/// network so narrow, and of lengths and moves that are known when this is compiled, hardly any of it is left.
#[inline(always)]
pub(in crate::kernels) fn narrow<S: Simd, const N: usize>(
    s: S,
    out: &mut NarrowPair,
    source: &NarrowPair,
    rows: &MoveRows<'_>,
    changes: &[[u32; N]; 2],
    w: &NarrowPair,
    first: usize,
) -> Option<i32> {
    const { assert!(NARROW.is_multiple_of(S::LANES) && NARROW_MAX == BYTE_MAX) };
    let ends = Ends { out, source, w, len: NARROW, first, last: rows.rows.len().checked_sub(NARROW)? };
    if S::CLIPS_BYTES && <Short as Term<S>>::CLIPS_BYTES {
        one_pass::<S, Short, Bytes, N>(s, ends, rows, &loaded(changes), Bytes)
    } else {
        one_pass::<S, Short, Between<S>, N>(s, ends, rows, &loaded(changes), Between::new(s, NARROW_MAX))
    }
}

/// SCReLU with rounded products.
#[inline(always)]
pub(in crate::kernels) fn screlu_rounded<S: Simd>(
    s: S,
    out: &mut [i16],
    source: &[i16],
    rows: &MoveRows<'_>,
    moved: &Moved,
    w: &[i16],
    first: usize,
    max: i16,
) -> Option<i32> {
    either::<S, Rounded>(s, out, source, rows, moved, w, first, max)
}

#[inline(always)]
fn either<S: Simd, T: Term<S>>(
    s: S,
    out: &mut [i16],
    source: &[i16],
    rows: &MoveRows<'_>,
    moved: &Moved,
    w: &[i16],
    first: usize,
    max: i16,
) -> Option<i32> {
    let len = w.len() / 2;
    if !w.len().is_multiple_of(2 * S::LANES) || out.len() != w.len() || source.len() != w.len() {
        return None;
    }
    let ends = Ends { out, source, w, len, first, last: rows.rows.len().checked_sub(len)? };
    any_move::<S, T>(s, ends, rows, moved, max)
}

#[inline(always)]
fn any_move<S: Simd, T: Term<S>>(s: S, ends: Ends<'_>, rows: &MoveRows<'_>, moved: &Moved, max: i16) -> Option<i32> {
    let is_byte = S::CLIPS_BYTES && T::CLIPS_BYTES && max == BYTE_MAX;
    match moved {
        Moved::Quiet(changes) if is_byte => one_pass::<S, T, Bytes, 2>(s, ends, rows, &loaded(changes), Bytes),
        Moved::Capture(changes) if is_byte => one_pass::<S, T, Bytes, 3>(s, ends, rows, &loaded(changes), Bytes),
        Moved::Quiet(changes) => one_pass::<S, T, Between<S>, 2>(s, ends, rows, &loaded(changes), Between::new(s, max)),
        Moved::Capture(changes) => {
            one_pass::<S, T, Between<S>, 3>(s, ends, rows, &loaded(changes), Between::new(s, max))
        }
    }
}

/// What was held against each other: `len` is a multiple of [`Simd::LANES`], the slices have twice as many elements,
/// and a row may begin at `last` or before.
struct Ends<'e> {
    out: &'e mut [i16],
    source: &'e [i16],
    w: &'e [i16],
    len: usize,
    first: usize,
    last: usize,
}

#[inline(always)]
fn one_pass<S: Simd, T: Term<S>, C: Clip<S>, const N: usize>(
    s: S,
    ends: Ends<'_>,
    table: &MoveRows<'_>,
    changes: &[[u32; N]; 2],
    clip: C,
) -> Option<i32> {
    const { assert!(size_of::<S::Chunk>() == S::LANES * size_of::<i16>()) };
    let Ends { out, source, w, len, first, last } = ends;
    let mut starts = [[0; N]; 2];
    for (start, row) in starts.as_flattened_mut().iter_mut().zip(changes.as_flattened()) {
        // The product of two numbers of 32 bits fits 64; where there are fewer, no row may become another one.
        *start = match usize::BITS {
            64 => (*row as usize).wrapping_mul(table.stride),
            _ => (*row as usize).saturating_mul(table.stride),
        };
        if *start > last {
            return None;
        }
    }
    let mut sums = [T::zero(s); CHAINS];
    // One perspective after the other, as in `accumulate`, each with a loop of its own: what differs between the two is
    // known when they are compiled.
    // SAFETY: of `out`, `source` and `w`, 2 · len elements each, a perspective's half begins at most at len; and
    // `start + len` is at most `last + len`, the length of the rows. `out` is borrowed for writing, and no reference
    // into it lives longer than its vector.
    unsafe {
        let rows = |starts: [usize; N]| starts.map(|start| table.rows.as_ptr().add(start));
        if S::TAKES_LONG_STEPS && len >= LONG_ROW {
            for row in rows(starts[1]) {
                fetch_row(row.cast(), ASKED_LEN_BYTES);
            }
        }
        let (second_weights, first_weights) = if first == 0 { (len, 0) } else { (0, len) };
        let pass = Pass {
            source: source.as_ptr(),
            out: out.as_mut_ptr(),
            rows: rows(starts[0]),
            weights: w.as_ptr().add(first_weights),
        };
        sums = pass.run::<S, T, C>(s, clip, sums, len);
        let pass = Pass {
            source: source.as_ptr().add(len),
            out: out.as_mut_ptr().add(len),
            rows: rows(starts[1]),
            weights: w.as_ptr().add(second_weights),
        };
        sums = pass.run::<S, T, C>(s, clip, sums, len);
    }
    Some(total::<S, T, CHAINS>(s, sums))
}

/// Where a perspective's vectors lie.
#[derive(Clone, Copy)]
struct Pass<const N: usize> {
    source: *const i16,
    out: *mut i16,
    rows: [*const i16; N],
    weights: *const i16,
}

impl<const N: usize> Pass<N> {
    /// # Safety
    /// `len` elements, a multiple of [`Simd::LANES`], can be read of each, and written to `out`, to which nothing else
    /// refers.
    #[inline(always)]
    unsafe fn run<S: Simd, T: Term<S>, C: Clip<S>>(
        &self,
        s: S,
        clip: C,
        mut sums: [T::Sums; CHAINS],
        len: usize,
    ) -> [T::Sums; CHAINS] {
        let (mut pass, mut left) = (*self, len);
        // Not where another loop takes nearly all networks of this form.
        let takes_long_steps = const { S::TAKES_LONG_STEPS && (C::IS_COMMON || !T::CLIPS_BYTES) };
        // SAFETY: a round is done where all of its vectors are left, and a vector where one is, since `len` is a
        // multiple of its length. The chunks are arrays of so many i16 (asserted in `one_pass`), as aligned as one.
        unsafe {
            while takes_long_steps && left >= LONG_ROUNDS[0] * S::LANES {
                sums = pass.long_round::<S, T, C>(s, clip, sums);
                pass = pass.behind(LONG_ROUNDS[0] * S::LANES);
                left -= LONG_ROUNDS[0] * S::LANES;
            }
            while left >= LONG_ROUNDS[1] * S::LANES {
                sums = pass.round::<S, T, C>(s, clip, sums);
                pass = pass.behind(LONG_ROUNDS[1] * S::LANES);
                left -= LONG_ROUNDS[1] * S::LANES;
            }
            while left > 0 {
                let weights = pass.weights::<S>(s, 0);
                sums[0] = T::add(s, sums[0], clip.single(s, pass.vector::<S>(s, 0)), weights);
                pass = pass.behind(S::LANES);
                left -= S::LANES;
            }
        }
        sums
    }

    /// What follows so many elements. Pointers that walk along, and not an index, so that every place of a round is a
    /// number that is known when it is compiled.
    #[inline(always)]
    fn behind(self, count: usize) -> Self {
        Self {
            source: self.source.wrapping_add(count),
            out: self.out.wrapping_add(count),
            rows: self.rows.map(|row| row.wrapping_add(count)),
            weights: self.weights.wrapping_add(count),
        }
    }

    /// [`LONG_ROUNDS`]`[0]` vectors, one after the other: as a loop the compiler may leave it one, and keep the sums in
    /// memory to find them by a number.
    ///
    /// # Safety
    /// As [`Pass::vector`], for all of them.
    #[inline(always)]
    unsafe fn long_round<S: Simd, T: Term<S>, C: Clip<S>>(
        &self,
        s: S,
        clip: C,
        mut sums: [T::Sums; CHAINS],
    ) -> [T::Sums; CHAINS] {
        const { assert!(LONG_ROUNDS[0] == 2 * LONG_ROUNDS[1]) };
        // SAFETY: the caller's.
        unsafe {
            sums = self.round::<S, T, C>(s, clip, sums);
            self.behind(LONG_ROUNDS[1] * S::LANES).round::<S, T, C>(s, clip, sums)
        }
    }

    /// [`LONG_ROUNDS`]`[1]` vectors.
    ///
    /// # Safety
    /// As [`Pass::vector`], for all of them.
    #[inline(always)]
    unsafe fn round<S: Simd, T: Term<S>, C: Clip<S>>(
        &self,
        s: S,
        clip: C,
        mut sums: [T::Sums; CHAINS],
    ) -> [T::Sums; CHAINS] {
        const { assert!(LONG_ROUNDS[1] == 2 * CHAINS) };
        // SAFETY: the caller's.
        unsafe {
            sums = self.four::<S, T, C>(s, clip, sums);
            self.behind(CHAINS * S::LANES).four::<S, T, C>(s, clip, sums)
        }
    }

    /// A vector for each of the sums.
    ///
    /// # Safety
    /// As [`Pass::vector`], for all of them.
    #[inline(always)]
    unsafe fn four<S: Simd, T: Term<S>, C: Clip<S>>(
        &self,
        s: S,
        clip: C,
        mut sums: [T::Sums; CHAINS],
    ) -> [T::Sums; CHAINS] {
        for (pair, [first, second]) in sums.as_chunks_mut::<2>().0.iter_mut().enumerate() {
            let [one, two] = [2 * pair * S::LANES, (2 * pair + 1) * S::LANES];
            // SAFETY: the caller's.
            unsafe {
                // Weights are loaded before sums are stored: often they lie at a distance of whole pages, and a load so
                // far from a store before it may wait for it.
                let weights = [self.weights::<S>(s, one), self.weights::<S>(s, two)];
                let [x, y] = clip.both(s, self.vector::<S>(s, one), self.vector::<S>(s, two));
                *first = T::add(s, *first, x, weights[0]);
                *second = T::add(s, *second, y, weights[1]);
            }
        }
        sums
    }

    /// The weights, element `at` on.
    ///
    /// # Safety
    /// A vector can be read there.
    #[inline(always)]
    unsafe fn weights<S: Simd>(&self, s: S, at: usize) -> S::I16 {
        // SAFETY: the caller's.
        s.load(unsafe { &*self.weights.add(at).cast() })
    }

    /// A vector of the new accumulator, element `at` on, which it also stores.
    ///
    /// # Safety
    /// A vector can be read there of each, and written to `out`, to which nothing else refers.
    #[inline(always)]
    unsafe fn vector<S: Simd>(&self, s: S, at: usize) -> S::I16 {
        // SAFETY: the caller's.
        unsafe {
            let mut sum = s.load(&*self.source.add(at).cast());
            for (place, row) in self.rows.iter().enumerate() {
                let row = s.load(&*row.add(at).cast());
                sum = if place == 0 { s.add(sum, row) } else { s.sub(sum, row) };
            }
            s.store(&mut *self.out.add(at).cast(), sum);
            sum
        }
    }
}
