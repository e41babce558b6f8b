//! Marks around a stretch of code, for counting its instructions from outside.
//!
//! A mark is an instruction that does nothing and that no compiler writes: a register moved to itself, or a hint.
//! `tools/count.c`, in QEMU, counts what runs between a first and a second mark. On a real board they cost an
//! instruction each.

#![allow(unsafe_code, reason = "an instruction that the compiler would not write")]

use core::arch::asm;

/// Runs `stretch` between marks.
#[inline(always)]
pub fn counted<T>(stretch: impl FnOnce() -> T) -> T {
    begin();
    let result = stretch();
    end();
    result
}

// Neither says `nomem`: loads and stores of the stretch must not leave it.
#[cfg(target_arch = "arm")]
#[inline(always)]
fn begin() {
    // SAFETY: the register keeps its value, and no flag changes.
    unsafe { asm!("mov r10, r10", options(nostack, preserves_flags)) }
}
#[cfg(target_arch = "arm")]
#[inline(always)]
fn end() {
    // SAFETY: as above.
    unsafe { asm!("mov r11, r11", options(nostack, preserves_flags)) }
}

#[cfg(target_arch = "riscv32")]
#[inline(always)]
fn begin() {
    // SAFETY: what is written to x0 is dropped.
    unsafe { asm!("slti x0, x0, 0x7a1", options(nostack, preserves_flags)) }
}
#[cfg(target_arch = "riscv32")]
#[inline(always)]
fn end() {
    // SAFETY: as above.
    unsafe { asm!("slti x0, x0, 0x7a2", options(nostack, preserves_flags)) }
}

/// On a host nothing is counted, but the programs compile.
#[cfg(not(any(target_arch = "arm", target_arch = "riscv32")))]
fn begin() {
    // SAFETY: no instruction at all.
    unsafe { asm!("", options(nostack, preserves_flags)) }
}
#[cfg(not(any(target_arch = "arm", target_arch = "riscv32")))]
fn end() {
    begin();
}
