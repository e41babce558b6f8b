//! The C interface of `tamis-runtime`. `include/tamis.h` is made from these sources and checked in; README.md is for
//! its users.
//!
//! Memory is the caller's: a size function, a create function that takes memory at a multiple of 64, a handle that
//! points into it. Nothing is allocated, so nothing has to be freed. A call ends in a [`Status`]; what it refuses is
//! left as it was.
//!
//! # Panics
//!
//! The runtime does not panic; if it did, `guard` would catch it, which is why this crate is built with std: Rust ends
//! a program whose panic reaches an `extern "C"` function. In a build with `panic = "abort"` it would end it, too.
//!
//! # What a caller promises
//!
//! It is the same for all functions, so it stands here and at the head of the header, not at each of them.
//!
//! - A pointer is NULL, or points at as many readable elements as the call says, writable where the function writes.
//! - What one call is given does not overlap.
//! - A handle's memory, and the file that a network was loaded from, stay where they are, unchanged from outside, while
//!   the handle is in use.
//! - A state is used by one thread at a time. A network is used by any number.
//!
//! What else can be wrong, a null or misaligned pointer, a length, a handle that is none, a number out of its range, is
//! found and refused. The module `memory` is where a pointer becomes a reference, and argues why it may.

#![allow(clippy::missing_safety_doc, reason = "what a caller promises is the same for every function and stands above")]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod abi;
mod failure;
mod guard;
mod head;
mod load;
mod memory;
mod model;
mod net;
mod state;
mod status;
mod tier;

pub use abi::TAMIS_ABI_VERSION;
pub use head::State;
pub use model::{
    Model, ModelShape, Output, TAMIS_MODEL_SIZE, tamis_model_describe, tamis_model_load, tamis_model_refresh,
    tamis_model_run_accumulators, tamis_model_run_accumulators_rows, tamis_model_run_f32, tamis_model_run_i8,
    tamis_model_run_sparse, tamis_model_run_u8, tamis_model_size, tamis_model_update,
};
pub use net::{
    Net, Shape, TAMIS_NET_SIZE, tamis_net_checksum, tamis_net_expect, tamis_net_is_real, tamis_net_keys,
    tamis_net_load, tamis_net_shape, tamis_net_size, tamis_net_tier,
};
pub use state::{
    tamis_state_create, tamis_state_evaluate, tamis_state_evaluate_bucket, tamis_state_goto, tamis_state_height,
    tamis_state_message, tamis_state_output_rows, tamis_state_output_rows_f32, tamis_state_outputs,
    tamis_state_outputs_f32, tamis_state_pop, tamis_state_push, tamis_state_push_null, tamis_state_refresh,
    tamis_state_size,
};
pub use status::{Status, tamis_abi_version, tamis_status_text};
pub use tier::tamis_tier_name;
