//! `out = bias + W·x` for bytes of which most groups of four are zero, as they are behind a pairwise activation.
//!
//! First a pass over the inputs writes down the numbers of the groups that are not zero: a comparison gives a bit a group, and
//! eight bits at a time look up where their set bits are. Then only those groups' weights are visited. When nearly all are not
//! zero ([`DENSE_FROM`]), the dense loop runs.

use super::Simd;
use super::dense::{Dense, affine, fits, store};
use crate::kernels::scalar;
use core::mem::MaybeUninit;

/// Inputs that a list covers; longer inputs go the dense way.
const SPAN: usize = 1024;
/// Groups of a span.
const GROUPS: usize = SPAN / 4;
/// Places behind a list that may be written to before it is known that they are not needed.
pub(in crate::kernels) const ROOM: usize = 16;
/// Of 256 groups, from how many non-zero ones on the dense loop is taken. Once the list is written a listed group costs hardly
/// more than one in a row, so that only nearly full inputs gain from the loop that needs no list.
const DENSE_FROM: usize = GROUPS / 8 * 7;

/// For every byte, where its set bits are, lowest first.
static SET_BITS: [[u16; 8]; 256] = set_bits();

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

/// [`crate::kernels::AffineI8`] for inputs up to 127.
#[inline(always)]
pub(in crate::kernels) fn affine_sparse<S: Simd, D: Dense>(
    s: S,
    d: D,
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
        return affine(d, x, w, stride, bias, out);
    }
    let mut list = [const { MaybeUninit::uninit() }; GROUPS + ROOM];
    let list = list_nonzero(s, x, &mut list);
    let count = list.len();
    if count > DENSE_FROM * groups / GROUPS {
        return affine(d, x, w, stride, bias, out);
    }
    // SAFETY: the list holds numbers of groups of `x`, each below `groups`; the length of `w` was compared above, and the
    // vectors of rows fill the stride.
    unsafe {
        match vectors {
            1 => listed::<D, 1, 8>(d, x, w, stride, bias, out, list),
            2 => listed::<D, 2, 4>(d, x, w, stride, bias, out, list),
            _ => listed::<D, 4, 2>(d, x, w, stride, bias, out, list),
        }
    }
}

/// Writes the numbers of the groups that are not zero, and returns them. `x` fills whole vectors and has at most [`SPAN`] elements.
#[inline(always)]
fn list_nonzero<'l, S: Simd>(s: S, x: &[u8], list: &'l mut [MaybeUninit<u16>; GROUPS + ROOM]) -> &'l [u16] {
    let (mut count, mut first) = (0, 0u16);
    for vector in S::wide_byte_chunks(x).0.iter().take(SPAN / (2 * S::LANES)) {
        // SAFETY: at most one number was written for each group before this vector's, so that `count` is at most `GROUPS` less the
        // vector's own, and the list has `ROOM` places more.
        count += unsafe { s.list_groups(vector, first, list.as_mut_ptr().add(count).cast()) };
        first += (S::LANES / 2) as u16;
    }
    // SAFETY: the first `count` places were written.
    unsafe { core::slice::from_raw_parts(list.as_ptr().cast(), count) }
}

/// Writes `first` plus the number of the bit for each bit that is set of the `width` lowest, lowest first; returns how many. No bit beyond
/// them is set.
///
/// # Safety
/// `width` numbers and [`ROOM`] more can be written to `out`.
#[inline(always)]
pub(in crate::kernels) unsafe fn list_bits(mut bits: u32, width: usize, mut first: u16, out: *mut u16) -> usize {
    let mut count = 0;
    for _ in 0..width.div_ceil(8) {
        let byte = bits as u8;
        let places = &SET_BITS[usize::from(byte)];
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
    count
}

/// # Safety
/// Every number in `list` is below `x.len() / 4`; `w` holds `4·stride` weights for every four elements of `x`, and `stride` is
/// `VECTORS·ROWS`.
#[inline(always)]
unsafe fn listed<D: Dense, const VECTORS: usize, const CHAINS: usize>(
    d: D,
    x: &[u8],
    w: &[i8],
    stride: usize,
    bias: &[i32],
    out: &mut [i32],
    list: &[u16],
) {
    let mut sums = [[d.zero(); VECTORS]; CHAINS];
    let (rounds, rest) = list.as_chunks::<CHAINS>();
    for round in rounds {
        for (sums, group) in sums.iter_mut().zip(round) {
            // SAFETY: the caller's.
            unsafe { one(d, sums, x, w, stride, usize::from(*group)) };
        }
    }
    // To one chain, whose place is known when this is compiled, so that sums stay in registers.
    for group in rest {
        // SAFETY: the caller's.
        unsafe { one(d, &mut sums[0], x, w, stride, usize::from(*group)) };
    }
    store(d, sums, 0, bias, out);
}

/// # Safety
/// As [`listed`], for one group.
#[inline(always)]
unsafe fn one<D: Dense, const VECTORS: usize>(
    d: D,
    sums: &mut [D::Sums; VECTORS],
    x: &[u8],
    w: &[i8],
    stride: usize,
    group: usize,
) {
    // SAFETY: four bytes from `4·group` on lie within `x`.
    let four = unsafe { x.as_ptr().add(4 * group).cast::<u32>().read_unaligned() };
    for (vector, sums) in sums.iter_mut().enumerate() {
        // SAFETY: the group's weights lie within `w`, and this vector of rows within the stride.
        let weights = unsafe { d.load(w.as_ptr().add(4 * (stride * group + vector * D::ROWS))) };
        *sums = d.mac(*sums, four, weights);
    }
}
