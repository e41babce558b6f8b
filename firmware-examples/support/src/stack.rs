//! The deepest point of the stack, by painting it: what keeps the paint was not used.

use core::arch::asm;
use core::ptr::{read_volatile, write_volatile};

/// What a word of unused stack holds. A word of the program that happens to hold it at the very deepest point would
/// hide itself.
const PAINT: usize = 0xC0DE_5AFE;
const WORD: usize = size_of::<usize>();
/// Bytes below the stack pointer that [`paint`] leaves: what it saves there itself. Any program goes deeper.
const OWN: usize = 64;

unsafe extern "C" {
    /// Behind the last static; the stack may grow down to here. From the linker script, as is the next: addresses, not
    /// values.
    static __ebss: u8;
    /// Where the stack starts.
    static _stack_start: u8;
}

/// A painted stack.
pub struct Painted(());

/// Paints all of the stack that is not yet in use.
#[inline(never)]
pub fn paint() -> Painted {
    let mut here = low();
    let top = pointer() - OWN;
    while here < top {
        // SAFETY: aligned, and RAM between the statics and the stack pointer, which belongs to nobody: no interrupt
        // runs here that would use it, and what this function saves takes less than `OWN`.
        unsafe { write_volatile(here as *mut usize, PAINT) };
        here += WORD;
    }
    Painted(())
}

impl Painted {
    /// Bytes from the start of the stack to the deepest word that lost its paint, everything before `main` included.
    #[inline(never)]
    pub fn used_bytes(&self) -> usize {
        let mut here = low();
        let top = &raw const _stack_start as usize;
        // SAFETY: aligned RAM; words in use are read, too, but not kept.
        while here < top && unsafe { read_volatile(here as *const usize) } == PAINT {
            here += WORD;
        }
        top - here
    }
}

/// The lowest word of the stack.
fn low() -> usize {
    (&raw const __ebss as usize).next_multiple_of(WORD)
}

/// The stack pointer.
#[inline(always)]
fn pointer() -> usize {
    let pointer: usize;
    #[cfg(target_arch = "arm")]
    // SAFETY: reads a register.
    unsafe {
        asm!("mov {}, sp", out(reg) pointer, options(nomem, nostack, preserves_flags))
    };
    #[cfg(target_arch = "riscv32")]
    // SAFETY: reads a register.
    unsafe {
        asm!("mv {}, sp", out(reg) pointer, options(nomem, nostack, preserves_flags))
    };
    pointer
}
