//! The payload without an operating system: bochs boots it, and takes the log from the first serial port.
//!
//! The image is built for x86_64-unknown-linux-gnu, not for x86_64-unknown-none, which has soft floats and no vectors.
//! Its own code is baseline x86-64, with SSE2; only a tier that the processor has uses more. No interrupt is ever let
//! in.

#![no_std]
#![no_main]

use core::arch::{asm, global_asm};
use core::fmt::{self, Write};
use core::panic::PanicInfo;

global_asm!(include_str!("boot.s"), options(att_syntax));
global_asm!(include_str!("memory.s"), options(att_syntax));

// MODELS: the name and the container of each.
include!(concat!(env!("OUT_DIR"), "/models.rs"));

/// The first serial port: data; how a byte is sent; and its status, in which one bit says that it takes another byte,
/// and one that the last has gone out.
const SERIAL: u16 = 0x3F8;
const SERIAL_CONTROL: u16 = SERIAL + 3;
const SERIAL_STATUS: u16 = SERIAL + 5;
const SERIAL_EIGHT_BITS: u8 = 3;
const SERIAL_READY: u8 = 0x20;
const SERIAL_SENT: u8 = 0x40;
/// Bochs ends when it reads the word here.
const POWER: u16 = 0x8900;
const POWER_OFF: &[u8] = b"Shutdown";

/// `boot.s` calls it in long mode, with a stack.
#[unsafe(no_mangle)]
extern "C" fn main() -> ! {
    write_port(SERIAL_CONTROL, SERIAL_EIGHT_BITS);
    // The port cannot refuse.
    let _ = log();
    power_off()
}

fn log() -> fmt::Result {
    payload::suites(&mut Serial)?;
    for (name, bytes) in MODELS {
        payload::model(&mut Serial, name, bytes, true)?;
    }
    payload::end(&mut Serial)
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    let _ = writeln!(Serial, "PANIC: {info}");
    power_off()
}

struct Serial;

impl Write for Serial {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            wait_for(SERIAL_READY);
            write_port(SERIAL, byte);
        }
        Ok(())
    }
}

fn wait_for(state: u8) {
    while read_port(SERIAL_STATUS) & state == 0 {
        core::hint::spin_loop();
    }
}

fn power_off() -> ! {
    wait_for(SERIAL_SENT);
    for byte in POWER_OFF {
        write_port(POWER, *byte);
    }
    loop {
        core::hint::spin_loop();
    }
}

fn read_port(port: u16) -> u8 {
    let byte;
    // SAFETY: the program runs in ring 0, where `in` is allowed; reading a status register of the serial port changes
    // nothing that this program relies on, and touches no memory.
    unsafe { asm!("in al, dx", in("dx") port, out("al") byte, options(nomem, nostack, preserves_flags)) };
    byte
}

fn write_port(port: u16, byte: u8) {
    // SAFETY: the program runs in ring 0, where `out` is allowed; the two ports that are written, of the serial port
    // and of bochs's power switch, do not touch memory.
    unsafe { asm!("out dx, al", in("dx") port, in("al") byte, options(nomem, nostack, preserves_flags)) };
}
