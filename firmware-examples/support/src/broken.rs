//! How a program ends that panicked or faulted.

use core::panic::PanicInfo;
use core::sync::atomic::{AtomicBool, Ordering};
use semihosting::process;

/// The exit status of both.
const BROKEN: i32 = 101;

/// Ends at once if the program is ending already: what broke may be the log itself, which would come back here for
/// ever. A load and a store, because the smallest cores have no swap.
fn end_once() {
    static ENDS: AtomicBool = AtomicBool::new(false);
    if ENDS.load(Ordering::Relaxed) {
        process::exit(BROKEN)
    }
    ENDS.store(true, Ordering::Relaxed);
}

/// The message is left out: formatting it would link core's formatter into every image.
#[panic_handler]
fn panicked(info: &PanicInfo<'_>) -> ! {
    end_once();
    match info.location() {
        Some(place) => defmt::println!("panicked at {=str}:{=u32}", place.file(), place.line()),
        None => defmt::println!("panicked"),
    }
    process::exit(BROKEN)
}

// SAFETY: the handler prints and ends; it returns to nothing. If the log was at work, its panic comes back here and
// ends at once.
#[cfg(target_arch = "arm")]
#[cortex_m_rt::exception]
unsafe fn HardFault(frame: &cortex_m_rt::ExceptionFrame) -> ! {
    end_once();
    defmt::println!("hard fault at {=u32:#010x}, called from {=u32:#010x}", frame.pc(), frame.lr());
    process::exit(BROKEN)
}

/// SAFETY of the name: riscv-rt asks for a function with this name and signature, and nothing else has it.
#[cfg(target_arch = "riscv32")]
#[unsafe(export_name = "ExceptionHandler")]
fn exception(_: &riscv_rt::TrapFrame) -> ! {
    end_once();
    defmt::println!(
        "exception {=usize} at {=usize:#010x}",
        riscv::register::mcause::read().code(),
        riscv::register::mepc::read()
    );
    process::exit(BROKEN)
}
