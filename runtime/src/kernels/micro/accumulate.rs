//! Accumulators: rows of features that come and go, each pass over the accumulator taking as many as there are
//! registers for.
//!
//! A pass loads an element of the source, adds and subtracts those of its rows and stores the sum once. What an element
//! is, one i16 or two in a word, is the target's ([`Lanes`]).

use crate::kernels::{Moved, scalar};

/// Elements that are added together, without carries between them. Reads and writes need no alignment.
pub(in crate::kernels) trait Lanes<T: Copy>: Copy {
    /// Elements of an accumulator in one.
    const LEN: usize;

    /// # Safety
    /// `LEN` elements can be read.
    unsafe fn load(x: *const i16) -> Self;
    /// # Safety
    /// `LEN` elements can be read.
    unsafe fn load_row(x: *const T) -> Self;
    /// # Safety
    /// `LEN` elements can be written.
    unsafe fn store(self, out: *mut i16);
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
}

/// One element.
impl<T: Copy + Into<i16>> Lanes<T> for i16 {
    const LEN: usize = 1;

    #[inline(always)]
    unsafe fn load(x: *const i16) -> Self {
        // SAFETY: the caller vouches for the element.
        unsafe { x.read_unaligned() }
    }
    #[inline(always)]
    unsafe fn load_row(x: *const T) -> Self {
        // SAFETY: the caller vouches for the element.
        unsafe { x.read_unaligned() }.into()
    }
    #[inline(always)]
    unsafe fn store(self, out: *mut i16) {
        // SAFETY: the caller vouches for the element.
        unsafe { out.write_unaligned(self) }
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }
}

/// [`crate::kernels::Update`]: pairs that come and go, then the rest, four or one a pass.
#[inline(always)]
pub(in crate::kernels) fn update<L: Lanes<T>, T: Copy + Into<i16>>(
    out: &mut [i16],
    source: Option<&[i16]>,
    rows: &[T],
    stride: usize,
    mut added: &[u32],
    mut removed: &[u32],
) {
    let len = out.len();
    let is_held = |row: &u32| ends_within(*row, stride, len, rows.len());
    let has_source = source.is_none_or(|source| source.len() >= len);
    if !(has_source && added.iter().all(is_held) && removed.iter().all(is_held)) {
        return scalar::update(out, source, rows, stride, added, removed);
    }
    let row = |row: &u32| rows.as_ptr().wrapping_add(*row as usize * stride);
    let out = out.as_mut_ptr();
    // The first pass reads the source, the others what it wrote.
    let mut from = source.map_or(out.cast_const(), <[i16]>::as_ptr);
    // SAFETY: `out` and its source have `len` elements, and so has every row from its start on, as was asked above.
    unsafe {
        loop {
            match (added, removed) {
                ([a, more @ ..], [b, less @ ..]) => {
                    pass::<L, T, 1, 1>(out, len, from, [row(a)], [row(b)]);
                    (added, removed) = (more, less);
                }
                ([a, b, c, d, more @ ..], []) => {
                    pass::<L, T, 4, 0>(out, len, from, [row(a), row(b), row(c), row(d)], []);
                    added = more;
                }
                ([a, more @ ..], []) => {
                    pass::<L, T, 1, 0>(out, len, from, [row(a)], []);
                    added = more;
                }
                ([], [a, less @ ..]) => {
                    pass::<L, T, 0, 1>(out, len, from, [], [row(a)]);
                    removed = less;
                }
                ([], []) => break,
            }
            from = out.cast_const();
        }
        if from != out.cast_const() {
            from.copy_to_nonoverlapping(out, len);
        }
    }
}

/// [`crate::kernels::UpdateBoth`].
#[inline(always)]
pub(in crate::kernels) fn update_both<L: Lanes<T>, T: Copy + Into<i16>>(
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
    let row = |row: u32| rows.as_ptr().wrapping_add(row as usize * stride);
    for (side, (out, source)) in out.chunks_exact_mut(len.max(1)).zip(source.chunks_exact(len.max(1))).enumerate() {
        let (out, source) = (out.as_mut_ptr(), source.as_ptr());
        // SAFETY: halves have `len` elements, and so has every row from its start on, as was asked above of the last of
        // them.
        unsafe {
            match moved {
                Moved::Quiet(changes) => {
                    let [a, b] = changes[side & 1];
                    pass::<L, T, 1, 1>(out, len, source, [row(a)], [row(b)]);
                }
                Moved::Capture(changes) => {
                    let [a, b, c] = changes[side & 1];
                    pass::<L, T, 1, 2>(out, len, source, [row(a)], [row(b), row(c)]);
                }
            }
        }
    }
}

/// Whether a row's first `len` elements lie within `elements`.
#[inline(always)]
pub(in crate::kernels) fn ends_within(row: u32, stride: usize, len: usize, elements: usize) -> bool {
    let end = (row as u64).checked_mul(stride as u64).and_then(|start| start.checked_add(len as u64));
    end.is_some_and(|end| end <= elements as u64)
}

/// `out[i] ← source[i] + Σ added[i] − Σ removed[i]`.
///
/// # Safety
/// `len` elements of `out` can be written, and as many of every other pointer read. `out` may be `source`.
#[inline(always)]
unsafe fn pass<L: Lanes<T>, T: Copy + Into<i16>, const A: usize, const R: usize>(
    out: *mut i16,
    len: usize,
    source: *const i16,
    added: [*const T; A],
    removed: [*const T; R],
) {
    const ROUND: usize = 4;
    let width = ROUND * L::LEN;
    let mut done = 0;
    // SAFETY: a round ends within `len`, and each of its lanes is read before it is written.
    unsafe {
        while len - done >= width {
            for lane in 0..ROUND {
                let index = done + lane * L::LEN;
                let sum =
                    added.iter().fold(L::load(source.add(index)), |sum, row| sum.add(L::load_row(row.add(index))));
                let sum = removed.iter().fold(sum, |sum, row| sum.sub(L::load_row(row.add(index))));
                sum.store(out.add(index));
            }
            done += width;
        }
        if done < len {
            let (added, removed) = (added.map(|row| row.add(done)), removed.map(|row| row.add(done)));
            rest(out.add(done), len - done, source.add(done), added, removed);
        }
    }
}

/// What is left of [`pass`], element by element; apart from it, so that each loop has the registers to itself.
///
/// # Safety
/// As [`pass`].
#[inline(never)]
unsafe fn rest<T: Copy + Into<i16>, const A: usize, const R: usize>(
    out: *mut i16,
    len: usize,
    source: *const i16,
    added: [*const T; A],
    removed: [*const T; R],
) {
    for index in 0..len {
        // SAFETY: the index is below `len`, and the element is read before it is written.
        unsafe {
            let term = |row: &*const T| (*row.add(index)).into();
            let sum = added.iter().map(term).fold(*source.add(index), i16::wrapping_add);
            *out.add(index) = removed.iter().map(term).fold(sum, i16::wrapping_sub);
        }
    }
}
