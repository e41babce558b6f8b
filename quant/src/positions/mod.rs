//! Chess positions: what examples are made of.
//!
//! A [`Position`] is a board as the side to move sees it, read from FEN ([`Position::from_fen`]), from lines of text
//! with or without a score and a result ([`Position::from_line`], [`lines`]), or from BulletFormat
//! ([`Position::from_record`], [`records`]), the 32-byte records that bullet trains on. [`is_text`] tells the two
//! apart.

mod bulletformat;
mod error;
mod fen;
mod line;
mod position;

pub use bulletformat::{RECORD_LEN_BYTES, Records, records};
pub use error::{PositionError, Square};
pub use line::{is_text, lines, numbered_lines};
pub use position::{MAX_OF_A_SIDE, MAX_PIECES, Position};
