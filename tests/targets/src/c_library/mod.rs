//! Calls of the C library in any order, right ones and wrong ones, beside a model of what each piece of memory holds.
//!
//! What the model says: which calls succeed, with which status the others end, that those change nothing, and that an
//! evaluation is the second reader's of the board.

mod moves;
mod nets;
mod numbers;
mod places;
mod text;

use crate::boards::{Calls, Line, networks};
use core::ffi::CStr;
use places::{NetPlace, StatePlace};
use std::sync::LazyLock;
use tamis::{Shape, Status};
use tamis_quant::run::AlignedBytes;
use tamis_runtime::engine::AnyNetwork;
use text::Text;

/// Plies of a state, at most.
const PLIES: usize = 6;

static NETWORKS: LazyLock<Vec<AlignedBytes>> = LazyLock::new(networks);
static MODELS: LazyLock<Vec<AlignedBytes>> =
    LazyLock::new(|| tests::sample_models::small().into_iter().map(|sample| sample.bytes).collect());
static TIERS: LazyLock<Vec<&CStr>> = LazyLock::new(|| {
    let name = |index| {
        let name = tamis::tamis_tier_name(index);
        // SAFETY: text of the library's that never changes and ends in a zero.
        (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) })
    };
    (0..).map_while(name).collect()
});

/// A network in its memory: the file's index among [`NETWORKS`], and which load of this program it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Loaded {
    file: usize,
    number: u32,
}

/// A state in its memory: for which network it was created, and of which the line is.
#[derive(Debug)]
struct Created {
    plies: usize,
    hidden: usize,
    line: Line,
    of: Option<Loaded>,
}

struct World {
    nets: [(NetPlace, Option<Loaded>); 2],
    states: [(StatePlace, Option<Created>); 2],
    loads: u32,
    evaluated: bool,
}

/// Any calls; accepted if one evaluates.
pub fn calls(data: &[u8]) -> bool {
    let mut world = World {
        nets: [(); 2].map(|()| (NetPlace::empty(), None)),
        states: [(); 2].map(|()| (StatePlace::empty(), None)),
        loads: 0,
        evaluated: false,
    };
    let mut calls = Calls(data);
    // Most often as a program begins, so that what comes then meets a state with a position.
    if calls.byte().is_some_and(|first| !first.is_multiple_of(8)) {
        let begun = world.load(0, &mut calls).and_then(|()| world.create(0, 0, &mut calls));
        let _ = begun.and_then(|()| world.refresh(0, 0, 0x20, &mut calls));
    }
    while world.call(&mut calls).is_some() {}
    world.evaluated
}

impl World {
    /// One call; `None` at the end of the bytes.
    fn call(&mut self, calls: &mut Calls<'_>) -> Option<()> {
        let (call, place) = (calls.byte()?, calls.byte()?);
        // The first of both most often, which belong together.
        let (net, state) = (usize::from(place % 8 == 7), usize::from(place >> 4 == 15));
        match call % 16 {
            0 => self.load(net, calls)?,
            1 => self.create(net, state, calls)?,
            2 | 3 => self.refresh(net, state, call, calls)?,
            4..=8 => self.push(net, state, call, calls)?,
            9 => self.back(state, call, calls)?,
            10 => self.states[state].0.copy(),
            11 => self.ask(net, calls)?,
            12 => self.outputs(net, state, calls)?,
            13 => numbers::model(calls)?,
            _ => self.evaluate(net, state, calls)?,
        }
        self.look(state);
        Some(())
    }

    /// What holds after every call.
    fn look(&mut self, state: usize) {
        let (place, created) = &mut self.states[state];
        // tamis.h: 0 of a handle that is no state.
        let height = match created {
            Some(created) => created.line.height(),
            None => 0,
        };
        assert_eq!(place.height(), height, "moves since the root");
        let mut text = Text::new(40);
        let status = place.message(&mut text);
        assert_eq!(status == Status::Ok, created.is_some(), "a message: {status:?}");
    }
}

fn shape_of(file: &[u8]) -> Shape {
    let network = AnyNetwork::load(file).unwrap();
    let input = network.plan().model().input();
    Shape {
        hidden: input.hidden,
        feature_set: input.feature_set,
        features: input.size,
        output_buckets: input.bucket_count,
        outputs: network.outputs() as u32,
    }
}
