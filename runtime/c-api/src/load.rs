//! Loading: a file, a tier, memory for the handle. Networks of chess and other models differ only in what they keep.

use crate::failure::{Failure, Message};
use crate::guard::guard_with;
use crate::memory::{self, Handle, Place};
use crate::status::Status;
use crate::tier;
use core::ffi::{c_char, c_void};
use tamis_runtime::kernels::Tier;

/// The arguments of a load function, as they come from C.
pub struct Load<T> {
    pub memory: *mut c_void,
    pub memory_len: usize,
    pub file: *const c_void,
    pub file_len: usize,
    pub tier: *const c_char,
    pub handle: *mut *const T,
    pub message: Message,
}

impl<T: Handle> Load<T> {
    /// Makes the handle's value of the file's bytes, and puts it into the memory. A failure leaves the memory and the
    /// caller's handle as they were.
    ///
    /// `make` gets the file as `'static`, which stands for the caller's promise that it stays while the handle is in
    /// use: what it makes is not to keep it anywhere else. It owns nothing that would have to be dropped.
    ///
    /// # Safety
    /// Each pointer is as the crate's documentation says that a caller promises.
    pub unsafe fn run(self, make: impl FnOnce(&'static [u8], &'static Tier) -> Result<T, Failure>) -> Status {
        let load = || -> Result<(), Failure> {
            let handle = Place::new(self.handle)?;
            // SAFETY: NULL or text that ends in a zero, by the promise.
            let kernels = unsafe { tier::named(self.tier) }?;
            if self.file.is_null() {
                return Err(Status::NullPointer.into());
            }
            // SAFETY: as many bytes as the caller says, which stay while the handle is used, by the promise.
            let file = unsafe { memory::numbers::<u8>(self.file.cast(), self.file_len) }?;
            memory::check_room(self.memory, self.memory_len, size_of::<T>())?;
            let value = make(file, kernels)?;
            let place = self.memory.cast::<T>();
            // SAFETY: `check_room` has found it not NULL, at a multiple of 64 and long enough; it is writable by the
            // promise.
            unsafe { place.write(value) };
            // SAFETY: writable, by the promise.
            unsafe { handle.put(place) };
            Ok(())
        };
        // SAFETY: the message's bytes are writable, by the promise.
        unsafe { guard_with(self.message, load) }
    }
}
