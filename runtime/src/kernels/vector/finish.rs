//! Sums of a tile that are rounded as they lie.
//!
//! Where an output's sum is spread over several lanes, bringing every output to a lane of its own comes first, and
//! rounding takes them apart again, since a product of 32 bits needs a lane of 64. An instruction set may have a
//! shorter way. Its sums begin with their biases, which saves an addition.

pub(in crate::kernels) use super::ends::Numbers;

/// What rounds the sums of a vector of a tile's outputs to bytes. T: the tile, a value of which proves that there is
/// the instruction set.
pub(in crate::kernels) trait Finish<T, Sums>: Copy {
    /// Whether there is such a way.
    const IS_THERE: bool;
    /// `None` where there are fewer numbers than outputs.
    fn of(t: T, numbers: &Numbers<'_>) -> Option<Self>;
    /// The sums to begin with in place of those of nothing.
    fn begin(&self, zero: Sums) -> Sums;
    /// Rounds the sums of some pixels and writes their bytes, the first pixel's to `out`, each next one's `pitch` bytes
    /// behind.
    ///
    /// # Safety
    /// As many bytes as there are outputs can be written to every pixel's place.
    unsafe fn write<const PIXELS: usize>(&self, t: T, sums: [Sums; PIXELS], out: *mut u8, pitch: usize);
}

/// No such way.
impl<T, Sums> Finish<T, Sums> for () {
    const IS_THERE: bool = false;
    #[inline(always)]
    fn of(_: T, _: &Numbers<'_>) -> Option<Self> {
        None
    }
    #[inline(always)]
    fn begin(&self, zero: Sums) -> Sums {
        zero
    }
    #[inline(always)]
    unsafe fn write<const PIXELS: usize>(&self, _: T, _: [Sums; PIXELS], _: *mut u8, _: usize) {}
}
