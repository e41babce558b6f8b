//! For chess engines: a network, and a state that follows make and unmake.
//!
//! # From a file to an evaluation
//!
//! ```
//! use tamis_runtime::engine::{Colour, Expected, Features, Kind, Piece, Network, State};
//!
//! # mod hidden {
//! // The file becomes a part of the program. `host-tools inspect` prints its width, here 3, its buckets and its
//! // outputs.
//! # } // a doc test lies elsewhere than the crate's user
//! # static NET: &[u8] = tamis_runtime::include_model!("../../../tests/fuzz/corpus/loader/chess-no-buckets.bin");
//! # /*
//! static NET: &[u8] = tamis_runtime::include_model!("quantised.bin");
//! # */
//! const EXPECTED: Expected = Expected { features: Features::CHESS_768, output_buckets: 1, outputs: 1 };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # if !cfg!(feature = "accumulators") { return Ok(()) } // refused without
//! let net = Network::<3>::load(NET, &EXPECTED)?; // shared by all threads
//! let mut state = State::<3, 64>::new(); // one a thread
//! let king = Piece::new(Colour::White, Kind::King, 4); // e1
//! let pawn = Piece::new(Colour::White, Kind::Pawn, 12); // e2
//! state.refresh(&net, [king, pawn, Piece::new(Colour::Black, Kind::King, 60)])?;
//! let before = state.evaluate(&net, Colour::White)?; // centipawns for white
//! state.push(&net, &[pawn.at(28)], &[pawn])?; // e2-e4: what comes, what goes
//! let after = -state.evaluate(&net, Colour::Black)?;
//! state.pop()?;
//! assert_eq!(state.evaluate(&net, Colour::White)?, before);
//! # let _ = after;
//! # Ok(())
//! # }
//! ```
//!
//! # What each call costs
//!
//! | Call | Work |
//! |---|---|
//! | [`Network::load`] | one pass over the file for its checksum, no copy, no allocation |
//! | [`State::refresh`] | both accumulators from the cache's entries: the pieces that differ since those were filled, a row each |
//! | [`State::push`], [`State::pop`] | the pieces are noted, bits of a board flipped; no row is touched |
//! | [`State::push_null`] | a counter |
//! | [`State::evaluate`] | the rows of the moves since the last position of the line that was evaluated, two to four a colour and move, then the layers |
//! | the same after a king went to another bucket | for that colour the cache's entry, as in a refresh |
//!
//! A quiet move at 128 wide, pushed, evaluated and taken back, is about a thousand instructions on AVX2, of which only
//! the two kernels' part grows with the width; `benches/instructions/expected.txt` has the count, as `engine-head`, and
//! `benches/NOTES.md` has times.
//!
//! A position that is never evaluated costs nothing but its push and pop. [`AnyNetwork`] and [`AnyState`] do the same
//! for a width that is known only when the program runs, e.g. of a file that a user names (`EvalFile`); load it beside
//! the embedded one, call [`State::refresh`] with it, and the state has left the old one: a state that was filled from
//! one network is refused by another.
//!
//! The runtime knows no rules: which pieces a move adds and removes is the engine's to say. It checks that they are
//! there.

mod any_state;
mod error;
mod line;
mod network;
mod pieces;
mod ply;
pub(crate) mod state;

pub use crate::chess::piece::{Colour, Kind, Piece};
pub use any_state::AnyState;
pub use error::{LoadError, StateError};
pub use network::{AnyNetwork, Expected, Features, Network};
pub use state::State;
