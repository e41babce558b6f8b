//! Sums of a tile that are rounded as they lie.
//!
//! Where an output's sum is spread over several lanes, [`Tile::rows`] first brings every output to a lane of its own,
//! and rounding takes them apart again, since a product of 32 bits needs a lane of 64. An instruction set may have a
//! shorter way ([`Finish`]). Its sums begin with their biases, which saves an addition.

use super::ends::Ends;
pub(in crate::kernels) use super::ends::Numbers;
use super::tile::{At, Tile};
use crate::workspace::rest_mut;

/// Outputs of the longest vector that is rounded so.
const MOST_ROWS: usize = 8;

/// What rounds the sums of [`Tile::ROWS`] outputs to bytes.
pub(in crate::kernels) trait Finish<T: Tile>: Copy {
    /// Whether there is such a way.
    const IS_THERE: bool;
    /// `None` where there are fewer numbers.
    fn of(t: T, numbers: &Numbers<'_>) -> Option<Self>;
    /// Sums of the biases alone.
    fn biases(&self, t: T) -> T::Sums;
    /// Rounds the sums of some pixels and writes their bytes, the first pixel's to `out`, each next one's `pitch` bytes
    /// behind.
    ///
    /// # Safety
    /// `ROWS` bytes can be written to every pixel's place.
    unsafe fn write<const PIXELS: usize>(&self, t: T, sums: [T::Sums; PIXELS], out: *mut u8, pitch: usize);
}

/// No such way.
impl<T: Tile> Finish<T> for () {
    const IS_THERE: bool = false;
    #[inline(always)]
    fn of(_: T, _: &Numbers<'_>) -> Option<Self> {
        None
    }
    #[inline(always)]
    fn biases(&self, t: T) -> T::Sums {
        t.zero()
    }
    #[inline(always)]
    unsafe fn write<const PIXELS: usize>(&self, _: T, _: [T::Sums; PIXELS], _: *mut u8, _: usize) {}
}

/// What rounds each vector of a tile's outputs; `None` where they are not rounded as they lie.
#[inline(always)]
pub(super) fn finishes<T: Tile, const VECTORS: usize>(t: T, ends: &Ends<'_>, at: &At) -> Option<[T::Finish; VECTORS]> {
    if !T::Finish::IS_THERE || !at.is_plain {
        return None;
    }
    let mut all = [T::Finish::of(t, &ends.numbers(at.block_row, T::ROWS))?; VECTORS];
    for (vector, finish) in all.iter_mut().enumerate().skip(1) {
        *finish = T::Finish::of(t, &ends.numbers(at.block_row + vector * T::ROWS, T::ROWS))?;
    }
    Some(all)
}

/// Writes the outputs of a tile from `pixel` on.
///
/// # Safety
/// With [`At::is_plain`] alone.
#[inline(always)]
pub(super) unsafe fn write<T: Tile, const PIXELS: usize, const VECTORS: usize>(
    t: T,
    finishes: &[T::Finish; VECTORS],
    sums: [[T::Sums; VECTORS]; PIXELS],
    at: &At,
    pixel: usize,
    out: &mut [u8],
) {
    const { assert!(!T::Finish::IS_THERE || T::ROWS <= MOST_ROWS) };
    // One by one, so that the tile's loop keeps them in registers however the one below is compiled.
    let mut vectors = [[t.zero(); PIXELS]; VECTORS];
    for (index, sums) in sums.into_iter().enumerate() {
        for (vector, sums) in vectors.iter_mut().zip(sums) {
            vector[index] = sums;
        }
    }
    for (vector, (finish, sums)) in finishes.iter().zip(vectors).enumerate() {
        let row = vector * T::ROWS;
        let (to, count) = (at.to + pixel * at.channels + at.row + row, at.rows - row);
        if count >= T::ROWS {
            // SAFETY: `At::is_plain` says that all outputs lie in `out`, and so many are left of each pixel's.
            unsafe { finish.write(t, sums, out.as_mut_ptr().wrapping_add(to), at.channels) };
            continue;
        }
        let mut bytes = [[0; MOST_ROWS]; PIXELS];
        // SAFETY: a vector's outputs are no more than a pixel's bytes here.
        unsafe { finish.write(t, sums, bytes.as_mut_ptr().cast(), MOST_ROWS) };
        for (index, bytes) in bytes.iter().enumerate() {
            let out = rest_mut(out, to + index * at.channels);
            out.iter_mut().zip(bytes).take(count).for_each(|(out, byte)| *out = *byte);
        }
    }
}
