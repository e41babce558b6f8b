//! Front ends: what each kind of network is as the one [`Program`](crate::program::Program) of integers.
//!
//! Graphs, of which bullet's dense networks are some, are lowered where they are quantised, in `quantise::graph`,
//! because there the choice of integers and of operations is one.

mod bullet;
pub mod nnue;
mod quantised;

use crate::program::{Element, Operation, Program, ProgramNode, ProgramValue, Read};
use crate::spatial::Shape;

impl Program {
    /// Appends an operation; the number of the value that it makes, whose unit is 1.
    fn push(&mut self, name: String, reads: Vec<Read>, op: Operation, element: Element, len: usize) -> usize {
        let value =
            ProgramValue { element, shape: Shape::vector(len), units: vec![1.0], zero: 0, layer: None, kept: None };
        self.nodes.push(ProgramNode { name, reads, op, value });
        self.nodes.len()
    }
}
