//! A state: what one thread of a search owns, the accumulators of the line of play and the refresh cache.

use crate::failure::{Failure, Message};
use crate::guard::{guard, guard_quickly, guard_with};
use crate::head::{HEAD, State, len_bytes, met, met_alone, with};
use crate::memory::{self, Place};
use crate::net::Net;
use crate::status::Status;
use core::ffi::{c_char, c_void};
use core::mem::MaybeUninit;
use core::ptr;
use tamis_runtime::Output;
use tamis_runtime::engine::AnyState;

/// Bytes that tamis_state_create needs for as many plies, the root included, and cache entries; tamis_net_keys says how
/// many entries are of use. 0 if no memory could hold them or net is no handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tamis_state_size(net: *const Net, plies: usize, keys: usize) -> usize {
    // SAFETY: a handle, as the caller promises.
    unsafe { memory::shared(net) }.ok().and_then(|net| len_bytes(net, plies, keys)).unwrap_or(0)
}

/// Makes a state without a position; tamis_state_refresh gives it one.
///
/// memory: at a multiple of 64, tamis_state_size() bytes or more; what it holds is lost. state: gets the handle, NULL
/// on failure. message: as in tamis_net_load.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tamis_state_create(
    memory: *mut c_void,
    memory_len: usize,
    net: *const Net,
    plies: usize,
    keys: usize,
    state: *mut *mut State,
    message: *mut c_char,
    message_len: usize,
) -> Status {
    let create = || -> Result<(), Failure> {
        let state = Place::new(state)?;
        // SAFETY: writable, as the caller promises.
        unsafe { state.put(ptr::null_mut()) };
        // SAFETY: a handle, as the caller promises.
        let net = unsafe { memory::shared(net) }?;
        let needed = len_bytes(net, plies, keys).ok_or(Status::OutOfRange)?;
        // SAFETY: the caller's memory, of which nobody makes use but through the handle until it is given up.
        let bytes: &'static mut [u8] = unsafe { memory::zeroed(memory, memory_len, needed) }?;
        let ready = AnyState::create(&net.network, bytes.get_mut(HEAD..).unwrap_or(&mut []), plies, keys)?;
        let head = State {
            word: State::word(memory.addr() as u64),
            opened_at: memory.addr() as u64,
            net: ptr::from_ref(net).addr(),
            ready: MaybeUninit::new(ready),
            len_bytes: needed - HEAD,
            last: Status::Ok.into(),
        };
        // SAFETY: `zeroed` has found it not NULL, at a multiple of 64 and at least HEAD bytes long.
        unsafe { memory.cast::<State>().write(head) };
        // SAFETY: writable, as the caller promises.
        unsafe { state.put(memory.cast()) };
        Ok(())
    };
    // SAFETY: the message's bytes are writable, as the caller promises.
    unsafe { guard_with(Message::new(message, message_len), create) }
}

/// Forgets the line of play and takes a position as its root: all pieces of the board, kings included, in any order.
///
/// With another network than before, e.g. one that was loaded meanwhile, it also empties the cache. On failure the
/// state is without a position.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tamis_state_refresh(
    state: *mut State,
    net: *const Net,
    pieces: *const u16,
    pieces_count: usize,
) -> Status {
    let refresh = |state: &mut AnyState<'static>| {
        // SAFETY: a handle and `pieces_count` numbers, as the caller promises.
        let found = unsafe { memory::shared(net).and_then(|net| Ok((net, memory::pieces(pieces, pieces_count)?))) };
        let (net, pieces) = found.inspect_err(|_| state.clear())?;
        Ok(state.refresh(&net.network, pieces.iter().copied())?)
    };
    // SAFETY: a handle that is this thread's, as the caller promises.
    let status = unsafe { with(state, refresh) };
    if status == Status::Ok {
        // SAFETY: the call was done, so both are handles, and this one is this thread's.
        unsafe { (*state).net = net.addr() };
    }
    status
}

/// Makes a move: the pieces that come and those that go, at most four of each. A capture adds one and removes two, a
/// promotion removes a pawn and adds another piece, castling adds two and removes two. Computes nothing. A piece in
/// both lists is as if it were in neither.
///
/// On failure the state is as it was.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tamis_state_push(
    state: *mut State,
    net: *const Net,
    added: *const u16,
    added_count: usize,
    removed: *const u16,
    removed_count: usize,
) -> Status {
    let quickly = move || {
        if added_count != 1 {
            return None;
        }
        // SAFETY: handles, as the caller promises.
        let (ready, net) = unsafe { met(state, net) }?;
        // SAFETY: one number, as the caller promises.
        let to = unsafe { memory::piece(added) }?;
        if removed_count == 1 {
            // SAFETY: one number, as the caller promises.
            let from = unsafe { memory::piece(removed) }?;
            return ready.try_push(&net.network, to, from, None).then_some(());
        }
        if removed_count != 2 {
            return None;
        }
        // SAFETY: two numbers, as the caller promises.
        let (from, taken) = unsafe { (memory::piece(removed)?, memory::piece(removed.wrapping_add(1))?) };
        ready.try_push(&net.network, to, from, Some(taken)).then_some(())
    };
    // SAFETY: as the caller promises.
    guard_quickly(quickly, move || unsafe { push_any(state, net, (added, added_count), (removed, removed_count)) })
}

/// # Safety
/// As [`tamis_state_push`].
#[cold]
#[inline(never)]
unsafe fn push_any(
    state: *mut State,
    net: *const Net,
    (added, added_count): (*const u16, usize),
    (removed, removed_count): (*const u16, usize),
) -> Status {
    let push = |state: &mut AnyState<'static>| {
        // SAFETY: a handle and as many numbers, as the caller promises.
        let (net, added) = unsafe { (memory::shared(net)?, memory::pieces(added, added_count)?) };
        // SAFETY: the same.
        let removed = unsafe { memory::pieces(removed, removed_count) }?;
        Ok(state.push(&net.network, added, removed)?)
    };
    // SAFETY: a handle that is this thread's, as the caller promises.
    unsafe { with(state, push) }
}

/// Makes a null move.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tamis_state_push_null(state: *mut State) -> Status {
    // SAFETY: a handle that is this thread's, as the caller promises.
    unsafe { with(state, |state| Ok(state.push_null()?)) }
}

/// Takes the last move back, a null move too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tamis_state_pop(state: *mut State) -> Status {
    // SAFETY: a handle that is this thread's, as the caller promises.
    let quickly = move || unsafe { met_alone(state) }?.try_pop().then_some(());
    // SAFETY: as the caller promises.
    guard_quickly(quickly, move || unsafe { pop_any(state) })
}

/// # Safety
/// As [`tamis_state_pop`].
#[cold]
#[inline(never)]
unsafe fn pop_any(state: *mut State) -> Status {
    // SAFETY: a handle that is this thread's, as the caller promises.
    unsafe { with(state, |state| Ok(state.pop()?)) }
}

/// Goes back to the position that many moves behind the root, null moves included, and takes back what came later; at
/// that position already, it does nothing. A search that calls it with a node's own ply before each move of the node,
/// and before it evaluates, needs no pop and may return from anywhere.
///
/// TAMIS_OUT_OF_RANGE for a ply that the line has not come to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tamis_state_goto(state: *mut State, ply: usize) -> Status {
    // SAFETY: a handle that is this thread's, as the caller promises.
    unsafe { with(state, |state| Ok(state.goto(ply)?)) }
}

/// Evaluates the last position for a colour, the one to move: the first output, centipawns for it in most networks; a
/// real output is cut to an integer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tamis_state_evaluate(
    state: *mut State,
    net: *const Net,
    colour: u32,
    score: *mut i32,
) -> Status {
    let quickly = move || {
        // First what lies in a register: behind the handles it would be read again.
        let colour = memory::colour(colour).ok()?;
        // SAFETY: handles, as the caller promises.
        let (state, net) = unsafe { met(state, net) }?;
        let found = state.try_evaluate(&net.network, colour)?;
        // Not before: it would be read twice. What an evaluation keeps in the state is no other for it.
        // SAFETY: writable, as the caller promises.
        unsafe { Place::new(score).ok()?.put(found) };
        Some(())
    };
    // SAFETY: as the caller promises.
    guard_quickly(quickly, move || unsafe { evaluate_any(state, net, colour, score) })
}

/// # Safety
/// As [`tamis_state_evaluate`].
#[cold]
#[inline(never)]
unsafe fn evaluate_any(state: *mut State, net: *const Net, colour: u32, score: *mut i32) -> Status {
    let evaluate = |state: &mut AnyState<'static>| {
        let (colour, score) = (memory::colour(colour)?, Place::new(score)?);
        // SAFETY: a handle, as the caller promises.
        let net = unsafe { memory::shared(net) }?;
        let found = state.evaluate(&net.network, colour)?;
        // SAFETY: writable, as the caller promises.
        unsafe { score.put(found) };
        Ok(())
    };
    // SAFETY: a handle that is this thread's, as the caller promises.
    unsafe { with(state, evaluate) }
}

/// The same in an output bucket of the caller's choice, for networks whose buckets follow from something else than the
/// number of pieces. TAMIS_OUT_OF_RANGE for a bucket that the network does not have.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tamis_state_evaluate_bucket(
    state: *mut State,
    net: *const Net,
    colour: u32,
    bucket: u32,
    score: *mut i32,
) -> Status {
    let evaluate = |state: &mut AnyState<'static>| {
        let (colour, score) = (memory::colour(colour)?, Place::new(score)?);
        // SAFETY: a handle, as the caller promises.
        let net = unsafe { memory::shared(net) }?;
        let found = state.evaluate_bucket(&net.network, colour, bucket as usize)?;
        // SAFETY: writable, as the caller promises.
        unsafe { score.put(found) };
        Ok(())
    };
    // SAFETY: a handle that is this thread's, as the caller promises.
    unsafe { with(state, evaluate) }
}

/// All outputs for the last position, of a network whose outputs are integers. count: gets their number, also where the
/// capacity of values is too small for them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tamis_state_outputs(
    state: *mut State,
    net: *const Net,
    colour: u32,
    values: *mut i32,
    capacity: usize,
    count: *mut usize,
) -> Status {
    // SAFETY: as the caller promises.
    unsafe { outputs(state, net, colour, values, capacity, count, integers) }
}

/// The same of a network whose outputs are real numbers, for which tamis_net_is_real gives 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tamis_state_outputs_f32(
    state: *mut State,
    net: *const Net,
    colour: u32,
    values: *mut f32,
    capacity: usize,
    count: *mut usize,
) -> Status {
    // SAFETY: as the caller promises.
    unsafe { outputs(state, net, colour, values, capacity, count, reals) }
}

/// `None` for reals, or an element that this version of the interface does not know: of another kind.
const fn integers(output: Output<'_>) -> Option<&[i32]> {
    if let Output::I32(values) = output { Some(values) } else { None }
}

/// The same for integers.
const fn reals(output: Output<'_>) -> Option<&[f32]> {
    if let Output::F32(values) = output { Some(values) } else { None }
}

/// # Safety
/// As for the functions above.
unsafe fn outputs<T: Copy>(
    state: *mut State,
    net: *const Net,
    colour: u32,
    values: *mut T,
    capacity: usize,
    count: *mut usize,
    of_kind: impl for<'w> FnOnce(Output<'w>) -> Option<&'w [T]>,
) -> Status {
    let outputs = |state: &mut AnyState<'static>| {
        let (colour, values, count) = (memory::colour(colour)?, Place::new(values)?, Place::new(count)?);
        // SAFETY: a handle, as the caller promises.
        let net = unsafe { memory::shared(net) }?;
        let found = of_kind(state.outputs(&net.network, colour)?).ok_or(Status::OtherKind)?;
        // SAFETY: writable, as the caller promises.
        unsafe { count.put(found.len()) };
        if found.len() > capacity {
            return Err(Status::CapacityTooSmall.into());
        }
        // SAFETY: `capacity` values are writable, as the caller promises.
        unsafe { values.put_all(found) };
        Ok(())
    };
    // SAFETY: a handle that is this thread's, as the caller promises.
    unsafe { with(state, outputs) }
}

/// Some outputs for the last position, in the order of rows, of a network whose outputs are integers: those of a policy
/// head that a position's moves ask for. values: room for rows_count. TAMIS_OTHER_KIND if the network does not end in
/// a layer with nothing behind it but what is done with each of its sums by itself.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tamis_state_output_rows(
    state: *mut State,
    net: *const Net,
    colour: u32,
    rows: *const u32,
    rows_count: usize,
    values: *mut i32,
) -> Status {
    // SAFETY: as the caller promises.
    unsafe { output_rows(state, net, colour, (rows, rows_count), values, integers) }
}

/// The same of a network whose outputs are real numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tamis_state_output_rows_f32(
    state: *mut State,
    net: *const Net,
    colour: u32,
    rows: *const u32,
    rows_count: usize,
    values: *mut f32,
) -> Status {
    // SAFETY: as the caller promises.
    unsafe { output_rows(state, net, colour, (rows, rows_count), values, reals) }
}

/// # Safety
/// As for the functions above.
unsafe fn output_rows<T: Copy>(
    state: *mut State,
    net: *const Net,
    colour: u32,
    (rows, rows_count): (*const u32, usize),
    values: *mut T,
    of_kind: impl for<'w> FnOnce(Output<'w>) -> Option<&'w [T]>,
) -> Status {
    let outputs = |state: &mut AnyState<'_>| {
        let (colour, values) = (memory::colour(colour)?, Place::new(values)?);
        // SAFETY: a handle, as the caller promises.
        let net = unsafe { memory::shared(net) }?;
        // SAFETY: as many numbers, as the caller promises.
        let rows = unsafe { memory::numbers(rows, rows_count) }?;
        let found = of_kind(state.output_rows(&net.network, colour, rows)?).ok_or(Status::OtherKind)?;
        // SAFETY: as many values as rows are writable, as the caller promises.
        unsafe { values.put_all(found) };
        Ok(())
    };
    // SAFETY: a handle that is this thread's, as the caller promises.
    unsafe { with(state, outputs) }
}

/// Moves since the root, null moves included; 0 if it is no handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tamis_state_height(state: *mut State) -> usize {
    let mut height = 0;
    let look = |state: &mut AnyState<'static>| {
        height = state.height();
        Ok(())
    };
    // SAFETY: a handle that is this thread's, as the caller promises.
    unsafe { with(state, look) };
    height
}

/// Why the last call on this state that failed did so, with the values that it found, e.g. "Nb1 is to be removed and is
/// not there". message: gets text of at most message_len bytes, the zero at its end included.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tamis_state_message(state: *const State, message: *mut c_char, message_len: usize) -> Status {
    guard(|| {
        // SAFETY: a handle that is this thread's, as the caller promises.
        let head = unsafe { memory::shared(state) }?;
        // SAFETY: the message's bytes are writable, as the caller promises.
        unsafe { Message::new(message, message_len).write(head.last) };
        Ok(())
    })
}
