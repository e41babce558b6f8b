//! A second reader of `quantised.bin`, written from FORMAT.md alone: plain byte indexing, constants of its own, nothing
//! of the runtime. It is slow and short, and its purpose is to disagree when specification and runtime drift apart.
//!
//! Numbers in comments are the sections of FORMAT.md. It reads what is right and is not made to refuse what is
//! wrong, but for the claim that every reader must check.

mod chess;
mod claims;
mod exponential;
mod file;
mod general;
mod maps;
mod operations;
mod relations;
mod signature;
mod stockfish;

pub use chess::{bucket_of, bucket_of_piece_count, feature};
pub use file::{Container, checksum};
pub use operations::{Given, Numbers};
pub use relations::{OnSquare, relations};
