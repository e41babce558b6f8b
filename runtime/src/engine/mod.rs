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
//! | [`State::goto`] | a `pop` for each ply that is left |
//! | [`State::evaluate`] | the rows of the moves since the last position of the line that was evaluated, two to four a colour and move, then the layers |
//! | the same after a king went to another bucket | for that colour the cache's entry, as in a refresh |
//!
//! A quiet move at 128 wide, pushed, evaluated and taken back, is about a thousand instructions on AVX2, of which only
//! the two kernels' part grows with the width; `benches/instructions/x86-64.txt` has the count, as `engine-head`, and
//! `benches/NOTES.md` has times.
//!
//! A position that is never evaluated costs nothing but its push and pop. [`AnyNetwork`] and [`AnyState`] do the same
//! for a width that is known only when the program runs, e.g. of a file that a user names (`EvalFile`); load it beside
//! the embedded one, call [`State::refresh`] with it, and the state has left the old one: a state that was filled from
//! one network is refused by another.
//!
//! # Copy-make, statics, pages
//!
//! An engine that copies its board and makes each move on the copy calls [`State::goto`] with a node's own ply before
//! each move of the node, and before it evaluates; then no return from the node needs a [`State::pop`].
//! `examples/engine/search.rs` does so. The lists of a push may be toggles as they fall out of such a board: what
//! counts is their difference.
//!
//! Loading can fail, so a network is no constant. One in a static is loaded in `main`, where the failure can be told,
//! into a `OnceLock`, and threads are handed the reference; nothing is asked at an evaluation:
//!
//! ```
//! use std::sync::OnceLock;
//! use tamis_runtime::engine::{Expected, Features, Network};
//!
//! # static FILE: &[u8] = tamis_runtime::include_model!("../../../tests/fuzz/corpus/loader/chess-no-buckets.bin");
//! # /*
//! static FILE: &[u8] = tamis_runtime::include_model!("quantised.bin");
//! # */
//! static NET: OnceLock<Network<'static, 3>> = OnceLock::new();
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # if !cfg!(feature = "accumulators") { return Ok(()) } // refused without
//! let expected = Expected { features: Features::CHESS_768, output_buckets: 1, outputs: 1 };
//! let loaded = Network::load(FILE, &expected)?;
//! let net: &'static Network<'static, 3> = NET.get_or_init(|| loaded);
//! # let _ = net;
//! # Ok(())
//! # }
//! ```
//!
//! A file in mapped memory needs nothing more: pages of any size, 4, 16, 32 or 64 KiB, start at a multiple of 64. The
//! rows of an accumulator lie all over a large file, so that huge pages save misses of the translation buffer; and on a
//! machine of several NUMA nodes a copy of the bytes a node, loaded once there, keeps its threads' reads near. Each
//! load is a network of its own to a state. `runtime/c-api/examples/map.c` maps, copies and asks for huge pages.
//!
//! The runtime knows no rules: which pieces a move adds and removes is the engine's to say. It checks that they are
//! there.

mod any_state;
mod error;
mod line;
mod network;
mod pieces;
mod ply;
#[cfg(short_ways)]
mod quick;
mod related;
pub(crate) mod state;

pub use crate::chess::piece::{Colour, Kind, Piece};
pub use any_state::AnyState;
pub use error::{LoadError, StateError};
pub use network::{AnyNetwork, Expected, Features, Network};
pub use state::State;
