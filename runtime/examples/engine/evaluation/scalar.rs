//! What an engine without the library has: the loops of the trainer's own example of inference, written from what they
//! compute.
//!
//! ```text
//! accumulator = bias + Σ row(feature)            copied for each move, rows added and taken away in place,
//!                                               one number at a time
//! score       = ((Σ clamp(x, 0, 255)² · w) / 255 + bias) · 400 / (255 · 64)
//! ```
//!
//! The side to move's accumulator meets the first half of the weights. Integers, so every score equals the library's.
//! It knows one kind of network, this engine's own, and reads its numbers from the same container.

use super::{Evaluator, Fault};
use crate::MAX_PLY;
use crate::network::HIDDEN;
use crate::pieces::{self, Moved};
use cozy_chess::Board;
use tamis_runtime::engine::{AnyNetwork, Colour, Piece};
use tamis_runtime::format::Model;
use tamis_runtime::raw::{activation, element, op};

/// Pieces of both colours on every square.
const FEATURES: usize = 768;
/// What an accumulator's 1.0 is, and a weight's.
const ACCUMULATOR_ONE: i32 = 255;
const WEIGHT_ONE: i32 = 64;
/// Centipawns of the network's 1.0.
const SCALE: i32 = 400;

#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Column([i16; HIDDEN]);

impl Column {
    fn add(&mut self, row: &Self) {
        for (sum, weight) in self.0.iter_mut().zip(&row.0) {
            *sum = sum.wrapping_add(*weight);
        }
    }

    fn remove(&mut self, row: &Self) {
        for (sum, weight) in self.0.iter_mut().zip(&row.0) {
            *sum = sum.wrapping_sub(*weight);
        }
    }

    /// `Σ clamp(x, 0, 255)² · w`
    fn dot(&self, weights: &Self) -> i32 {
        let mut sum = 0;
        for (x, weight) in self.0.iter().zip(&weights.0) {
            let clipped = i32::from(*x).clamp(0, ACCUMULATOR_ONE);
            sum += clipped * clipped * i32::from(*weight);
        }
        sum
    }
}

/// A head of one output bucket.
#[derive(Debug, Clone, Copy)]
struct ScalarHead {
    /// For the side to move and for the other.
    weights: [Column; 2],
    bias: i32,
}

/// A position of the line: the accumulators of white and black, and how many pieces stand.
#[derive(Debug, Clone, Copy)]
struct Ply {
    accumulators: [Column; 2],
    pieces: usize,
}

pub struct Scalar {
    rows: Vec<Column>,
    bias: Column,
    heads: Vec<ScalarHead>,
    /// The head of a number of pieces.
    buckets: [u8; 33],
    line: Vec<Ply>,
}

impl Scalar {
    /// Of this engine's own kind of network.
    pub fn new(net: &AnyNetwork<'_>) -> Result<Self, Box<Fault>> {
        Self::read(net.plan().model()).ok_or(Box::new(Fault::Unsupported))
    }

    fn read(model: &Model<'_>) -> Option<Self> {
        let column = |from: &[i16]| from.try_into().ok().map(Column);
        let ([block], [dot, rescale]) = (model.blocks(), model.ops()) else { return None };
        let is_this_kind = (dot.kind, dot.activation) == (op::ACTIVATE_DOT, activation::SCRELU)
            && dot.params[0] == ACCUMULATOR_ONE as u32
            && rescale.kind == op::RESCALE
            && rescale.params[..3] == [ACCUMULATOR_ONE, SCALE, ACCUMULATOR_ONE * WEIGHT_ONE].map(|value| value as u32)
            && model.input().perspectives == 2
            && model.input().order == 0;
        let (rows, bias) = (model.tensor(block.weights)?, model.tensor(block.bias)?);
        let (weights, head_bias) = (model.tensor(dot.weights)?, model.tensor(rescale.bias)?);
        let heads = (0..model.input().bucket_count as usize).map(|bucket| {
            let (own, other) = weights.bank(bucket).split_at_checked(HIDDEN)?;
            let bias = match u32::from(head_bias.record.element) {
                element::I16 => i32::from(*head_bias.bank::<i16>(bucket).first()?),
                _ => *head_bias.bank::<i32>(bucket).first()?,
            };
            Some(ScalarHead { weights: [column(own)?, column(other.get(..HIDDEN)?)?], bias })
        });
        is_this_kind.then_some(Self {
            rows: (0..FEATURES).map(|feature| column(rows.row(feature))).collect::<Option<_>>()?,
            bias: column(bias.bank::<i16>(0).get(..HIDDEN)?)?,
            heads: heads.collect::<Option<_>>()?,
            buckets: *model.bucket_table()?,
            line: Vec::with_capacity(MAX_PLY),
        })
    }

    fn top(&mut self) -> Ply {
        self.line.last().copied().unwrap_or(Ply { accumulators: [self.bias; 2], pieces: 0 })
    }

    fn change(&self, ply: &mut Ply, added: impl IntoIterator<Item = Piece>, removed: &[Piece]) {
        for piece in added {
            for (colour, accumulator) in Colour::BOTH.into_iter().zip(&mut ply.accumulators) {
                accumulator.add(&self.rows[feature(colour, piece)]);
            }
            ply.pieces += 1;
        }
        for piece in removed {
            for (colour, accumulator) in Colour::BOTH.into_iter().zip(&mut ply.accumulators) {
                accumulator.remove(&self.rows[feature(colour, *piece)]);
            }
            ply.pieces -= 1;
        }
    }
}

/// A piece in a colour's eyes: own before the other's, the kind, the square from that colour's side of the board.
fn feature(eyes: Colour, piece: Piece) -> usize {
    let is_other = piece.colour() != eyes;
    let square = if eyes == Colour::White { piece.square() } else { piece.square() ^ 56 };
    384 * usize::from(is_other) + 64 * piece.kind() as usize + usize::from(square)
}

impl Evaluator for Scalar {
    fn refresh(&mut self, board: &Board) -> Result<(), Box<Fault>> {
        self.line.clear();
        let mut ply = self.top();
        self.change(&mut ply, pieces::all(board), &[]);
        self.line.push(ply);
        Ok(())
    }

    fn push(&mut self, moved: &Moved) -> Result<(), Box<Fault>> {
        let mut ply = self.top();
        self.change(&mut ply, moved.added.iter().copied(), &moved.removed);
        self.line.push(ply);
        Ok(())
    }

    fn push_null(&mut self) -> Result<(), Box<Fault>> {
        let ply = self.top();
        self.line.push(ply);
        Ok(())
    }

    fn goto(&mut self, ply: usize) -> Result<(), Box<Fault>> {
        self.line.truncate(1 + ply);
        Ok(())
    }

    fn evaluate(&mut self, board: &Board) -> Result<i32, Box<Fault>> {
        let Some(ply) = self.line.last() else { return Ok(0) };
        let head = &self.heads[usize::from(self.buckets[ply.pieces])];
        let side = board.side_to_move() as usize;
        let (own, other) = (&ply.accumulators[side], &ply.accumulators[1 - side]);
        let sum = own.dot(&head.weights[0]) + other.dot(&head.weights[1]);
        Ok((sum / ACCUMULATOR_ONE + head.bias) * SCALE / (ACCUMULATOR_ONE * WEIGHT_ONE))
    }
}
