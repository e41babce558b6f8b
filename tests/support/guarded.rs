//! Memory that ends, or begins, at a page that nobody may touch: a read or a write one byte beyond it ends the process.
//!
//! A slice's bounds are checked everywhere but in kernels, which compare once and then load and store unchecked. What
//! they load beyond a slice is no fault of a result, so that no comparison of results finds it; here it is a signal.

use bytemuck::Pod;
use core::ffi::c_void;
use core::ptr;
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

/// As long as any machine's, so that both ends fall on one.
const PAGE: usize = 64 << 10;
/// Where the runtime wants its memory.
const ALIGN: usize = 64;

/// Elements between two pages that nobody may touch.
#[derive(Debug)]
pub struct Guarded<T> {
    map: *mut c_void,
    map_len_bytes: usize,
    start: *mut T,
    len: usize,
}

impl<T: Pod> Guarded<T> {
    /// A copy of elements whose last byte is the last before such a page.
    #[must_use]
    pub fn ending(elements: &[T]) -> Self {
        Self::new(elements, |room, len_bytes| room - len_bytes)
    }

    /// A copy of elements whose first byte is the first behind such a page.
    #[must_use]
    pub fn beginning(elements: &[T]) -> Self {
        Self::new(elements, |_, _| 0)
    }

    fn new(elements: &[T], offset: impl Fn(usize, usize) -> usize) -> Self {
        const { assert!(align_of::<T>() <= ALIGN) };
        let len_bytes = size_of_val(elements);
        let room = len_bytes.next_multiple_of(PAGE);
        let map_len_bytes = room + 2 * PAGE;
        // SAFETY: a new map, at any address.
        let map = unsafe {
            mmap_anonymous(ptr::null_mut(), map_len_bytes, ProtFlags::empty(), MapFlags::PRIVATE).expect("memory")
        };
        let inner = map.wrapping_byte_add(PAGE);
        // SAFETY: pages of that map, which nobody else knows of.
        unsafe { mprotect(inner, room, MprotectFlags::READ | MprotectFlags::WRITE).expect("pages of a map") };
        let start = inner.wrapping_byte_add(offset(room, len_bytes)).cast::<T>();
        assert!(start.is_aligned(), "elements that end at a page lie at multiples of their size");
        // SAFETY: `len_bytes` can be written from there to the end of the pages.
        unsafe { ptr::copy_nonoverlapping(elements.as_ptr(), start, elements.len()) };
        Self { map, map_len_bytes, start, len: elements.len() }
    }
}

impl<T> AsRef<[T]> for Guarded<T> {
    fn as_ref(&self) -> &[T] {
        // SAFETY: as many were written there, which stay for as long as this value is there.
        unsafe { core::slice::from_raw_parts(self.start, self.len) }
    }
}

impl<T> AsMut<[T]> for Guarded<T> {
    fn as_mut(&mut self) -> &mut [T] {
        // SAFETY: the same, and nobody else refers to them.
        unsafe { core::slice::from_raw_parts_mut(self.start, self.len) }
    }
}

impl<T> Drop for Guarded<T> {
    fn drop(&mut self) {
        // SAFETY: the map that `new` made, to which nothing refers any longer.
        unsafe { munmap(self.map, self.map_len_bytes).expect("a map can be given back") };
    }
}
