//! What both programs need: how they end when something is wrong.
#![no_std]

use core::panic::PanicInfo;
use cortex_m_rt::{ExceptionFrame, exception};
use semihosting::{eprintln, process};

/// Exit status of a program that panicked or faulted.
const BROKEN: i32 = 101;

#[panic_handler]
fn panicked(info: &PanicInfo<'_>) -> ! {
    eprintln!("{info}");
    process::exit(BROKEN)
}

// SAFETY: the handler only prints and ends; it returns to nothing and touches no state of the program.
#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    eprintln!("{frame:?}");
    process::exit(BROKEN)
}
