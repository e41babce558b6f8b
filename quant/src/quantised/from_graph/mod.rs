//! Graphs of reals that are rounded where a file rounds, as ONNX's QuantizeLinear and QLinear forms are, as networks of
//! integers.
//!
//! A value of the graph is the input, integers as reals, reals that integers stand for, or reals that are worked out of
//! those and not yet rounded. What is not rounded is [`Pending`]: the rounding that reads it says its scale. Weights
//! are integers again by their grid, see [`grid`].

mod emit;
mod grid;
mod integers;
mod pending;
mod reals;
mod wide;
mod words;

pub use reals::without_roundings;

use super::{QuantisedError, QuantisedGraph, QuantisedNode, QuantisedOp, Quantity, tables};
use crate::graph::{Activation, Fill, Graph, Input, Node, Op, Value};
use crate::program::Element;
use crate::remark::Remark;
use crate::spatial::{Move, Shape};
use pending::{Pending, Work};

/// The integers of a graph with roundings. input: what the file gives as bytes, where it does.
///
/// # Errors
/// [`QuantisedError::Float`] of a graph without a rounding, else [`QuantisedError::Unsupported`] naming the node.
pub fn from_graph(graph: &Graph, input: Option<Element>) -> Result<QuantisedGraph, QuantisedError> {
    let rounds = |node: &Node| matches!(node.op, Op::Quantise { .. });
    if input.is_none() && !graph.nodes.iter().any(rounds) {
        return Err(QuantisedError::Float);
    }
    let Input::Dense { .. } = graph.input else { return Err(QuantisedError::Float) };
    let mut building = Building {
        graph,
        shapes: graph.shapes(),
        stored: input,
        input: None,
        rounded: None,
        nodes: Vec::new(),
        meanings: vec![Meaning::Input(Vec::new())],
        remarks: Vec::new(),
    };
    let (_, reals) = reals::reals(graph, input.is_some());
    let last = before_function(graph);
    for (index, node) in graph.nodes[..last].iter().enumerate() {
        let meaning = building.node(index + 1, node)?;
        if let Meaning::Stored(at) | Meaning::Real(at, _) = meaning {
            building.stands_for(at, reals[index + 1]);
        }
        building.meanings.push(meaning);
    }
    if last != graph.output() {
        let text = "the function at the end is left out: the outputs are its logits".to_owned();
        building.remarks.push(Remark::Decided(text));
    }
    let output = building.output(last)?;
    building.stands_for(output, reals[last]);
    let given = building.input.unwrap_or(Quantity {
        shape: building.shapes[0],
        element: Element::F32,
        scale: 1.0,
        zero_point: 0,
    });
    let Building { nodes, remarks, .. } = building;
    Ok(QuantisedGraph { name: graph.name.clone(), inputs: vec![("input".to_owned(), given)], nodes, output, remarks })
}

/// The value that comes out: a softmax or a sigmoid of reals at the end is left out, and a softmax whose probabilities
/// are rounded, with their rounding. A sigmoid between integers is a table.
fn before_function(graph: &Graph) -> Value {
    let scores = graph.scores();
    let is_softmax = |node: &Node| {
        let is = matches!(node.op, Op::Activation(Activation::Softmax | Activation::LogSoftmax));
        is && node.reads.first() == Some(&scores)
    };
    if graph.nodes.iter().any(is_softmax) { scores } else { graph.logits() }
}

/// What a value of the graph is.
#[derive(Debug, Clone)]
enum Meaning {
    /// The input, moved.
    Input(Vec<(Move, Shape)>),
    /// Integers, as reals.
    Stored(usize),
    /// What integers stand for.
    Real(usize, Quantity),
    /// Reals that are not rounded yet.
    Pending(Box<Pending>),
}

struct Building<'g> {
    graph: &'g Graph,
    shapes: Vec<Shape>,
    /// Of the input, where it is given as bytes.
    stored: Option<Element>,
    /// What the input is, once something has read it as bytes.
    input: Option<Quantity>,
    /// What the input of reals became when it was rounded.
    rounded: Option<(usize, Quantity)>,
    nodes: Vec<QuantisedNode>,
    meanings: Vec<Meaning>,
    remarks: Vec<Remark>,
}

impl Building<'_> {
    fn node(&mut self, value: Value, node: &Node) -> Result<Meaning, QuantisedError> {
        let shape = self.shapes[value];
        let first = match node.reads[..] {
            [first, ..] => self.meanings[first].clone(),
            [] => return Err(self.no(node, "a constant beside a value", "fold it into a layer")),
        };
        match &node.op {
            Op::Quantise { scales, zero_points, low, high } => {
                let to = self.quantity(node, shape, (scales, zero_points), [*low, *high])?;
                self.rounded(node, first, to)
            }
            Op::PerChannel { factors, offsets } => self.dequantised(node, first, factors, offsets),
            Op::Flatten | Op::Reshape(_) => self.moved(node, first, Move::Reshape(shape), shape),
            Op::Transpose(order) => self.moved(node, first, Move::Transpose(*order), shape),
            Op::Slice { start, size, step } => {
                let by = Move::Slice { start: *start, size: *size, step: *step };
                self.moved(node, first, by, shape)
            }
            _ if matches!(first, Meaning::Stored(_)) => self.of_integers(value, node),
            Op::Activation(activation) => self.activated(node, first, *activation),
            // A byte of the border, whatever it stands for.
            Op::Pad { .. } if matches!(first, Meaning::Input(_)) && self.stored.is_some() => {
                Err(self.no(node, "Pad of an input of integers", "put it behind DequantizeLinear"))
            }
            Op::Pad { before, after, fill: Fill::Value(0.0) } => {
                self.moved(node, first, Move::Pad { before: *before, after: *after }, shape)
            }
            _ => self.worked_out(value, node),
        }
    }

    /// Scale and zero point of a rounding, one of each.
    fn quantity(
        &self,
        node: &Node,
        shape: Shape,
        (scales, zero_points): (&[f64], &[f64]),
        ends: [f64; 2],
    ) -> Result<Quantity, QuantisedError> {
        let element = match ends {
            [-128.0, 127.0] => Element::I8,
            [0.0, 255.0] => Element::U8,
            _ => return Err(self.no(node, "QuantizeLinear to anything but bytes", "quantise to int8 or uint8")),
        };
        if scales.iter().any(|scale| *scale != scales[0]) || zero_points.iter().any(|zero| *zero != zero_points[0]) {
            return Err(self.no(node, "QuantizeLinear with a scale a channel", "give values one scale"));
        }
        Ok(Quantity { shape, element, scale: scales[0] as f32, zero_point: zero_points[0] as i32 })
    }

    fn rounded(&mut self, node: &Node, read: Meaning, to: Quantity) -> Result<Meaning, QuantisedError> {
        match read {
            Meaning::Input(moves) => self.input_rounded(node, &moves, to).map(Meaning::Stored),
            Meaning::Real(at, from) => Ok(Meaning::Stored(self.rescaled(node, at, from, to))),
            Meaning::Pending(pending) => self.emit(*pending, to).map(Meaning::Stored),
            Meaning::Stored(_) => Err(self.no(node, "QuantizeLinear of integers", "quantise reals")),
        }
    }

    /// The input of reals is rounded before it is moved, since that gives the same bytes.
    fn input_rounded(&mut self, node: &Node, moves: &[(Move, Shape)], to: Quantity) -> Result<usize, QuantisedError> {
        let given = Quantity { shape: self.shapes[0], ..to };
        if self.stored.is_some() || self.rounded.is_some_and(|(_, rounded)| rounded != given) {
            return Err(self.no(node, "QuantizeLinear of an input in two ways", "quantise the input once"));
        }
        let at = match self.rounded {
            Some((at, _)) => at,
            None => self.push(&format!("{}.input", node.name), vec![0], given, QuantisedOp::Quantise),
        };
        self.rounded = Some((at, given));
        Ok(self.all_moved(&node.name, at, given, moves).0)
    }

    /// Moves, one behind the other, and what they make.
    fn all_moved(&mut self, name: &str, at: usize, is: Quantity, moves: &[(Move, Shape)]) -> (usize, Quantity) {
        moves.iter().fold((at, is), |(at, is), (by, shape)| {
            let (is, op) =
                (Quantity { shape: *shape, ..is }, QuantisedOp::Moved { by: by.clone(), fill: is.zero_point });
            (self.push(name, vec![at], is, op), is)
        })
    }

    /// Integers of one scale as those of another.
    fn rescaled(&mut self, node: &Node, at: usize, from: Quantity, to: Quantity) -> usize {
        if (from.scale, from.zero_point, from.element) == (to.scale, to.zero_point, to.element) {
            return at;
        }
        let table = tables::even(from, to, |x| x);
        self.push(&node.name, vec![at], to, QuantisedOp::Table(table))
    }

    fn dequantised(
        &mut self,
        node: &Node,
        read: Meaning,
        factors: &[f64],
        offsets: &[f64],
    ) -> Result<Meaning, QuantisedError> {
        let (factor, offset) = (factors[0], offsets[0]);
        let is_one = factors.iter().all(|other| *other == factor) && offsets.iter().all(|other| *other == offset);
        let zero = -offset / factor;
        if !is_one || factor.is_nan() || factor <= 0.0 || zero.fract() != 0.0 {
            let what = "a factor or an offset a channel that no layer takes in (DequantizeLinear, Mul or Add)";
            return Err(self.no(node, what, "fold it into a layer"));
        }
        let (scale, zero_point) = (factor as f32, zero as i32);
        match read {
            Meaning::Stored(at) => {
                let is = self.quantity_of(at);
                if (is.scale, is.zero_point) != (scale, zero_point) {
                    let what = "DequantizeLinear by another scale or zero point than QuantizeLinear's";
                    return Err(self.no(node, what, "give both the same"));
                }
                Ok(Meaning::Real(at, is))
            }
            Meaning::Input(moves) if self.stored.is_some() => {
                let element = self.stored.unwrap_or(Element::U8);
                let given = Quantity { shape: self.shapes[0], element, scale, zero_point };
                if self.input.is_some_and(|input| input != given) {
                    return Err(self.no(node, "DequantizeLinear of an input in two ways", "read the input once"));
                }
                self.input = Some(given);
                let (at, is) = self.all_moved(&node.name, 0, given, &moves);
                Ok(Meaning::Real(at, is))
            }
            _ => Err(self.no(node, "a factor of reals that are not rounded", "fold it into a layer")),
        }
    }

    /// A clip of what is pending, a function of what is not.
    fn activated(&mut self, node: &Node, read: Meaning, activation: Activation) -> Result<Meaning, QuantisedError> {
        let clip = match activation {
            Activation::Relu => Some((0.0, f64::INFINITY)),
            Activation::Crelu => Some((0.0, 1.0)),
            Activation::Clip { low, high } => Some((low, high)),
            _ => None,
        };
        match (read, clip) {
            (Meaning::Pending(pending), Some((low, high))) => {
                let (low, high) = (pending.low.max(low), pending.high.min(high));
                Ok(Meaning::Pending(Box::new(Pending { low, high, ..*pending })))
            }
            (Meaning::Real(at, from), _) if !matches!(activation, Activation::Softmax | Activation::LogSoftmax) => {
                Ok(Meaning::Pending(Pending::of(&node.name, Work::Function { read: at, from, activation }, from.shape)))
            }
            _ => {
                let what = format!("the function {} of values that are not rounded before it", activation.word());
                Err(self.no(node, &what, "quantise what it reads and what it makes"))
            }
        }
    }

    fn moved(&mut self, node: &Node, read: Meaning, by: Move, shape: Shape) -> Result<Meaning, QuantisedError> {
        Ok(match read {
            Meaning::Input(mut moves) => {
                moves.push((by, shape));
                Meaning::Input(moves)
            }
            Meaning::Pending(mut pending) => {
                pending.moves.push((by, shape));
                Meaning::Pending(pending)
            }
            Meaning::Real(at, is) => {
                let (at, is) = self.all_moved(&node.name, at, is, &[(by, shape)]);
                Meaning::Real(at, is)
            }
            Meaning::Stored(at) => {
                let is = self.quantity_of(at);
                Meaning::Stored(self.all_moved(&node.name, at, is, &[(by, shape)]).0)
            }
        })
    }

    /// The value that comes out; integers as reals are those with a scale of 1.
    fn output(&mut self, last: Value) -> Result<usize, QuantisedError> {
        let name = last.checked_sub(1).map_or("input", |node| self.graph.nodes[node].name.as_str()).to_owned();
        match self.meanings[last].clone() {
            Meaning::Real(at, _) => Ok(at),
            Meaning::Stored(at) => {
                let is = Quantity { scale: 1.0, zero_point: 0, ..self.quantity_of(at) };
                let op = QuantisedOp::Moved { by: Move::Reshape(is.shape), fill: 0 };
                Ok(self.push(&format!("{name}.stored"), vec![at], is, op))
            }
            Meaning::Pending(pending) => self.sums(&name, *pending),
            Meaning::Input(_) => Err(QuantisedError::Unsupported {
                node: name,
                what: "an output that is the input".to_owned(),
                instead: "leave the network out",
            }),
        }
    }

    fn quantity_of(&self, at: usize) -> Quantity {
        match at.checked_sub(1) {
            Some(node) => self.nodes[node].makes,
            None => self.input.unwrap_or_else(|| unreachable!("the input is known once it is read")),
        }
    }

    /// Says of the node that makes a value what it stands for, if nothing has said it before.
    fn stands_for(&mut self, at: usize, layer: Value) {
        if let Some(node) = at.checked_sub(1).and_then(|node| self.nodes.get_mut(node)) {
            node.layer.get_or_insert(layer);
        }
    }

    /// Appends a node; its value.
    fn push(&mut self, name: &str, reads: Vec<usize>, makes: Quantity, op: QuantisedOp) -> usize {
        self.nodes.push(QuantisedNode { name: name.to_owned(), reads, makes, op, layer: None });
        self.nodes.len()
    }

    fn no(&self, node: &Node, what: &str, instead: &'static str) -> QuantisedError {
        QuantisedError::Unsupported { node: node.name.clone(), what: what.to_owned(), instead }
    }
}
