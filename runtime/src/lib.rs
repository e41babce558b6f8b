//! Inference for quantised NNUE and dense networks, `no_std`, without allocation, with the same bits on every machine.
//!
//! [`format::Model::parse`] is the one door: it checks a `quantised.bin` and borrows it. [`Plan`] binds the model to a
//! tier of [`kernels`] and runs it: [`Plan::refresh`] and [`Plan::update`] keep accumulators, [`Plan::run`] evaluates.
//!
//! ```
//! # // A real file is embedded with include_model!; here only the shape of a program.
//! use tamis_runtime::{format::Model, kernels, Plan};
//! fn open(bytes: &[u8]) -> Result<Plan<'_>, tamis_runtime::format::ParseError> {
//!     Ok(Plan::new(Model::parse(bytes)?, kernels::best()))
//! }
//! # assert!(open(&[]).is_err());
//! ```
//!
//! Features add, and none changes a result. Dense integer layers always run. `accumulators` adds networks of lists of
//! features, `reals` layers of f32, and `general`, which implies both and is on by default, sparse and real inputs and
//! what networks of click models and trees compute with them. Without them the loader refuses such files, naming the
//! feature, and firmware is smaller. `messages`, on by default, is the words of the loader's errors; without it they
//! keep their variants and numbers, and `host-tools inspect` says the words. `defmt` adds `defmt::Format` to the error
//! types.
//!
//! A chess engine uses [`engine`], which keeps accumulators in step with make and unmake.
//!
//! When not to use it: for training, for f32 networks as a whole, or for layers beyond those that FORMAT.md lists.

#![no_std]
#![deny(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
#![cfg_attr(docsrs, feature(doc_cfg))]

/// Offsets in a file are u32 and become `usize` without loss.
const _: () = assert!(usize::BITS >= 32, "tamis-runtime needs a target of at least 32 bits");

mod align;
mod built;
pub mod engine;
mod error;
mod exec;
pub mod format;
pub mod kernels;
#[cfg(feature = "defmt")]
mod loggable;
pub mod nnue;
mod num;
mod ops;
mod output;
mod plan;
pub mod raw;
pub mod signature;
mod step;
#[doc(hidden)]
pub mod testing;
mod words;
mod workspace;

pub use align::Aligned;
pub use error::RunError;
pub use exec::{Input, Output};
pub use plan::Plan;
pub use workspace::Workspace;
