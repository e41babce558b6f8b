//! Scratch memory: one aligned slice that the caller owns, cut into the places that the file plans.

use core::ops::Range;

/// `N` bytes at a multiple of 64. `N` is at least [`crate::format::Model::workspace_len_bytes`].
///
/// ```
/// let mut scratch = tamis_runtime::Workspace::<4096>::new();
/// assert_eq!(scratch.as_mut().len(), 4096);
/// ```
#[derive(Debug, Clone)]
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
pub(crate) fn split(bytes: &mut [u8], read: Range<usize>, write: Range<usize>) -> (&[u8], &mut [u8]) {
    if read.end <= write.start {
        if let Some((head, tail)) = bytes.split_at_mut_checked(write.start) {
            let written = tail.get_mut(..write.len()).unwrap_or(&mut []);
            return (head.get(read).unwrap_or(&[]), written);
        }
    } else if write.end <= read.start
        && let Some((head, tail)) = bytes.split_at_mut_checked(read.start)
    {
        let len = read.len();
        return (tail.get(..len).unwrap_or(&[]), head.get_mut(write).unwrap_or(&mut []));
    }
    (&[], &mut [])
}
