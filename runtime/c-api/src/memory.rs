//! The one place where a pointer of C's becomes a reference.
//!
//! A pointer's address can be checked, and the word at a handle; what lies behind a pointer cannot, so each function
//! here is unsafe and rests on what the crate's documentation says that a caller promises. Numbers are of types for
//! which any bits are a value.

use crate::status::Status;
use bytemuck::Pod;
use core::ffi::{c_char, c_void};
use tamis_runtime::engine::{Colour, Piece};

/// Alignment of handles and files.
pub const ALIGN: usize = 64;

/// The longest name of a tier that is read.
const NAME: usize = 32;

/// What a handle points at.
///
/// # Safety
/// The type is `repr(C)`, at least as long as two u64, aligned to [`ALIGN`], and every value that is written to a
/// caller's memory begins with what [`Handle::begins`] asks for.
pub unsafe trait Handle: Sized {
    /// Tells memory that holds one from other memory.
    const MAGIC: u64;

    /// Whether memory with these two words in front holds one: the first is [`Handle::MAGIC`], if nothing else is said.
    #[inline]
    fn begins(words: [u64; 2]) -> bool {
        words[0] == Self::MAGIC
    }
}

/// A handle's word of four bytes, the last from 128 on, and ones: as an instruction holds it that compares a u64 with a
/// number of its own, where others would have to be loaded first.
pub const fn magic(bytes: [u8; 4]) -> u64 {
    i32::from_le_bytes(bytes) as i64 as u64
}

/// Whether a handle is where one can be.
#[inline]
fn check<T: Handle>(handle: *const T) -> Result<(), Status> {
    match handle.addr() {
        0 => Err(Status::NullPointer),
        address if address.is_multiple_of(ALIGN) => Ok(()),
        _ => Err(Status::NotAHandle),
    }
}

/// A handle that calls only read.
///
/// # Safety
/// `handle` is NULL or points at readable memory, at least a cache line of it, which nobody writes during `'a`.
#[inline]
pub unsafe fn shared<'a, T: Handle>(handle: *const T) -> Result<&'a T, Status> {
    check(handle)?;
    // SAFETY: not NULL and at a multiple of 64, so aligned; readable by the promise; any bits are a u64.
    let words = unsafe { handle.cast::<[u64; 2]>().read() };
    if !T::begins(words) {
        return Err(Status::NotAHandle);
    }
    // SAFETY: aligned, readable, and the words say that this library has written a whole `T` here.
    Ok(unsafe { &*handle })
}

/// A handle that a call changes.
///
/// # Safety
/// As [`shared`], and nobody reads the memory during `'a` either.
#[inline]
pub unsafe fn exclusive<'a, T: Handle>(handle: *mut T) -> Result<&'a mut T, Status> {
    // SAFETY: the caller's own promise, for a reference that ends at once.
    let _: &T = unsafe { shared(handle) }?;
    // SAFETY: `shared` has checked it, and nobody else uses it.
    Ok(unsafe { &mut *handle })
}

/// Whether so many numbers can be at a pointer that is not NULL.
#[inline]
fn check_numbers<T>(start: *const T, count: usize) -> Result<(), Status> {
    if start.is_null() {
        return Err(Status::NullPointer);
    }
    if !start.is_aligned() {
        return Err(Status::Misaligned);
    }
    if count > isize::MAX as usize / size_of::<T>() { Err(Status::OutOfRange) } else { Ok(()) }
}

/// Numbers that a call reads. `count` 0 needs no pointer.
///
/// # Safety
/// `start` is NULL or points at `count` elements that stay as they are during `'a`.
#[inline]
pub unsafe fn numbers<'a, T: Pod>(start: *const T, count: usize) -> Result<&'a [T], Status> {
    if count == 0 {
        return Ok(&[]);
    }
    check_numbers(start, count)?;
    // SAFETY: not NULL, aligned, at most isize::MAX bytes; there and unchanged by the promise; any bits are a `T`.
    Ok(unsafe { core::slice::from_raw_parts(start, count) })
}

/// Numbers that a call writes. `count` 0 needs no pointer.
///
/// # Safety
/// `start` is NULL or points at `count` elements that nobody else uses during `'a`.
#[inline]
pub unsafe fn numbers_mut<'a, T: Pod>(start: *mut T, count: usize) -> Result<&'a mut [T], Status> {
    if count == 0 {
        return Ok(&mut []);
    }
    check_numbers(start, count)?;
    // SAFETY: not NULL, aligned, at most isize::MAX bytes; there and nobody else's by the promise; any bits are a `T`.
    Ok(unsafe { core::slice::from_raw_parts_mut(start, count) })
}

/// The pieces that a call reads.
///
/// # Safety
/// As [`numbers`].
#[inline]
pub unsafe fn pieces<'a>(start: *const u16, count: usize) -> Result<&'a [Piece], Status> {
    if count > Piece::COUNT.into() {
        return Err(Status::TooMany);
    }
    // SAFETY: the caller's own promise.
    let indices = unsafe { numbers(start, count) }?;
    // One and two without a loop: they are nearly all of a search's.
    let are_pieces = match *indices {
        [one] => one < Piece::COUNT,
        [one, other] => one.max(other) < Piece::COUNT,
        _ => indices.iter().all(|index| *index < Piece::COUNT),
    };
    if !are_pieces {
        return Err(Status::OutOfRange);
    }
    Ok(bytemuck::cast_slice(indices))
}

/// One of them; `None` where [`pieces`] would refuse it.
///
/// # Safety
/// `start` is NULL or points at a number.
#[inline]
pub unsafe fn piece(start: *const u16) -> Option<Piece> {
    if start.is_null() || !start.is_aligned() {
        return None;
    }
    // SAFETY: not NULL, aligned; there by the promise; any bits are a u16.
    Piece::from_index(unsafe { start.read() })
}

/// A colour's number.
#[inline]
pub const fn colour(number: u32) -> Result<Colour, Status> {
    // In this order there is nothing to turn a number into.
    if number > 1 {
        return Err(Status::OutOfRange);
    }
    if number == 0 { Ok(Colour::White) } else { Ok(Colour::Black) }
}

/// Where a call writes one value, at its end: until then nothing refers to it, so it may hold anything.
#[derive(Debug, Clone, Copy)]
pub struct Place<T>(*mut T);

impl<T: Copy> Place<T> {
    #[inline]
    pub fn new(place: *mut T) -> Result<Self, Status> {
        if place.is_null() {
            return Err(Status::NullPointer);
        }
        if place.is_aligned() { Ok(Self(place)) } else { Err(Status::Misaligned) }
    }

    /// # Safety
    /// The pointer that this was made of is still writable.
    #[inline]
    pub unsafe fn put(self, value: T) {
        // SAFETY: not NULL and aligned, checked by `new`; writable by the promise.
        unsafe { self.0.write(value) }
    }

    /// As many values from here on as there are.
    ///
    /// # Safety
    /// As [`Place::put`], for all of them.
    pub unsafe fn put_all(self, values: &[T]) {
        // SAFETY: as in `put`; `values` is the library's own or a state's, which the place does not overlap by the
        // promise.
        unsafe { self.0.copy_from_nonoverlapping(values.as_ptr(), values.len()) }
    }
}

/// Whether memory can hold something that takes `needed` bytes.
pub fn check_room(start: *mut c_void, len: usize, needed: usize) -> Result<(), Status> {
    if start.is_null() {
        return Err(Status::NullPointer);
    }
    if !start.addr().is_multiple_of(ALIGN) {
        return Err(Status::Misaligned);
    }
    if len < needed || needed > isize::MAX as usize { Err(Status::MemoryTooShort) } else { Ok(()) }
}

/// Memory for something that takes `needed` bytes, all of them set to zero, so that it is memory that has values.
///
/// # Safety
/// `start` is NULL or points at `len` writable bytes that nobody else uses during `'a`.
pub unsafe fn zeroed<'a>(start: *mut c_void, len: usize, needed: usize) -> Result<&'a mut [u8], Status> {
    check_room(start, len, needed)?;
    let start = start.cast::<u8>();
    // SAFETY: `needed` is at most `len`, which are writable by the promise.
    unsafe { start.write_bytes(0, needed) };
    // SAFETY: not NULL, at most isize::MAX bytes, written just now, and nobody else's.
    Ok(unsafe { core::slice::from_raw_parts_mut(start, needed) })
}

/// A name that ends in a zero byte; `None` for NULL and for what is longer than any name.
///
/// # Safety
/// `start` is NULL or points at bytes that end in a zero byte and stay as they are during `'a`.
pub unsafe fn name<'a>(start: *const c_char) -> Option<&'a [u8]> {
    if start.is_null() {
        return None;
    }
    let start = start.cast::<u8>();
    // SAFETY: no byte before this one was zero, so this one is the text's too.
    let len = (0..NAME).find(|index| unsafe { start.add(*index).read() } == 0)?;
    // SAFETY: these bytes were read just now.
    Some(unsafe { core::slice::from_raw_parts(start, len) })
}
