//! Where a call of the C library writes why it failed.

use core::ffi::c_char;
use tamis::Status;

/// Longer than any text's room that is tried.
const ROOM: usize = 96;
/// What the bytes hold before a call.
const UNTOUCHED: u8 = b'#';

/// Memory for a message, of which the library is told a part.
#[derive(Debug)]
pub struct Text {
    bytes: [u8; ROOM],
    len: usize,
}

impl Text {
    /// So many bytes, at most [`ROOM`]; 0 is said by NULL.
    pub fn new(len: usize) -> Self {
        Self { bytes: [UNTOUCHED; ROOM], len: len.min(ROOM) }
    }

    pub fn start(&mut self) -> *mut c_char {
        if self.len == 0 { core::ptr::null_mut() } else { self.bytes.as_mut_ptr().cast() }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// After a call that ended so: text that ends in a zero within its room, and nothing where nothing failed.
    pub fn check(&self, failed: bool, what: &str) {
        let end = self.bytes.iter().position(|byte| *byte == 0);
        assert!(self.bytes[self.len..].iter().all(|byte| *byte == UNTOUCHED), "{what}: a message beyond its room");
        if self.len == 0 {
            return;
        }
        let end = end.unwrap_or_else(|| panic!("{what}: a message without an end"));
        assert!(end < self.len && str::from_utf8(&self.bytes[..end]).is_ok(), "{what}: {:?}", &self.bytes[..end]);
        assert!(self.len == 1 || failed == (end > 0), "{what}: failed: {failed}, and its message has {end} bytes");
    }

    /// As [`Text::check`], of a call that ended in a status.
    pub fn of(&self, status: Status, what: &str) {
        self.check(status != Status::Ok, what);
    }
}
