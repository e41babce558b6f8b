//! What `engine-head` and its fellows do in Rust, through the functions that C calls.
#![allow(unsafe_code, reason = "they are C's")]

use crate::PLIES;
use crate::play::{Call, colour, lines_of_play};
use std::ffi::CString;
use std::hint::black_box;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};
use tamis::{Net, State, Status};
use tamis_quant::run::AlignedBytes;
use tamis_runtime::engine::{Colour, Piece};
use tamis_runtime::format::Model;
use tamis_runtime::kernels::Tier;

/// A network and a state behind their handles.
struct Handles {
    net: *const Net,
    state: *mut State,
    _memory: [AlignedBytes; 2],
}

impl Handles {
    fn of(model: Model<'static>, tier: &Tier, pieces: &[Piece]) -> Self {
        let file = model.bytes();
        let name = CString::new(tier.name).unwrap();
        let mut net_memory = AlignedBytes::zeroed(tamis::tamis_net_size());
        let (mut net, mut state) = (null(), null_mut());
        let place = net_memory.as_mut();
        // SAFETY: the memory is as long as it says and lives as long as the handles, as does the file.
        let loaded = unsafe {
            let (to, len, from) = (place.as_mut_ptr().cast(), place.len(), file.as_ptr().cast());
            tamis::tamis_net_load(to, len, from, file.len(), null(), name.as_ptr(), &mut net, null_mut(), 0)
        };
        assert_eq!(loaded, Status::Ok);
        // SAFETY: the handle was made just now.
        let len = unsafe { tamis::tamis_state_size(net, PLIES, 1) };
        let mut state_memory = AlignedBytes::zeroed(len);
        let place = state_memory.as_mut();
        let numbers: Vec<u16> = pieces.iter().map(|piece| piece.index()).collect();
        // SAFETY: the same; and the numbers are as many as it says.
        let made = unsafe {
            let to = place.as_mut_ptr().cast();
            let made = tamis::tamis_state_create(to, place.len(), net, PLIES, 1, &mut state, null_mut(), 0);
            [made, tamis::tamis_state_refresh(state, net, numbers.as_ptr(), numbers.len())]
        };
        assert_eq!(made, [Status::Ok; 2]);
        Self { net, state, _memory: [net_memory, state_memory] }
    }

    fn push(&mut self, to: Piece, from: Piece) {
        let (to, from) = (to.index(), from.index());
        // SAFETY: handles, and one number each.
        let done = unsafe { tamis::tamis_state_push(self.state, self.net, &to, 1, &from, 1) };
        assert!(done == Status::Ok);
    }

    fn pop(&mut self) {
        // SAFETY: a handle.
        let done = unsafe { tamis::tamis_state_pop(self.state) };
        assert!(done == Status::Ok);
    }

    fn evaluate(&mut self, to_move: Colour) -> i32 {
        // As C declares it, without a first value.
        let mut score = MaybeUninit::uninit();
        // SAFETY: handles, and a place for the score.
        let done = unsafe { tamis::tamis_state_evaluate(self.state, self.net, to_move as u32, score.as_mut_ptr()) };
        assert!(done == Status::Ok);
        // SAFETY: written where the call is done.
        unsafe { score.assume_init() }
    }
}

pub(crate) fn c_engine(model: Model<'static>, tier: &'static Tier, call: Call) -> impl FnMut(u64) {
    let (pieces, lines) = lines_of_play();
    let mut handles = Handles::of(model, tier, &pieces);
    let (mut at, mut ply) = (0, 0);
    move |iterations| {
        for _ in 0..iterations {
            match call {
                Call::MoveAndEvaluate => {
                    if ply + 1 == PLIES {
                        (0..ply).for_each(|_| handles.pop());
                        (at, ply) = ((at + 1) % lines.len(), 0);
                    }
                    let (to, from) = lines[at][ply];
                    ply += 1;
                    handles.push(to, from);
                    black_box(handles.evaluate(colour(ply)));
                }
                Call::MoveAndBack => {
                    let (to, from) = lines[at][0];
                    handles.push(to, from);
                    handles.pop();
                }
                Call::Evaluate => {
                    black_box(handles.evaluate(Colour::White));
                }
            }
        }
    }
}
