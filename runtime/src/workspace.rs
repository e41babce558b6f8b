//! Scratch memory: one aligned slice that the caller owns, cut into the places that the file plans.

use bytemuck::Zeroable;
use core::ops::Range;

/// `N` bytes at a multiple of 64. `N` is at least [`crate::format::Model::workspace_len_bytes`].
///
/// ```
/// let mut scratch = tamis_runtime::Workspace::<4096>::new();
/// assert_eq!(scratch.as_mut().len(), 4096);
/// ```
#[derive(Debug, Clone, Zeroable)]
#[repr(C, align(64))]
pub struct Workspace<const N: usize>([u8; N]);

impl<const N: usize> Workspace<N> {
    /// All zeros; the contents never matter.
    pub const fn new() -> Self {
        Self([0; N])
    }
}

impl<const N: usize> Default for Workspace<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> AsMut<[u8]> for Workspace<N> {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

/// A place to read and a place to write, which the loader has checked not to overlap. Empty slices if they did.
#[inline]
pub(crate) fn split(bytes: &mut [u8], read: Range<usize>, write: Range<usize>) -> (&[u8], &mut [u8]) {
    match bytes.get_disjoint_mut([read, write]) {
        Ok([read, write]) => (read, write),
        Err(_) => (&[], &mut []),
    }
}
