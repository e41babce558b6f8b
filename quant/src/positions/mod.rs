//! Chess positions: what examples are made of.
//!
//! A [`Position`] is a board as the side to move sees it, read from FEN ([`Position::from_fen`], [`fen_lines`]) or from
//! BulletFormat ([`Position::from_record`], [`records`]), the 32-byte records that bullet trains on.

mod bulletformat;
mod error;
mod fen;
mod position;

pub use bulletformat::{RECORD_LEN_BYTES, Records, records};
pub use error::{PositionError, Square};
pub use fen::fen_lines;
pub use position::{MAX_MEN, Position};
