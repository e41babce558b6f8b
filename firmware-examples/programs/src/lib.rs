//! What the firmware examples do. A module is a program, and the log that every board must print lies beside it.
//!
//! Nothing here knows a board: a board's `src/bin` hands over from its entry point. Logs name no tier and no count,
//! because a network has the same bits everywhere; what differs between boards is measured from outside.
#![no_std]
#![deny(unsafe_code)]

#[cfg(feature = "logs")]
pub mod bad_model;
#[cfg(feature = "logs")]
pub mod digits;
#[cfg(feature = "logs")]
mod error;
#[cfg(feature = "given")]
pub mod given;
#[cfg(feature = "logs")]
mod hash;
#[cfg(feature = "logs")]
pub mod keywords;
#[cfg(feature = "logs")]
pub mod layers;
#[cfg(feature = "logs")]
pub mod mark;
pub mod minimal;
#[cfg(feature = "convolutions")]
pub mod minimal_keywords;
#[cfg(feature = "softmax")]
pub mod minimal_softmax;
#[cfg(feature = "reference-network")]
pub mod nnue;
#[cfg(feature = "reference-network")]
pub mod plies;
#[cfg(feature = "logs")]
pub mod tiers;

#[cfg(feature = "logs")]
pub use error::Error;
