//! Evaluations as an engine makes them, through the public functions: both accumulators of a new ply from those of the
//! ply before, and the layers behind them.

use crate::c_engine::c_engine;
use crate::nets::{multi_layer, perspective};
use crate::play::{Call, colour, lines_of_play};
use crate::{Cases, FEATURES, PLIES, features, widths};
use std::cell::{LazyCell, RefCell};
use std::rc::Rc;
use tamis_quant::arch::HeadDivision;
use tamis_quant::run::AlignedBytes;
use tamis_runtime::engine::{Colour, Expected, Features, Network, State};
use tamis_runtime::format::Model;
use tamis_runtime::kernels::Tier;
use tamis_runtime::nnue::{AccumulatorPair, Change, Stack};
use tamis_runtime::{Output, Plan};

type Ring<const H: usize> = Rc<RefCell<Vec<AccumulatorPair<H>>>>;

/// What an iteration does.
#[derive(Clone, Copy)]
enum Work {
    /// A quiet move in both perspectives.
    Update,
    /// The layers behind the accumulators.
    Head,
    /// Both.
    UpdateAndHead,
    /// Both accumulators from 32 features each, and the head.
    RefreshAndHead,
}

/// Everything by its id; `update-head` is one evaluation after a quiet move.
const WORKS: [(&str, Work); 4] = [
    ("update", Work::Update),
    ("head", Work::Head),
    ("update-head", Work::UpdateAndHead),
    ("refresh-head", Work::RefreshAndHead),
];

/// (768 -> N)x2 -> 1 with one output bucket and with eight, and the network of several layers.
pub fn evaluations(cases: &mut Cases) {
    for buckets in [1, 8] {
        widths!(one_layer(cases, buckets), 128 256 512 1024 1536 3072);
    }
    every_work::<1024>(cases, "(768-1024)x2-16-32-1x8", 8, multi_layer);
}

fn one_layer<const H: usize>(cases: &mut Cases, buckets: usize) {
    let shape = format!("(768-{H})x2-1x{buckets}");
    let ring = every_work::<H>(cases, &shape, buckets, || perspective(H, buckets, HeadDivision::Twice));
    let rounded = LazyCell::new(|| perspective(H, buckets, HeadDivision::Rounded));
    cases.every_tier("update-head", &format!("{shape}-rounded"), |tier| {
        game(Plan::new(*rounded, tier), Rc::clone(&ring), buckets, Work::UpdateAndHead)
    });
}

/// The accumulators that it ran on: what stands in the same memory is compared with the same pages.
fn every_work<const H: usize>(
    cases: &mut Cases,
    shape: &str,
    buckets: usize,
    net: impl Fn() -> Model<'static>,
) -> LazyCell<Ring<H>> {
    let model = LazyCell::new(net);
    let ring: LazyCell<Ring<H>> = LazyCell::new(|| Rc::new(RefCell::new(vec![AccumulatorPair::new(); PLIES])));
    for (what, work) in WORKS {
        cases.every_tier(what, shape, |tier| game(Plan::new(*model, tier), Rc::clone(&ring), buckets, work));
    }
    cases.every_tier("stack-head", shape, |tier| stack::<H>(Plan::new(*model, tier), buckets));
    for (what, in_c, call) in CALLS {
        cases.every_tier(what, shape, |tier| engine::<H>(*model, tier, buckets, call));
        cases.every_tier(in_c, shape, |tier| c_engine(*model, tier, call));
    }
    ring
}

/// By their ids, in Rust and through C.
const CALLS: [(&str, &str, Call); 3] = [
    ("engine-head", "c-engine-head", Call::MoveAndEvaluate),
    ("engine-make-unmake", "c-engine-make-unmake", Call::MoveAndBack),
    ("engine-again", "c-engine-again", Call::Evaluate),
];

fn engine<const H: usize>(model: Model<'static>, tier: &'static Tier, buckets: usize, call: Call) -> impl FnMut(u64) {
    let expected = Expected { features: Features::CHESS_768, output_buckets: buckets, outputs: 1 };
    let net = Network::<H>::load_on(model.bytes(), &expected, tier).unwrap();
    let mut state: Box<State<H, PLIES>> = bytemuck::allocation::zeroed_box();
    let (pieces, lines) = lines_of_play();
    state.refresh(&net, pieces.iter().copied()).unwrap();
    let (mut at, mut ply) = (0, 0);
    move |iterations| {
        for _ in 0..iterations {
            match call {
                Call::MoveAndEvaluate => {
                    if ply + 1 == PLIES {
                        (at, ply) = ((at + 1) % lines.len(), 0);
                        while state.height() > 0 {
                            state.pop().unwrap();
                        }
                    }
                    let (to, from) = lines[at][ply];
                    ply += 1;
                    state.push(&net, &[to], &[from]).unwrap();
                    std::hint::black_box(state.evaluate(&net, colour(ply)).unwrap());
                }
                Call::MoveAndBack => {
                    let (to, from) = lines[at][0];
                    state.push(&net, &[to], &[from]).unwrap();
                    state.pop().unwrap();
                }
                Call::Evaluate => {
                    std::hint::black_box(state.evaluate(&net, Colour::White).unwrap());
                }
            }
        }
    }
}

/// The same as `update-head`, through a ply stack: a push, and an evaluation that computes both perspectives.
fn stack<const H: usize>(plan: Plan<'static>, buckets: usize) -> impl FnMut(u64) {
    let lists = features();
    let mut stack: Box<Stack<H, PLIES>> = bytemuck::allocation::zeroed_box();
    stack.set_root(&plan, [&lists[..16], &lists[16..32]]).unwrap();
    let mut workspace = AlignedBytes::zeroed(plan.model().workspace_len_bytes());
    let mut at = 0;
    move |iterations| {
        for _ in 0..iterations {
            at = (at + 4) % FEATURES;
            let list = &lists[at..at + 4];
            while stack.height() + 1 >= PLIES {
                stack.pop().unwrap();
            }
            let change =
                |from: usize| Change::Features { added: &list[from..=from], removed: &list[from + 1..from + 2] };
            stack.push(&plan, [change(0), change(2)]).unwrap();
            consume(stack.evaluate(&plan, 0, list[0] as usize % buckets, workspace.as_mut()).unwrap());
        }
    }
}

/// Goes round the ring of plies with random features.
fn game<const H: usize>(plan: Plan<'static>, ring: Ring<H>, buckets: usize, work: Work) -> Box<dyn FnMut(u64)> {
    match work {
        Work::Update => around(plan, ring, buckets, |plan, at| {
            at.after.update_both(plan, at.before, at.added(), at.removed()).unwrap();
        }),
        Work::Head => around(plan, ring, buckets, |plan, at| {
            consume(at.after.evaluate(plan, 0, at.bucket, at.scratch).unwrap());
        }),
        Work::UpdateAndHead => around(plan, ring, buckets, |plan, at| {
            let (added, removed) = (at.added(), at.removed());
            let found = at.after.update_and_evaluate(plan, at.before, added, removed, 0, at.bucket, at.scratch);
            consume(found.unwrap());
        }),
        Work::RefreshAndHead => around(plan, ring, buckets, |plan, at| {
            refresh(plan, at.after, at.many);
            consume(at.after.evaluate(plan, 0, at.bucket, at.scratch).unwrap());
        }),
    }
}

/// A ply of a game.
struct At<'g, const H: usize> {
    before: &'g AccumulatorPair<H>,
    after: &'g mut AccumulatorPair<H>,
    /// Of both perspectives, one that comes and one that goes.
    list: &'g [u32; 4],
    /// 32 of both perspectives.
    many: &'g [u32; 64],
    bucket: usize,
    scratch: &'g mut [u8],
}

impl<'g, const H: usize> At<'g, H> {
    fn added(&self) -> [&'g [u32]; 2] {
        [&self.list[..1], &self.list[2..3]]
    }

    fn removed(&self) -> [&'g [u32]; 2] {
        [&self.list[1..2], &self.list[3..]]
    }
}

/// `step` for every ply, each with a loop of its own, so that nothing is asked in it that an engine knows.
fn around<const H: usize>(
    plan: Plan<'static>,
    ring: Ring<H>,
    buckets: usize,
    step: impl Fn(&Plan<'static>, At<'_, H>) + 'static,
) -> Box<dyn FnMut(u64)> {
    assert!(buckets.is_power_of_two());
    // As many more at the end, so that 64 follow every one.
    let lists: Vec<u32> = features().into_iter().chain(features().into_iter().take(64)).collect();
    for pair in ring.borrow_mut().iter_mut() {
        refresh(&plan, pair, lists.first_chunk().unwrap());
    }
    let mut memory = AlignedBytes::zeroed(plan.model().workspace_len_bytes());
    let (mut at, mut ply) = (0, 0);
    Box::new(move |iterations| {
        let (mut ring, scratch) = (ring.borrow_mut(), memory.as_mut());
        let plies: &mut [AccumulatorPair<H>; PLIES] = ring.first_chunk_mut().unwrap();
        for _ in 0..iterations {
            at = (at + 4) % FEATURES;
            let next = (ply + 1) % PLIES;
            let [before, after] = plies.get_disjoint_mut([ply, next]).unwrap();
            ply = next;
            let (list, many) = (lists[at..].first_chunk().unwrap(), lists[at..].first_chunk().unwrap());
            let bucket = lists[at] as usize & (buckets - 1);
            step(&plan, At { before, after, list, many, bucket, scratch: &mut *scratch });
        }
    })
}

fn refresh<const H: usize>(plan: &Plan<'_>, pair: &mut AccumulatorPair<H>, list: &[u32; 64]) {
    pair.refresh(plan, 0, &list[..32]).unwrap();
    pair.refresh(plan, 1, &list[32..]).unwrap();
}

/// Reads the output, so that nothing of it can be left out.
pub(crate) fn consume(output: Output<'_>) {
    match output {
        Output::I32(values) => drop(std::hint::black_box(values[0])),
        Output::F32(values) => drop(std::hint::black_box(values[0])),
        other => unreachable!("no case has such an output: {other:?}"),
    }
}
