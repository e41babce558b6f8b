//! The head of a state, and how a call comes from it to what lies behind it.

use crate::failure::Failure;
use crate::guard::guard;
use crate::memory::{self, Handle};
use crate::net::Net;
use crate::status::Status;
use core::mem::MaybeUninit;
use core::ptr;
use tamis_runtime::engine::AnyState;

/// The head of a state; behind it lie `len_bytes` bytes of the runtime's.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct State {
    /// [`Handle::MAGIC`] plus `opened_at`, so that a call that knows where it should be asks a single word.
    pub(crate) word: u64,
    /// The address of the head whose memory `ready` refers to: another one in a copy that no call has met yet.
    pub(crate) opened_at: u64,
    /// The address of the network that the state was made for or refreshed with last, which was found to be a handle.
    pub(crate) net: usize,
    /// The state behind this head, ready for calls. Its memory stays as long as the handle is used, as the caller
    /// promises: that is what `'static` stands for.
    pub(crate) ready: MaybeUninit<AnyState<'static>>,
    pub(crate) len_bytes: usize,
    /// Why the last call that failed did so; `Status::Ok` before there was one.
    pub(crate) last: Failure,
}

// SAFETY: repr(C), 64-aligned, the words first; `tamis_state_create` writes the only values.
unsafe impl Handle for State {
    const MAGIC: u64 = memory::magic(*b"st\x08\xa5");

    #[inline]
    fn begins([word, opened_at]: [u64; 2]) -> bool {
        word == State::word(opened_at)
    }
}

impl State {
    /// The first word of a state whose memory lies at an address.
    #[inline(always)]
    pub(crate) const fn word(address: u64) -> u64 {
        Self::MAGIC.wrapping_add(address)
    }
}

/// Bytes in front of the runtime's.
pub const HEAD: usize = size_of::<State>();

/// Length of the whole memory; `None` if no memory could be so long.
pub fn len_bytes(net: &Net, plies: usize, keys: usize) -> Option<usize> {
    AnyState::len_bytes(&net.network, plies, keys)?.checked_add(HEAD).filter(|len| isize::try_from(*len).is_ok())
}

/// Runs a call on a state, and notes in it why the call failed.
///
/// # Safety
/// `state` is NULL, or a handle that nobody else uses during the call.
#[inline]
pub unsafe fn with(state: *mut State, call: impl FnOnce(&mut AnyState<'static>) -> Result<(), Failure>) -> Status {
    guard(|| {
        // SAFETY: the caller's own promise. The reference covers the head only.
        let head = unsafe { memory::exclusive(state) }?;
        if head.opened_at != state.addr() as u64 {
            // SAFETY: `tamis_state_create` has set HEAD + `len_bytes` bytes, all of which the copy has.
            let bytes = unsafe { core::slice::from_raw_parts_mut(state.cast::<u8>().add(HEAD), head.len_bytes) };
            open_copy(head, bytes)?;
        }
        // SAFETY: it was written with this address beside it; what it refers to is the memory behind this head.
        let done = call(unsafe { head.ready.assume_init_mut() });
        if let Err(failure) = &done {
            head.last = *failure;
        }
        done
    })
}

/// What is behind both handles, where few looks tell it: a state that lies where a call has found it before, with the
/// network that it was made for or refreshed with last. `None` where [`with`] has to look.
///
/// # Safety
/// `state` is NULL, or a handle that nobody else uses during `'a`; `net` is NULL or a handle. As for all handles,
/// memory that is none has at least a cache line to read.
#[inline(always)]
pub unsafe fn met<'a>(state: *mut State, net: *const Net) -> Option<(&'a mut AnyState<'static>, &'a Net)> {
    // SAFETY: the caller's own promise.
    let head = unsafe { met_head(state) }?;
    if head.net != net.addr() {
        return None;
    }
    // SAFETY: at this address `memory::shared` has found a handle, so it is not NULL and aligned; readable by the
    // promise; any bits are a u64.
    if unsafe { net.cast::<u64>().read() } != Net::MAGIC {
        return None;
    }
    // SAFETY: `ready` was written with this address beside it, and refers to the memory behind this head; and the word
    // says that this library has written a network.
    Some(unsafe { (head.ready.assume_init_mut(), &*net) })
}

/// The same of a state alone.
///
/// # Safety
/// As [`met`].
#[inline(always)]
pub unsafe fn met_alone<'a>(state: *mut State) -> Option<&'a mut AnyState<'static>> {
    // SAFETY: the caller's own promise.
    let head = unsafe { met_head(state) }?;
    // SAFETY: it was written with this address beside it; what it refers to is the memory behind this head.
    Some(unsafe { head.ready.assume_init_mut() })
}

/// # Safety
/// As [`met`].
#[inline(always)]
unsafe fn met_head<'a>(state: *mut State) -> Option<&'a mut State> {
    if state.is_null() {
        return None;
    }
    // SAFETY: not NULL; a word of a cache line that can be read, at any address; any bits are a u64.
    if unsafe { state.cast::<u64>().read_unaligned() } != State::word(state.addr() as u64) {
        return None;
    }
    // SAFETY: the word says that this library has written a whole head at this address, and it writes at none that it
    // has not found to be aligned; nobody else uses it by the promise.
    Some(unsafe { &mut *state })
}

/// Takes up a state whose memory was copied from another place, as it was there.
#[cold]
#[inline(never)]
fn open_copy(head: &mut State, bytes: &'static mut [u8]) -> Result<(), Failure> {
    head.ready.write(AnyState::open(bytes)?);
    head.opened_at = ptr::from_mut(head).addr() as u64;
    head.word = State::word(head.opened_at);
    Ok(())
}

/// The runtime wants its part at a multiple of 64, too; and what a head holds is overwritten, never dropped.
const _: () = assert!(!core::mem::needs_drop::<State>() && HEAD.is_multiple_of(memory::ALIGN));
