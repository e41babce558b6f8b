//! The payload as a WebAssembly module; `run.mjs` calls it.
//!
//! The host puts a model into memory that it has grown itself, at a multiple of 64, and takes the log through `print`.

#![no_std]

use core::fmt::{self, Write};
use core::panic::PanicInfo;

#[link(wasm_import_module = "host")]
unsafe extern "C" {
    /// Appends `len` bytes of UTF-8 at `text` to the log. The host only reads, and can read nothing but this module's
    /// memory.
    safe fn print(text: *const u8, len: usize);
    /// Ends the call that the host has made, by an exception.
    safe fn stop() -> !;
}

struct Log;

impl Write for Log {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        print(text.as_ptr(), text.len());
        Ok(())
    }
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    // The log cannot refuse.
    let _ = writeln!(Log, "PANIC: {info}");
    stop()
}

/// Holds every tier to the definition.
#[unsafe(no_mangle)]
pub extern "C" fn suites() {
    let _ = payload::suites(&mut Log);
}

/// Computes a model's signature on every tier.
///
/// # Safety
/// `name_len` bytes at `name` and `len` bytes at `bytes` are initialised memory that nothing writes during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn model(name: *const u8, name_len: usize, bytes: *const u8, len: usize) {
    // SAFETY: the caller's promise for both; u8 needs no alignment, and a wasm32 memory is too small for a length above
    // isize::MAX to be in it.
    let (name, bytes) =
        unsafe { (core::slice::from_raw_parts(name, name_len), core::slice::from_raw_parts(bytes, len)) };
    let name = str::from_utf8(name).unwrap_or("(a name that is not UTF-8)");
    let _ = payload::model(&mut Log, name, bytes, true);
}

/// Ends the log.
#[unsafe(no_mangle)]
pub extern "C" fn end() {
    let _ = payload::end(&mut Log);
}
