//! What every board needs around a program: a log through semihosting, the deepest point of the stack, an exit status.
//!
//! A firmware of your own wants its logs over RTT (`defmt-rtt`) and has no use for an exit status; the rest of the
//! examples is independent of this crate.
#![no_std]

mod broken;
pub mod host;
mod stack;

// The logger, and the critical sections that it needs.
#[cfg(target_arch = "arm")]
use cortex_m as _;
use defmt_semihosting as _;
#[cfg(target_arch = "riscv32")]
use riscv as _;

use semihosting::process;

/// Runs a program and ends: with status 0, or 1 if the program says why not. Panics and faults end with 101.
///
/// The last line of the log is the stack that was used; it differs from board to board, so `firmware-examples/run`
/// takes it out before it compares the log, and puts it into its table.
pub fn run<E: defmt::Format>(program: fn() -> Result<(), E>) -> ! {
    let painted = stack::paint();
    if let Err(error) = program() {
        defmt::println!("{}", error);
        process::exit(1)
    }
    defmt::println!("stack: {=usize} bytes", painted.used_bytes());
    process::exit(0)
}
