//! Asking for memory ahead of its use.

/// Bytes of a cache line on all machines that have an instruction for this here.
const LINE_LEN_BYTES: usize = 64;

/// Asks the processor to fetch `bytes` into its first cache; returns at once and changes nothing. Does nothing where
/// there is no such instruction.
///
/// When not to use it: right before the use, or for memory that is already near; each line costs an instruction.
#[inline]
pub fn prefetch(bytes: &[u8]) {
    for line in bytes.chunks(LINE_LEN_BYTES) {
        fetch(line.as_ptr());
    }
}

/// The same of `len` bytes from a place on, whole lines, which may lie anywhere.
#[inline(always)]
#[allow(dead_code, reason = "not every target's kernels ask")]
pub(super) fn fetch_row(place: *const i8, len: usize) {
    for line in 0..len / LINE_LEN_BYTES {
        fetch(place.wrapping_add(line * LINE_LEN_BYTES).cast());
    }
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse"))]
#[inline]
fn fetch(line: *const u8) {
    use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a hint; it neither reads nor writes as far as the program can see, and faults on no address. The target
    // has SSE.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(line.cast()) };
}

#[cfg(target_arch = "aarch64")]
#[inline]
fn fetch(line: *const u8) {
    // SAFETY: a hint; it neither reads nor writes as far as the program can see, and faults on no address.
    unsafe {
        core::arch::asm!("prfm pldl1keep, [{}]", in(reg) line, options(readonly, nostack, preserves_flags));
    }
}

#[cfg(not(any(all(target_arch = "x86_64", target_feature = "sse"), target_arch = "aarch64")))]
#[inline]
fn fetch(_: *const u8) {}
