//! Scratch memory: one aligned slice that the caller owns, cut into the places that the file plans.

use bytemuck::{Pod, Zeroable, try_cast_slice, try_cast_slice_mut};
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

/// A place to read and a place to write, which the loader has checked not to overlap. Two empty slices if they did.
#[cfg_attr(not(target_os = "none"), inline(always))]
pub(crate) fn split(bytes: &mut [u8], read: Range<usize>, write: Range<usize>) -> (&[u8], &mut [u8]) {
    let is_first = read.end <= write.start;
    let middle = if is_first { write.start } else { read.start };
    let meet = !is_first && write.end > read.start;
    let Some((head, tail)) = bytes.split_at_mut_checked(middle).filter(|_| !meet) else {
        debug_assert!(false, "places that meet or end behind the workspace");
        return (nothing(), nothing_mut());
    };
    if is_first {
        (range(head, read), range_mut(tail, 0..write.end.wrapping_sub(middle)))
    } else {
        (range(tail, 0..read.end.wrapping_sub(middle)), range_mut(head, write))
    }
}

/// What lies before a place, the place to write, and what lies behind it; nothing if there is no such place.
pub(crate) fn around(bytes: &mut [u8], write: Range<usize>) -> (&[u8], &mut [u8], &[u8]) {
    let len = write.end.wrapping_sub(write.start);
    let parts = bytes.split_at_mut_checked(write.start).and_then(|(before, rest)| {
        let (out, behind) = rest.split_at_mut_checked(len)?;
        Some((&*before, out, &*behind))
    });
    parts.unwrap_or_else(|| {
        debug_assert!(false, "a place behind the end of the workspace");
        (nothing(), nothing_mut(), nothing())
    })
}

/// A part of a slice that has it, as the loader has checked; empty if it had not. Asked as a branch that is never
/// taken: the alternative, to choose between two slices, takes longer than the question.
#[inline(always)]
pub(crate) fn range<T>(all: &[T], range: Range<usize>) -> &[T] {
    match all.get(range) {
        Some(part) => part,
        None => {
            debug_assert!(false, "a part that is not there");
            nothing()
        }
    }
}

/// What lies from a place on; empty, as the loader and the kinds' own loops rule out, behind the end.
#[inline(always)]
pub(crate) fn rest<T>(all: &[T], start: usize) -> &[T] {
    match all.get(start..) {
        Some(part) => part,
        None => {
            debug_assert!(false, "a place behind the end");
            &[]
        }
    }
}

/// The same to write to.
#[inline(always)]
pub(crate) fn rest_mut<T>(all: &mut [T], start: usize) -> &mut [T] {
    match all.get_mut(start..) {
        Some(part) => part,
        None => {
            debug_assert!(false, "a place behind the end");
            nothing_mut()
        }
    }
}

/// The same to write to.
#[inline(always)]
pub(crate) fn range_mut<T>(all: &mut [T], range: Range<usize>) -> &mut [T] {
    match all.get_mut(range) {
        Some(part) => part,
        None => {
            debug_assert!(false, "a part that is not there");
            nothing_mut()
        }
    }
}

/// Bytes as numbers; none if they are not as aligned, which parts of a workspace are.
#[inline(always)]
pub(crate) fn typed<T: Pod>(bytes: &[u8]) -> &[T] {
    match try_cast_slice(bytes) {
        Ok(numbers) => numbers,
        Err(_) => {
            // No bytes may lie anywhere.
            debug_assert!(bytes.is_empty(), "bytes that are no whole numbers in their place");
            nothing()
        }
    }
}

/// The same to write to.
#[inline(always)]
pub(crate) fn typed_mut<T: Pod>(bytes: &mut [u8]) -> &mut [T] {
    debug_assert!(bytes.is_empty() || bytes.as_ptr().cast::<T>().is_aligned(), "bytes that are not aligned");
    match try_cast_slice_mut(bytes) {
        Ok(numbers) => numbers,
        Err(_) => nothing_mut(),
    }
}

// Known in every unit of code that asks: where it is another unit's function, a kernel has to expect that it changes
// memory. Pages and firmware count bytes instead.
#[cold]
#[cfg_attr(short_ways, inline)]
#[cfg_attr(not(any(short_ways, target_os = "none")), inline(never))]
const fn nothing<'a, T>() -> &'a [T] {
    &[]
}

#[cold]
#[cfg_attr(short_ways, inline)]
#[cfg_attr(not(any(short_ways, target_os = "none")), inline(never))]
const fn nothing_mut<'a, T>() -> &'a mut [T] {
    &mut []
}
