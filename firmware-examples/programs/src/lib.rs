//! What the firmware examples do. A module is a program, and the log that every board must print lies beside it.
//!
//! Nothing here knows a board: a board's `src/bin` hands over from its entry point. Logs name no tier and no count, because a
//! network has the same bits everywhere; what differs between boards is measured from outside.
#![no_std]
#![deny(unsafe_code)]

pub mod digits;
mod error;
pub mod layers;
pub mod mark;
#[cfg(feature = "reference-network")]
pub mod nnue;
pub mod tiers;

pub use error::Error;
