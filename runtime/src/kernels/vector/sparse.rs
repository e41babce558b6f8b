//! `out = bias + W·x` for bytes of which most groups of four are zero, as they are behind a pairwise activation.
//!
//! First a pass over the inputs writes down the numbers of the groups that are not zero: a comparison gives a bit a
//! group, and eight bits at a time look up where their set bits are. Then only those groups' weights are visited. When
//! nearly all are not zero ([`DENSE_FROM`]), the dense loop runs.

use super::dense::{Dense, fits, own};
use super::dense_end::{Sums, store};
use super::{IS_COMPACT, Simd};
use crate::kernels::{AffineI8, scalar};
use core::mem::MaybeUninit;

/// Inputs that a list covers; longer inputs go the dense way.
const SPAN: usize = 1024;
/// Groups of a span.
pub(in crate::kernels) const GROUPS: usize = SPAN / 4;
/// Places behind a list that may be written to before it is known that they are not needed.
pub(in crate::kernels) const ROOM: usize = 16;
/// Of 256 groups, from how many non-zero ones on the dense loop is taken. Once the list is written a listed group costs
/// hardly more than one in a row, so that only nearly full inputs gain from the loop that needs no list.
const DENSE_FROM: usize = GROUPS / 8 * 7;

/// Where a byte's clear bits are, lowest first.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(in crate::kernels) fn places_of_clear_bits(byte: u8) -> &'static [u8; 8] {
    static CLEAR_BITS: [[u8; 8]; 256] = {
        let (mut table, mut byte) = ([[0; 8]; 256], 0);
        while byte < 256 {
            let mut bit = 0;
            while bit < 8 {
                table[byte][bit] = SET_BITS[255 - byte][bit] as u8;
                bit += 1;
            }
            byte += 1;
        }
        table
    };
    &CLEAR_BITS[usize::from(byte)]
}

/// For every byte, where its set bits are, lowest first.
const SET_BITS: [[u16; 8]; 256] = set_bits();

const fn set_bits() -> [[u16; 8]; 256] {
    let mut table = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut count) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[byte][count] = bit;
                count += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
}

/// [`crate::kernels::AffineI8`] for inputs up to 127. dense: the same without a list, a function of its own and no part
/// of this one, which would hold its loops a second time.
#[inline(always)]
pub(in crate::kernels) fn affine_sparse<S: Simd, D: Dense>(
    s: S,
    d: D,
    dense: AffineI8<u8>,
    x: &[u8],
    w: &[i8],
    stride: usize,
    bias: &[i32],
    out: &mut [i32],
) {
    let groups = x.len() / 4;
    let whole = x.len().is_multiple_of(2 * S::LANES) && x.len() <= SPAN;
    if !fits(groups, stride, w.len(), out.len()) {
        return scalar::out_of_contract(out);
    }
    // One, two or four vectors of rows, as behind an accumulator; anything else is rare and goes the dense way.
    let vectors = stride.div_ceil(D::ROWS);
    if !whole || !stride.is_multiple_of(D::ROWS) || !matches!(vectors, 1 | 2 | 4) {
        return own(d, dense, x, w, stride, bias, out);
    }
    let mut list = [const { MaybeUninit::uninit() }; GROUPS + ROOM];
    // SAFETY: the inputs have at most `GROUPS` groups.
    let found = unsafe { s.list(S::wide_byte_chunks(x).0, list.as_mut_ptr().cast()) };
    if found.count > DENSE_FROM * groups / GROUPS {
        return own(d, dense, x, w, stride, bias, out);
    }
    // SAFETY: the list holds numbers of groups of `x`, each below `groups`; the length of `w` was compared above, and
    // the vectors of rows fill the stride.
    unsafe {
        match vectors {
            1 => listed::<S, D, 1, { if IS_COMPACT { 2 } else { 8 } }>(d, x, w, bias, out, &mut list, found),
            2 => listed::<S, D, 2, { if IS_COMPACT { 1 } else { 4 } }>(d, x, w, bias, out, &mut list, found),
            _ => listed::<S, D, 4, { if IS_COMPACT { 1 } else { 2 } }>(d, x, w, bias, out, &mut list, found),
        }
    }
}

/// What a list of groups holds.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct Found {
    /// How many groups are not zero.
    pub count: usize,
    /// One that is, if there is one in the first vector.
    zero: Option<u16>,
    /// Whether no vector was seen yet.
    is_first: bool,
}

impl Found {
    pub const NOTHING: Self = Self { count: 0, zero: None, is_first: true };

    /// All at once: how many, and one that is zero.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub fn counted(count: usize, zero: Option<u16>) -> Self {
        Self { count, zero, is_first: false }
    }

    /// Counts the groups of a vector by their bits, `width` of them.
    #[inline(always)]
    pub fn see(&mut self, bits: u32, width: u32) {
        if self.is_first {
            let zero = bits.trailing_ones();
            self.zero = (zero < width).then_some(zero as u16);
            self.is_first = false;
        }
        self.count += bits.count_ones() as usize;
    }
}

/// [`Simd::list`] by a table of the places of a byte's bits.
///
/// # Safety
/// As [`Simd::list`].
// The tiers of x86-64 but `wide` have instructions for it.
#[cfg(any(feature = "wide", not(target_arch = "x86_64")))]
#[inline(always)]
pub(in crate::kernels) unsafe fn list_by_bits<S: Simd>(s: S, x: &[S::WideByteChunk], out: *mut u16) -> Found {
    let (mut found, mut first) = (Found::NOTHING, 0);
    for vector in x {
        let bits = s.nonzero_groups(vector);
        // SAFETY: the caller's; at most one number was written for each group before this vector's.
        unsafe { list_bits(bits, S::LANES / 2, first, out.add(found.count)) };
        found.see(bits, S::LANES as u32 / 2);
        first += (S::LANES / 2) as u16;
    }
    found
}

/// Writes `first` plus the number of the bit for each bit that is set of the `width` lowest, lowest first. No bit
/// beyond them is set.
///
/// # Safety
/// `width` numbers and [`ROOM`] more can be written to `out`.
#[cfg(any(feature = "wide", not(target_arch = "x86_64")))]
#[inline(always)]
unsafe fn list_bits(mut bits: u32, width: usize, mut first: u16, out: *mut u16) {
    static PLACES: [[u16; 8]; 256] = SET_BITS;
    let mut count = 0;
    for _ in 0..width.div_ceil(8) {
        let byte = bits as u8;
        let places = &PLACES[usize::from(byte)];
        let mut numbers = [first; 8];
        for (number, bit) in numbers.iter_mut().zip(places) {
            *number += bit;
        }
        // SAFETY: the caller's; no more numbers count so far than there were bits.
        unsafe { out.add(count).cast::<[u16; 8]>().write_unaligned(numbers) };
        count += byte.count_ones() as usize;
        bits >>= 8;
        first += 8;
    }
}

/// # Safety
/// The list's first `found.count` numbers are there, at most [`GROUPS`], each below `x.len() / 4`, as is `found.zero`;
/// `w` holds four columns of `VECTORS·ROWS` weights for every four elements of `x`.
#[inline(always)]
unsafe fn listed<S: Simd, D: Dense, const VECTORS: usize, const CHAINS: usize>(
    d: D,
    x: &[u8],
    w: &[i8],
    bias: &[i32],
    out: &mut [i32],
    list: &mut [MaybeUninit<S::Group>; GROUPS + ROOM],
    found: Found,
) {
    let mut sums = [[d.zero(); VECTORS]; CHAINS];
    // Filled up with a group that adds nothing, the list is whole rounds, and one loop ends where nobody can foresee
    // it, not two.
    let count = match found.zero {
        Some(zero) => {
            const { assert!(CHAINS.is_power_of_two() && CHAINS <= ROOM) };
            for place in 0..CHAINS {
                // SAFETY: at most `GROUPS` places are taken, and `CHAINS`, at most `ROOM`, follow.
                unsafe { *list.as_mut_ptr().add(found.count + place) = MaybeUninit::new(zero.into()) };
            }
            (found.count + CHAINS - 1) & !(CHAINS - 1)
        }
        None => found.count,
    };
    // SAFETY: that many places were written.
    let list: &[S::Group] = unsafe { core::slice::from_raw_parts(list.as_ptr().cast(), count) };
    let (rounds, rest) = list.as_chunks::<CHAINS>();
    for round in rounds {
        for (sums, group) in sums.iter_mut().zip(round) {
            // SAFETY: the caller's.
            unsafe { one(d, sums, x, w, (*group).into()) };
        }
    }
    // To one chain, whose place is known when this is compiled, so that sums stay in registers.
    for group in rest {
        // SAFETY: the caller's.
        unsafe { one(d, &mut sums[0], x, w, (*group).into()) };
    }
    store(d, sums, 0, &mut Sums { bias, out });
}

/// # Safety
/// As [`listed`], for one group.
#[inline(always)]
unsafe fn one<D: Dense, const VECTORS: usize>(d: D, sums: &mut [D::Sums; VECTORS], x: &[u8], w: &[i8], group: u32) {
    let group = group as usize;
    // SAFETY: four bytes from `4·group` on lie within `x`.
    let four = unsafe { x.as_ptr().add(4 * group).cast::<u32>().read_unaligned() };
    for (vector, sums) in sums.iter_mut().enumerate() {
        // SAFETY: the group's weights lie within `w`, and this vector of rows within the stride.
        let weights = unsafe { d.load(w.as_ptr().add(4 * D::ROWS * (VECTORS * group + vector))) };
        *sums = d.mac(*sums, four, weights);
    }
}
