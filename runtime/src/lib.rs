//! Inference for quantised NNUE and dense networks, `no_std`, without allocation, with the same bits on every machine.
//!
//! A network is a file, `quantised.bin`, that `host-tools` makes. The loader checks every byte of it and copies none;
//! behind it only what a caller hands in can be refused, as an error. There are three doors.
//!
//! # An engine
//!
//! [`engine`] keeps accumulators in step with make and unmake: a [`engine::Network`] for all threads, a
//! [`engine::State`] for each.
//!
//! ```
//! use tamis_runtime::engine::{Colour, Expected, Features, Kind, Piece, Network, State};
//!
//! // Becomes a part of the program. `host-tools inspect` prints its width, here 3, its buckets and its outputs.
//! static NET: &[u8] = tamis_runtime::include_model!("../../tests/fuzz/corpus/loader/chess-no-buckets.bin");
//! const EXPECTED: Expected = Expected { features: Features::CHESS_768, output_buckets: 1, outputs: 1 };
//!
//! # if !cfg!(feature = "accumulators") { return Ok(()) } // refused without
//! let net = Network::<3>::load(NET, &EXPECTED)?;
//! let mut state = State::<3, 64>::new();
//! let kings = [Piece::new(Colour::White, Kind::King, 4), Piece::new(Colour::Black, Kind::King, 60)];
//! let pawn = Piece::new(Colour::White, Kind::Pawn, 12);
//! state.refresh(&net, kings.into_iter().chain([pawn]))?;
//! state.push(&net, &[pawn.at(28)], &[pawn])?; // e2-e4: what comes, what goes
//! let centipawns: i32 = state.evaluate(&net, Colour::Black)?; // for black, who is to move
//! state.pop()?;
//! # let _ = centipawns;
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! `examples/small_engine.rs` is an engine in about sixty lines, `examples/engine` a whole one. Engines of other games,
//! which number their features themselves, have [`nnue`].
//!
//! # Firmware
//!
//! [`include_model!`] puts the file into flash, where it is read in place; the scratch memory is a static or on the
//! stack. [`kernels::of_target`] names the tier when the program is built, so that no other is linked, and
//! `default-features = false` leaves out all but dense integer layers.
//!
//! ```
//! use tamis_runtime::{Input, Plan, Workspace, format::Model, include_model, kernels};
//!
//! static NET: &[u8] = include_model!("../../firmware-examples/programs/src/minimal.quantised.bin");
//!
//! /// Whether the image of 8 by 8 pixels, each 0 to 127, is a zero.
//! fn is_zero(image: &[u8; 64], scratch: &mut Workspace<192>) -> Option<bool> {
//!     let plan = Plan::new(Model::parse(NET).ok()?, kernels::of_target());
//!     let [logit]: &[i32; 1] = plan.run(Input::U8(image), 0, scratch.as_mut()).ok()?.try_into().ok()?;
//!     Some(*logit > 0)
//! }
//!
//! assert_eq!(is_zero(&[0; 64], &mut Workspace::new()), Some(false));
//! ```
//!
//! `firmware-examples` has programs for seven boards, and `host-tools codegen` writes a module for one network, whose
//! lengths are in its types.
//!
//! # A dense network
//!
//! The same on a machine that is asked for its fastest tier, and for every other kind of [`Input`]. Where the file is
//! named when the program runs, `examples/load.rs` shows how it gets to a multiple of 64 in memory; `examples/dense.rs`
//! and `examples/sparse.rs` are whole programs.
//!
//! ```
//! use tamis_runtime::{Input, Output, Plan, Workspace, format::Model, include_model, kernels};
//!
//! static NET: &[u8] = include_model!("../../firmware-examples/programs/src/digits.quantised.bin");
//!
//! let plan = Plan::new(Model::parse(NET)?, kernels::best()); // shared by all threads
//! let mut scratch = Workspace::<256>::new(); // one a thread; as long as `host-tools inspect` says
//! match plan.run(Input::U8(&[0; 64]), 0, scratch.as_mut())? {
//!     Output::I32(scores) => assert_eq!(scores.len(), 10), // times `output_unit` they are the real ones
//!     other => unreachable!("this network ends in integers: {other:?}"),
//! }
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! # What is where
//!
//! [`format::Model::parse`] is the one way in. [`Plan`] binds a model to a tier of [`kernels`] and runs it.
//! [`signature`] is the number that every machine must print for a file. [`raw`] is for programs that write files or
//! look into them.
//!
//! Features add, and none changes a result. Dense integer layers always run. `accumulators` adds networks of lists of
//! features, `reals` layers of f32, and `general`, which implies both and is on by default, sparse and real inputs and
//! what networks of click models and trees compute with them; `convolutions`, convolutions, pools and sums of maps, and
//! with `reals` softmax and its like in f32; `maps`, which implies it and is on by default, what else works on pixels.
//! Without them the loader refuses such files,
//! naming the feature, and firmware is smaller. `messages`, on by default, is the words of the loader's errors; without
//! it they keep their variants and numbers, and `host-tools inspect` says the words. `metadata`, on by default, is
//! `Model::metadata`, what a file says to people; without it the crate needs neither `postcard` nor `serde`. `batches`,
//! on by default, is dense layers that load their weights once for several inputs. `wide`, `avx512` and `avxvnni`, on
//! by default, are tiers, in whose place a build without them has slower ones. `defmt` adds `defmt::Format` to the
//! error types.
//!
//! When not to use it: for training, for f32 networks as a whole, or for layers beyond those that FORMAT.md lists.

#![no_std]
#![deny(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
#![cfg_attr(docsrs, feature(doc_cfg))]

/// Offsets in a file are u32 and become `usize` without loss.
const _: () = assert!(usize::BITS >= 32, "tamis-runtime needs a target of at least 32 bits");

mod accumulators;
mod align;
mod chess;
pub mod engine;
mod error;
mod exec;
mod features;
pub mod format;
mod input;
pub mod kernels;
#[cfg(feature = "defmt")]
mod loggable;
mod message;
mod name;
pub mod nnue;
mod num;
mod operations;
mod ops;
mod output;
mod plan;
pub mod raw;
pub mod signature;
mod step;
mod sure;
#[doc(hidden)]
pub mod testing;
mod workspace;

pub use align::Aligned;
pub use error::RunError;
pub use input::Input;
pub use ops::Operations;
pub use output::Output;
pub use plan::Plan;
pub use workspace::Workspace;
