//! Calls of the C library in any order, right ones and wrong ones, beside a model of what each piece of memory holds.
//!
//! What the model says: which calls succeed, with which status the others end, that those change nothing, and that an
//! evaluation is the second reader's of the board.

mod places;
mod text;

use crate::boards::{Calls, Line, is_board, networks};
use core::ffi::CStr;
use places::{NetPlace, Spoilt, StatePlace, run_model};
use std::sync::LazyLock;
use tamis::{Shape, Status};
use tamis_quant::run::AlignedBytes;
use tamis_runtime::engine::{AnyNetwork, Colour, Piece};
use tamis_runtime::format::Model;
use tests::held::{Sample, evaluate_board};
use tests::sample_models::Random;
use tests::second_reader::Container;
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
            13 => model(calls)?,
            _ => self.evaluate(net, state, calls)?,
        }
        self.look(state);
        Some(())
    }

    fn load(&mut self, net: usize, calls: &mut Calls<'_>) -> Option<()> {
        let (which, spoilt, tier) = (usize::from(calls.byte()?), Spoilt::of(calls.byte()?), calls.byte()?);
        let file = which % NETWORKS.len();
        let bytes = AlignedBytes::copy_of(NETWORKS[file].as_ref());
        let mut shape = shape_of(bytes.as_ref());
        let (expected, is_another) = (tier & 0x40 != 0, tier & 0x20 != 0);
        shape.hidden += u32::from(is_another);
        let cut = usize::from(tier & 0x80 != 0);
        let len = bytes.as_ref().len() - cut;
        let name = match usize::from(tier & 15) {
            0 => Some(c"none of them"),
            index => TIERS.get(index - 1).copied(),
        };
        let mut text = Text::new(usize::from(tier) / 2);
        let (place, loaded) = &mut self.nets[net];
        let status = place.load(bytes, len, expected.then_some(&shape), name, spoilt, &mut text);
        text.of(status, "a load");
        let wanted = if tier & 15 == 0 {
            Status::UnknownTier
        } else if let Some(status) = spoilt.memory_status() {
            status
        } else if cut > 0 {
            Status::FileLength
        } else if expected && is_another {
            Status::Differs
        } else {
            self.loads += 1;
            *loaded = Some(Loaded { file, number: self.loads });
            Status::Ok
        };
        assert_eq!(status, wanted, "a load of file {file}");
        Some(())
    }

    fn create(&mut self, net: usize, state: usize, calls: &mut Calls<'_>) -> Option<()> {
        let (sizes, spoilt) = (calls.byte()?, Spoilt::of(calls.byte()?));
        let (plies, keys) = (1 + usize::from(sizes & 7) % PLIES, usize::from(sizes >> 4));
        let mut text = Text::new(usize::from(sizes));
        let (place, loaded) = &self.nets[net];
        assert_eq!(place.state_size(plies, keys) == 0, loaded.is_none(), "the size of a state");
        let status = self.states[state].0.create(place, plies, keys, spoilt, &mut text);
        text.of(status, "a state's creation");
        let wanted = match (loaded, spoilt.memory_status()) {
            (None, _) => Status::NotAHandle,
            (_, Some(status)) => status,
            (Some(loaded), None) => {
                let hidden = shape_of(NETWORKS[loaded.file].as_ref()).hidden as usize;
                self.states[state].1 = Some(Created { plies, hidden, line: Line::default(), of: None });
                Status::Ok
            }
        };
        assert_eq!(status, wanted, "a state's creation");
        Some(())
    }

    fn refresh(&mut self, net: usize, state: usize, call: u8, calls: &mut Calls<'_>) -> Option<()> {
        let (spoilt, wrong) = (Spoilt::of(calls.byte()?), calls.byte()?);
        let pieces = calls.root(call);
        let mut numbers: Vec<u16> = pieces.iter().map(|piece| piece.index()).collect();
        let (handle, loaded) = (self.nets[net].0.handle(spoilt), self.nets[net].1);
        let (place, created) = &mut self.states[state];
        let mut wanted = match (&created, loaded) {
            (None, _) => Some(Status::NotAHandle),
            (_, None) => Some(spoilt.handle_status().unwrap_or(Status::NotAHandle)),
            _ => spoilt.handle_status(),
        };
        let status = match wrong % 16 {
            0 => {
                wanted = wanted.or(Some(Status::NullPointer));
                place.refresh(handle, None, numbers.len())
            }
            1 => {
                numbers.push(768);
                wanted = wanted.or(Some(Status::OutOfRange));
                place.refresh(handle, Some(&numbers), numbers.len())
            }
            _ => place.refresh(handle, Some(&numbers), numbers.len()),
        };
        let Some(created) = created else {
            assert_eq!(status, Status::NotAHandle, "a refresh of nothing");
            return Some(());
        };
        // Whatever the reason of a failure, there is no position that could be taken for the new one.
        created.line.clear();
        if let Some(wanted) = wanted {
            assert_eq!(status, wanted, "a refresh");
            return Some(());
        }
        let loaded = loaded?;
        let fits = shape_of(NETWORKS[loaded.file].as_ref()).hidden as usize == created.hidden;
        match status {
            Status::Ok => {
                assert!(fits, "a refresh of {} with a network of another width", created.hidden);
                created.line.refresh(pieces);
                created.of = Some(loaded);
            }
            Status::WrongLength => assert!(!fits, "a refresh of the right width"),
            Status::MemoryTooShort | Status::PiecePresent | Status::TooMany => {
                assert!(fits, "a refresh of another width: {status:?}");
                let is_plain = is_board(&pieces) && pieces.len() <= 4 && status != Status::MemoryTooShort;
                assert!(!is_plain, "a refresh with {pieces:?}: {status:?}");
            }
            other => panic!("a refresh with {pieces:?}: {other:?}"),
        }
        Some(())
    }

    fn push(&mut self, net: usize, state: usize, call: u8, calls: &mut Calls<'_>) -> Option<()> {
        let (spoilt, rest) = (Spoilt::of(calls.byte()?), calls.byte()?);
        let handle = self.nets[net].0.handle(spoilt);
        let (loaded, no_line) = (self.nets[net].1, Line::default());
        let (place, created) = &mut self.states[state];
        let line = created.as_ref().map_or(&no_line, |created| &created.line);
        let Some((added, removed)) = calls.change((call & 0x70) | (rest & 0x8F), line) else { return Some(()) };
        let numbers = |pieces: &[Piece]| pieces.iter().map(|piece| piece.index()).collect::<Vec<u16>>();
        let is_plain = line.last().is_some_and(|board| is_plain(board, &added, &removed));
        let status = place.push(handle, &numbers(&added), &numbers(&removed));
        match (created, loaded, spoilt.handle_status()) {
            (None, ..) => assert_eq!(status, Status::NotAHandle, "a move of nothing"),
            (_, _, Some(wanted)) => assert_eq!(status, wanted, "a move with a spoilt handle"),
            (_, None, _) => assert_eq!(status, Status::NotAHandle, "a move without a network"),
            (Some(created), Some(loaded), None) => match status {
                Status::Ok => {
                    assert_eq!(created.of, Some(loaded), "a move with another network");
                    created.line.push(added, removed);
                }
                Status::StateEmpty => assert_eq!(created.line.len(), 0, "a state with a position"),
                Status::OtherNet => assert_ne!(created.of, Some(loaded), "the same network"),
                Status::StateFull => assert!(created.line.len() >= created.plies, "a state that is not full"),
                Status::PieceMissing | Status::PiecePresent | Status::TooMany => {
                    assert!(!is_plain, "{status:?}: +{added:?} -{removed:?} of {:?}", created.line.last());
                }
                other => panic!("a move: {other:?}"),
            },
        }
        Some(())
    }

    /// Null moves and ways back.
    fn back(&mut self, state: usize, call: u8, calls: &mut Calls<'_>) -> Option<()> {
        let ply = usize::from(calls.byte()? % 8);
        let (place, created) = &mut self.states[state];
        let status = match call >> 4 {
            0..=5 => place.push_null(),
            6..=10 => place.pop(),
            _ => place.goto(ply),
        };
        let Some(created) = created else {
            assert_eq!(status, Status::NotAHandle, "a way back of nothing");
            return Some(());
        };
        let before = created.line.len();
        let line = &mut created.line;
        let wanted = match call >> 4 {
            _ if before == 0 => Status::StateEmpty,
            0..=5 if status == Status::StateFull => Status::StateFull,
            0..=5 => {
                line.push_null();
                Status::Ok
            }
            6..=10 if line.pop() => Status::Ok,
            6..=10 => Status::StateEmpty,
            _ if line.goto(ply) => Status::Ok,
            _ => Status::OutOfRange,
        };
        assert_eq!(status, wanted, "of {before} positions, ply {ply}");
        Some(())
    }

    fn evaluate(&mut self, net: usize, state: usize, calls: &mut Calls<'_>) -> Option<()> {
        let (spoilt, which) = (Spoilt::of(calls.byte()?), calls.byte()?);
        let (colour, bucket) = (u32::from(which % 16).min(2), (which & 0x80 != 0).then_some(u32::from(which >> 4 & 7)));
        let colour = if which % 16 < 8 { colour & 1 } else { colour };
        let (place, created) = &mut self.states[state];
        let mut score = 0x5EED_5EED;
        let status = place.evaluate(self.nets[net].0.handle(spoilt), colour, bucket, &mut score);
        assert!(status == Status::Ok || score == 0x5EED_5EED, "a score of a call that ended in {status:?}");
        let wanted = border(created.as_ref(), self.nets[net].1, spoilt, colour);
        let Err((created, loaded)) = wanted else {
            assert_eq!(Ok(status), wanted.map_err(drop), "an evaluation");
            return Some(());
        };
        let shape = shape_of(NETWORKS[loaded.file].as_ref());
        let wanted = match bucket {
            Some(bucket) if bucket >= shape.output_buckets => Status::OutOfRange,
            _ if created.line.len() == 0 => Status::StateEmpty,
            _ if created.of != Some(loaded) => Status::OtherNet,
            _ => Status::Ok,
        };
        if status != Status::Ok || wanted != Status::Ok {
            // A board without a king has no place for the accumulator of its side.
            let is_game = created.line.last().is_some_and(|board| is_board(board));
            assert!(status == wanted || (!is_game && status != Status::Internal), "{status:?} for {wanted:?}");
            return Some(());
        }
        let board = created.line.last()?;
        if bucket.is_none() && is_board(board) {
            let file = NETWORKS[loaded.file].as_ref();
            let (network, container) = (AnyNetwork::load(file).unwrap(), Container::read(file).unwrap());
            let mover = Colour::BOTH[colour as usize];
            assert_eq!(score, evaluate_board(&network, &container, board, mover), "{board:?}, {mover:?}");
            self.evaluated = true;
        }
        Some(())
    }

    /// All outputs, the first of which is the score, and rows of them.
    fn outputs(&mut self, net: usize, state: usize, calls: &mut Calls<'_>) -> Option<()> {
        let (room, row) = (usize::from(calls.byte()? % 5), u32::from(calls.byte()? % 4));
        let (place, created) = &mut self.states[state];
        let handle = self.nets[net].0.handle(Spoilt::Nothing);
        let is_real = self.nets[net].0.facts().1 == 1;
        let (mut integers, mut reals) = ([7; 5], [7.0; 5]);
        let (status, count) = if is_real {
            place.outputs_f32(handle, 0, &mut reals[..room])
        } else {
            place.outputs(handle, 0, &mut integers[..room])
        };
        let other = if is_real { place.outputs(handle, 0, &mut [0; 5]).0 } else { Status::OtherKind };
        let Err((created, loaded)) = border(created.as_ref(), self.nets[net].1, Spoilt::Nothing, 0) else {
            assert_eq!(status, Status::NotAHandle, "outputs of nothing");
            return Some(());
        };
        let is_ready = created.of == Some(loaded) && created.line.last().is_some_and(|board| is_board(board));
        if !is_ready {
            assert!(status != Status::Internal, "outputs: {status:?}");
            return Some(());
        }
        assert_eq!(other, Status::OtherKind, "outputs of the other kind");
        let outputs = shape_of(NETWORKS[loaded.file].as_ref()).outputs as usize;
        assert_eq!(count, outputs, "the number of outputs");
        let wanted = if room < outputs { Status::CapacityTooSmall } else { Status::Ok };
        assert_eq!(status, wanted, "room for {room} of {outputs} outputs");
        assert!(integers[room..] == [7; 5][room..] && reals[room..] == [7.0; 5][room..], "outputs beyond their room");
        if status != Status::Ok {
            assert!(integers == [7; 5] && reals == [7.0; 5], "outputs of a call that failed");
            return Some(());
        }
        let mut score = 0;
        assert_eq!(place.evaluate(handle, 0, None, &mut score), Status::Ok);
        assert_eq!(score, if is_real { reals[0] as i32 } else { integers[0] }, "the first output and the score");
        if !is_real {
            let mut one = [7];
            match place.output_rows(handle, 0, &[row], &mut one) {
                Status::Ok => assert_eq!(Some(&one[0]), integers[..outputs].get(row as usize), "row {row}"),
                Status::OutOfRange => assert!(row as usize >= outputs && one == [7], "row {row} of {outputs}"),
                other => assert!(other == Status::OtherKind && one == [7], "row {row}: {other:?}"),
            }
        }
        Some(())
    }

    /// What a network says of itself.
    fn ask(&self, net: usize, calls: &mut Calls<'_>) -> Option<()> {
        let (spoilt, which) = (Spoilt::of(calls.byte()?), calls.byte()?);
        let (place, loaded) = &self.nets[net];
        let (status, mut shape) = place.shape(spoilt);
        let mut text = Text::new(usize::from(which) / 3);
        let Some(loaded) = loaded else {
            assert_eq!(status, spoilt.handle_status().unwrap_or(Status::NotAHandle), "the shape of nothing");
            assert_eq!(place.facts(), (0, 0, 0, None), "facts of nothing");
            return Some(());
        };
        if let Some(wanted) = spoilt.handle_status() {
            assert_eq!((status, shape.hidden), (wanted, 1), "the shape of a spoilt handle");
            return Some(());
        }
        let file = NETWORKS[loaded.file].as_ref();
        assert_eq!((status, shape), (Status::Ok, shape_of(file)), "the shape of file {}", loaded.file);
        let network = AnyNetwork::load(file).unwrap();
        let (keys, is_real, checksum, tier) = place.facts();
        let known = (network.keys(), u32::from(network.is_real()), network.plan().identity().checksum());
        assert_eq!((keys, is_real, checksum), known, "facts of file {}", loaded.file);
        assert!(tier.is_some_and(|tier| TIERS.contains(&tier)), "{tier:?}");
        let is_another = which & 1 == 1;
        shape.outputs += u32::from(is_another);
        let status = place.expect(&shape, &mut text);
        text.of(status, "an expectation");
        assert_eq!(status, if is_another { Status::Differs } else { Status::Ok }, "an expectation");
        Some(())
    }

    /// What holds after every call.
    fn look(&mut self, state: usize) {
        let (place, created) = &mut self.states[state];
        let height = created.as_ref().map_or(0, |created| created.line.height());
        assert_eq!(place.height(), height, "moves since the root");
        let mut text = Text::new(40);
        let status = place.message(&mut text);
        assert_eq!(status == Status::Ok, created.is_some(), "a message: {status:?}");
    }
}

/// How a call ends before anything is computed, or what it computes with.
fn border(
    created: Option<&Created>,
    loaded: Option<Loaded>,
    spoilt: Spoilt,
    colour: u32,
) -> Result<Status, (&Created, Loaded)> {
    let Some(created) = created else { return Ok(Status::NotAHandle) };
    if colour > 1 {
        return Ok(Status::OutOfRange);
    }
    match (spoilt.handle_status(), loaded) {
        (Some(status), _) => Ok(status),
        (None, None) => Ok(Status::NotAHandle),
        (None, Some(loaded)) => Err((created, loaded)),
    }
}

/// A piece to an empty square, which every network and state takes.
fn is_plain(board: &[Piece], added: &[Piece], removed: &[Piece]) -> bool {
    let ([to], [from]) = (added, removed) else { return false };
    let is_free = board.iter().all(|piece| piece.square() != to.square());
    is_board(board) && board.len() <= 4 && board.contains(from) && is_free && from.at(to.square()) == *to
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

/// Any model's output by the library is the second reader's.
fn model(calls: &mut Calls<'_>) -> Option<()> {
    let (which, number) = (usize::from(calls.byte()?), calls.byte()?);
    let file = &MODELS[which % MODELS.len()];
    let (model, container) = (Model::parse(file.as_ref()).unwrap(), Container::read(file.as_ref()).unwrap());
    let sample = Sample::draw(&model, &mut Random(u64::from(number)), u32::from(number));
    let bucket = usize::from(number) % model.input().bucket_count as usize;
    let values = container.evaluate(&sample.given(), bucket);
    let expected = values.last().unwrap().bytes(container.element_of_value(values.len() - 1));
    let tier = TIERS[usize::from(number) % TIERS.len()];
    let found = run_model(file, tier, sample.input(), bucket);
    let is_nan = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().unwrap()).is_nan();
    let is_real = model.values().last().is_some_and(|value| value.element() == tamis_runtime::raw::element::F32);
    let is_same = |(a, b): (&[u8], &[u8])| a == b || (is_real && is_nan(a) && is_nan(b));
    let found = found.unwrap_or_else(|status| panic!("model {which}: {status:?}"));
    let is_equal = found.len() == expected.len() && found.chunks(4).zip(expected.chunks(4)).all(is_same);
    assert!(is_equal, "model {which}, input {number}: {found:?} for {expected:?}");
    Some(())
}
