//! How a program ends that panicked or faulted.

use core::panic::PanicInfo;
use semihosting::process;

/// The exit status of both.
const BROKEN: i32 = 101;

/// The message is left out: formatting it would link core's formatter into every image.
#[panic_handler]
fn panicked(info: &PanicInfo<'_>) -> ! {
    match info.location() {
        Some(place) => defmt::println!("panicked at {=str}:{=u32}", place.file(), place.line()),
        None => defmt::println!("panicked"),
    }
    process::exit(BROKEN)
}

// SAFETY: the handler only prints and ends; it returns to nothing and touches no state of the program.
#[cfg(target_arch = "arm")]
#[cortex_m_rt::exception]
unsafe fn HardFault(frame: &cortex_m_rt::ExceptionFrame) -> ! {
    defmt::println!("hard fault at {=u32:#010x}, called from {=u32:#010x}", frame.pc(), frame.lr());
    process::exit(BROKEN)
}

/// SAFETY of the name: riscv-rt asks for a function with this name and signature, and nothing else has it.
#[cfg(target_arch = "riscv32")]
#[unsafe(export_name = "ExceptionHandler")]
fn exception(_: &riscv_rt::TrapFrame) -> ! {
    defmt::println!(
        "exception {=usize} at {=usize:#010x}",
        riscv::register::mcause::read().code(),
        riscv::register::mepc::read()
    );
    process::exit(BROKEN)
}
