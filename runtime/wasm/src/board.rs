//! Positions of chess: a value, what each piece adds to it, and the accumulators.

use crate::arrays;
use crate::fen::{Position, letter};
use crate::memory::{Bound, Bytes, Loaded};
use js_sys::{Array, Int16Array};
use tamis_runtime::engine::{AnyNetwork, AnyState, Colour, Kind, Piece};
use tamis_runtime::{Output, RunError};
use wasm_bindgen::{JsError, JsValue};

/// A root, and the move that takes a piece off.
const PLIES: usize = 2;

/// The network of chess, or why there is none.
fn chess<'l>(loaded: &'l Loaded) -> Result<&'l AnyNetwork<'l>, JsError> {
    match loaded.bound() {
        Bound::Chess(network) => Ok(network),
        Bound::Other(_) => Err(JsError::new("the network takes no chess positions; facts.input says what it takes")),
    }
}

/// Memory for a state of the network.
pub fn state_memory(loaded: &Loaded) -> Result<Bytes, JsError> {
    let network = chess(loaded)?;
    let len = AnyState::len_bytes(network, PLIES, network.keys());
    let memory = len.and_then(Bytes::zeroed).ok_or_else(|| JsError::new("not enough memory for accumulators"));
    let mut memory = memory?;
    AnyState::create(network, memory.get_mut(), PLIES, network.keys())?;
    Ok(memory)
}

/// A position in a state.
struct Set<'s> {
    network: &'s AnyNetwork<'s>,
    state: AnyState<'s>,
    to_move: Colour,
}

impl<'s> Set<'s> {
    fn up(loaded: &'s Loaded, memory: &'s mut Bytes, position: &Position) -> Result<Self, JsError> {
        let network = chess(loaded)?;
        let mut state = AnyState::open(memory.get_mut())?;
        state.refresh(network, position.pieces.iter().copied())?;
        Ok(Self { network, state, to_move: position.to_move })
    }

    fn outputs(&mut self) -> Result<Output<'_>, RunError> {
        self.state.outputs(self.network, self.to_move)
    }

    /// The first output, for the side to move, as a real.
    fn first(&mut self) -> Result<f64, RunError> {
        let unit = self.network.plan().model().input().output_unit;
        Ok(match self.outputs()? {
            Output::I32([first, ..]) => arrays::real(*first, unit),
            Output::F32([first, ..]) => arrays::real(*first, unit),
            // Every network has an output.
            _ => f64::NAN,
        })
    }

    /// The same once a piece is off the board.
    fn first_without(&mut self, piece: Piece) -> Result<f64, JsError> {
        self.state.push(self.network, &[], &[piece])?;
        let first = self.first();
        self.state.pop()?;
        Ok(first?)
    }
}

/// All outputs for the side to move.
pub fn outputs(loaded: &Loaded, memory: &mut Bytes, position: &Position) -> Result<JsValue, JsError> {
    let mut set = Set::up(loaded, memory, position)?;
    let unit = set.network.plan().model().input().output_unit;
    Ok(arrays::outputs(set.outputs()?, unit))
}

/// What each piece adds to the first output: the value less the one without it, the same side to move. A king cannot be
/// taken off.
///
/// Seen by white where the network has one output, whose sign is the side's; else by the side to move.
pub fn shares(loaded: &Loaded, memory: &mut Bytes, position: &Position) -> Result<JsValue, JsError> {
    let mut set = Set::up(loaded, memory, position)?;
    let is_turned = set.network.outputs() == 1 && set.to_move == Colour::Black;
    // 0 has no sign.
    let seen = |value: f64| if is_turned { 0.0 - value } else { value };
    let value = set.first()?;
    let pieces = Array::new();
    for piece in &position.pieces {
        let share = match piece.kind() {
            Kind::King => JsValue::NULL,
            _ => seen(value - set.first_without(*piece)?).into(),
        };
        let letter = letter(*piece).to_string();
        pieces.push(&arrays::object([("square", square(*piece).into()), ("piece", letter.into()), ("share", share)]));
    }
    Ok(arrays::object([("value", seen(value).into()), ("pieces", pieces.into())]))
}

/// Both accumulators, the side to move's first.
pub fn accumulators(loaded: &Loaded, memory: &mut Bytes, position: &Position) -> Result<Vec<Int16Array>, JsError> {
    let mut set = Set::up(loaded, memory, position)?;
    let sides = [set.to_move, set.to_move.other()];
    let read = sides.map(|side| set.state.accumulator(set.network, side).map(Int16Array::from));
    read.into_iter().map(|accumulator| accumulator.map_err(JsError::from)).collect()
}

/// The square's name.
fn square(piece: Piece) -> String {
    let (file, rank) = (piece.square() % 8, piece.square() / 8);
    String::from_iter([char::from(b'a' + file), char::from(b'1' + rank)])
}
