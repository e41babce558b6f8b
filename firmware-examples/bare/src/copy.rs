//! Copying memory, for images that count their flash: a loop. The compiler's library copies words at a time, in a
//! hundred times the code, and yields to this one under the same name. The few words that such an image copies take it
//! no time.

/// What the compiler calls to copy `len` bytes that do not overlap.
///
/// # Safety
/// `from` is valid for reads of `len` bytes, and `to` for writes.
#[cfg_attr(target_arch = "arm", unsafe(export_name = "__aeabi_memcpy"))]
#[cfg_attr(not(target_arch = "arm"), unsafe(export_name = "memcpy"))]
unsafe extern "C" fn copy(to: *mut u8, from: *const u8, len: usize) -> *mut u8 {
    for at in 0..len {
        // SAFETY: `at` is below `len`, for which the caller vouches. Volatile, because the compiler would make of any
        // other loop a call of this very function.
        unsafe { to.add(at).write_volatile(from.add(at).read_volatile()) };
    }
    to
}
