//! Reals that are worked out of integers, until something rounds them.

use super::grid::{Rows, rows};
use super::integers::{is_nearest, whole};
use super::wide::parts;
use super::words::word;
use super::{Building, Meaning};
use crate::graph::{Activation, Binary, Node, Op, Pooling, Value};
use crate::quantised::{QuantisedError, QuantisedOp, Quantity};
use crate::spatial::{Axis, Move, Sampling, Shape, Window};

/// Reals, a clip behind them, and where they then go.
#[derive(Debug, Clone)]
pub(super) struct Pending {
    /// Of the node that works them out.
    pub name: String,
    pub work: Work,
    /// What `work` makes, before it is moved.
    pub shape: Shape,
    pub low: f64,
    pub high: f64,
    pub moves: Vec<(Move, Shape)>,
}

/// What is worked out; each read is a value of integers with what it is.
#[derive(Debug, Clone)]
pub(super) enum Work {
    /// A convolution, or a dense layer where there is no window.
    Weights {
        read: usize,
        from: Quantity,
        window: Option<(Window, bool)>,
        groups: usize,
        rows: Rows,
    },
    /// The second one's sign.
    Sum {
        a: (usize, Quantity),
        b: (usize, Quantity),
        sign: f64,
    },
    Product {
        a: (usize, Quantity),
        b: (usize, Quantity),
    },
    /// With padding counted as 0, or not.
    Mean {
        read: usize,
        from: Quantity,
        window: Window,
        counts_padding: bool,
    },
    Function {
        read: usize,
        from: Quantity,
        activation: Activation,
    },
    Joined {
        parts: Vec<(usize, Quantity)>,
        axis: Axis,
    },
}

impl Pending {
    pub(super) fn of(name: &str, work: Work, shape: Shape) -> Box<Self> {
        let (low, high) = (f64::NEG_INFINITY, f64::INFINITY);
        Box::new(Self { name: name.to_owned(), work, shape, low, high, moves: Vec::new() })
    }
}

impl Building<'_> {
    /// What a node makes of reals that integers stand for.
    pub(super) fn worked_out(&mut self, value: Value, node: &Node) -> Result<Meaning, QuantisedError> {
        let shape = self.shapes[value];
        let mut reads = Vec::new();
        for read in &node.reads {
            let Meaning::Real(at, is) = self.meanings[*read].clone() else {
                let what = format!("{} of values that are not rounded before it", word(&node.op));
                return Err(self.no(node, &what, "quantise what it reads"));
            };
            reads.push((at, is));
        }
        let no = |what: &str| self.no(node, what, "quantise the float network with `host-tools quantise`");
        let Some((read, from)) = reads.first().copied() else { return Err(no("a constant beside a value")) };
        let alike = |a: Quantity, b: Quantity| (a.scale, a.zero_point, a.element) == (b.scale, b.zero_point, b.element);
        let all_alike = reads.iter().all(|(_, is)| alike(*is, from));
        let whole = whole(from);
        let made = Quantity { shape, ..from };
        let weighted = |weights, bias: &[f64], window, groups| match rows(weights, bias, from.scale) {
            Some(rows) if groups > 1 && parts(&rows.weights) > 1 => {
                Err(no("Conv in groups of weights that, less their zero point, leave −128 to 127,"))
            }
            Some(rows) => Ok(Work::Weights { read, from, window, groups, rows }),
            None => Err(no(
                "Conv, Gemm or MatMul of weights that, less their zero point, are no integers of −255 to 255 times a \
                 scale,",
            )),
        };
        let work = match &node.op {
            Op::Linear { weights, bias } => weighted(weights, bias, None, 1)?,
            Op::Convolution { window, groups, weights, bias } => {
                weighted(weights, bias, Some((*window, false)), *groups)?
            }
            Op::TransposedConvolution { window, groups: 1, weights, bias, .. } => {
                weighted(weights, bias, Some((*window, true)), 1)?
            }
            Op::Add if reads.len() == 2 => Work::Sum { a: reads[0], b: reads[1], sign: 1.0 },
            Op::Binary(Binary::Add) => Work::Sum { a: reads[0], b: reads[1], sign: 1.0 },
            Op::Binary(Binary::Sub) => Work::Sum { a: reads[0], b: reads[1], sign: -1.0 },
            Op::Binary(Binary::Mul) => Work::Product { a: reads[0], b: reads[1] },
            Op::Binary(binary @ (Binary::Max | Binary::Min)) if all_alike => {
                let op = if *binary == Binary::Max { QuantisedOp::Maximum } else { QuantisedOp::Minimum };
                let reads = reads.iter().map(|(at, _)| *at).collect();
                return Ok(Meaning::Real(self.push(&node.name, reads, made, op), made));
            }
            Op::Pool { window, kind: Pooling::Max } => {
                let op = QuantisedOp::MaxPool { window: *window, clamp: whole };
                return Ok(Meaning::Real(self.push(&node.name, vec![read], made, op), made));
            }
            Op::Pool { window, kind } => {
                let counts_padding = *kind == Pooling::AverageWithPadding;
                Work::Mean { read, from, window: *window, counts_padding }
            }
            Op::Concat { axis } => Work::Joined { parts: reads.clone(), axis: *axis },
            Op::Resize { sampling, coordinates, .. } => {
                let op = match sampling {
                    Sampling::Bilinear => QuantisedOp::ResizeBilinear(*coordinates),
                    Sampling::Nearest(rounding) if is_nearest(*rounding, *coordinates) => {
                        QuantisedOp::ResizeNearest(*coordinates)
                    }
                    Sampling::Nearest(_) => return Err(no("Resize to the nearest pixel by this rounding")),
                };
                return Ok(Meaning::Real(self.push(&node.name, vec![read], made, op), made));
            }
            other => return Err(no(&word(other))),
        };
        Ok(Meaning::Pending(Pending::of(&node.name, work, shape)))
    }
}
