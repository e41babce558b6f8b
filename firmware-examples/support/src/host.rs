//! Files of the host's.

use core::ffi::CStr;
use semihosting::fs::File;
use semihosting::io::Read;

/// Reads a file of the host's into the front of a buffer and says how long it is; `None` if there is no such file, if
/// it cannot be read, or if it is longer than the buffer.
#[must_use]
pub fn read(name: &CStr, buffer: &mut [u8]) -> Option<usize> {
    let mut file = File::open(name).ok()?;
    let mut len = 0;
    while len < buffer.len() {
        match file.read(buffer.get_mut(len..)?).ok()? {
            0 => return Some(len),
            more => len += more,
        }
    }
    // Full: it is the whole file only if nothing comes after.
    (file.read(&mut [0]).ok()? == 0).then_some(len)
}
