//! Tamis on the host: from a training checkpoint to a quantised network, a module a stage.
//!
//! ```text
//! checkpoint --import--> float --...--> quantised.bin
//!                ^
//!        arch: what the training script said
//! ```
//!
//! Every stage ends in a value that can be looked at. Nothing here defines arithmetic, layout or feature order that
//! the reader of `quantised.bin` must share: those come from `tamis_runtime`.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod arch;
pub mod calibrate;
pub mod constant;
pub mod data;
pub mod error_kind;
pub mod float;
pub mod graph;
pub mod import;
pub mod integer;
mod lower;
pub mod pack;
pub mod parallel;
pub mod permute;
pub mod positions;
pub mod program;
pub mod proof;
pub mod quantise;
pub mod quantised;
pub mod remark;
pub mod removal;
pub mod run;
pub mod score;
pub mod spatial;
pub mod stockfish;
pub mod verify;
