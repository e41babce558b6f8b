//! Networks whose integers are given, as programs: bit for bit where the runtime has the operation, else refused by
//! name, or, where the difference is known and small, with a remark that says it.
//!
//! What a file repeats along axes, constants and other zero points of the same bytes are made of operations that there
//! are: moves with steps of 0, convolutions of weights that are 0, tables that change nothing.

mod constants;
mod ends;
mod layers;
mod moves;
mod pairs;
mod rounding;

use crate::program::{Element, Operation, Program, ProgramInput, ProgramNode, ProgramValue, Read};
use crate::quantised::{QuantisedError, QuantisedGraph, QuantisedNode, QuantisedOp, Quantity, tables};
use crate::remark::Remark;
use crate::spatial::Shape;

impl QuantisedGraph {
    /// The program of its integers, and what a person should know of the difference to the file: a softmax at the end
    /// that is left out, operations whose integers may differ, and by how much. description: of the network of reals
    /// that the integers stand for, as the container carries it.
    ///
    /// The last operation turns the output's integers into reals, if it is not i32; they are what it reads.
    ///
    /// # Errors
    /// [`QuantisedError`] naming the node and what the runtime cannot compute.
    pub fn lower(&self, description: &str) -> Result<(Program, Vec<Remark>), QuantisedError> {
        let mut lowering = Lowering {
            graph: self,
            input: ProgramInput::Dense { shape: Shape::vector(0), element: Element::F32, unit: 1.0, zero: 0 },
            nodes: Vec::new(),
            located: vec![None; self.inputs.len() + self.nodes.len()],
            remarks: self.remarks.clone(),
            differing: (0, 0),
        };
        let output = lowering.without_softmax()?;
        let needed = self.needed(output);
        lowering.open(&needed)?;
        for (index, node) in self.nodes.iter().enumerate() {
            let value = self.inputs.len() + index;
            if needed[value] && lowering.located[value].is_none() {
                let held = lowering.node(node)?;
                lowering.stands_for(held.at, node);
                lowering.located[value] = Some(held);
            }
        }
        lowering.close(output);
        lowering.remark_differing();
        let Lowering { input, nodes, remarks, .. } = lowering;
        let program = Program {
            name: self.name.clone(),
            description: description.to_owned(),
            header: Vec::new(),
            input,
            transformer: None,
            nodes,
            notes: Vec::new(),
            keeps_units: true,
        };
        Ok((program, remarks))
    }

    /// The values that one follows from.
    fn needed(&self, output: usize) -> Vec<bool> {
        let mut needed = vec![false; self.inputs.len() + self.nodes.len()];
        needed[output] = true;
        for (index, node) in self.nodes.iter().enumerate().rev() {
            if needed[self.inputs.len() + index] {
                node.reads.iter().for_each(|read| needed[*read] = true);
            }
        }
        needed
    }
}

/// Where a value's elements are, in their order; the program's value may have another shape.
#[derive(Debug, Clone, Copy)]
struct Located {
    at: usize,
    is: Quantity,
}

struct Lowering<'g> {
    graph: &'g QuantisedGraph,
    input: ProgramInput,
    nodes: Vec<ProgramNode>,
    /// Of each value of the graph.
    located: Vec<Option<Located>>,
    remarks: Vec<Remark>,
    /// Sums that become other integers than engines make of them, and how many sums there can be.
    differing: (u64, u64),
}

impl Lowering<'_> {
    fn node(&mut self, node: &QuantisedNode) -> Result<Located, QuantisedError> {
        let no = |what: &str, instead| Err(unsupported(&node.name, what, instead));
        match &node.op {
            QuantisedOp::Convolution { window, groups, weights } => {
                self.convolution(node, (*window, false), *groups, weights)
            }
            QuantisedOp::TransposedConvolution { window, weights } => {
                self.convolution(node, (*window, true), 1, weights)
            }
            QuantisedOp::Linear(weights) => self.linear(node, weights),
            QuantisedOp::Sum { a, b, shift, clamp } => self.sum(node, [*a, *b], *shift, *clamp),
            QuantisedOp::Product { clamp, .. } => self.product(node, *clamp),
            QuantisedOp::Maximum | QuantisedOp::Minimum => self.extreme(node),
            QuantisedOp::MaxPool { window, clamp } => self.pool(node, *window, true, *clamp),
            QuantisedOp::AveragePool { window, clamp } => self.pool(node, *window, false, *clamp),
            QuantisedOp::Mean { over, .. } => self.mean(node, *over),
            QuantisedOp::Table(table) => self.table(node, table),
            QuantisedOp::Requantise { multiplier } => {
                let (from, to) = (self.read(node, 0).is, node.makes);
                let differing = tables::differing_in_vectors(from, to, *multiplier);
                if differing > 0 {
                    let text = format!(
                        "`{}`: rounded as in LiteRT's reference kernel; of 16 values at once, which LiteRT rounds \
                         otherwise, {differing} of 256 integers differ by 1",
                        node.name
                    );
                    self.remarks.push(Remark::Decided(text));
                }
                self.table(node, &tables::requantised(from, to, *multiplier))
            }
            QuantisedOp::Moved { by, fill } => self.moved(node, by, *fill),
            QuantisedOp::Concat(axis) => Ok(self.joined(node, *axis)),
            QuantisedOp::ResizeNearest(coordinates) => Ok(self.nearest(node, *coordinates)),
            QuantisedOp::ResizeBilinear(coordinates) => Ok(self.bilinear(node, *coordinates)),
            QuantisedOp::Constant(values) => self.constant(node, values),
            QuantisedOp::Softmax { .. } => {
                no("the operator SOFTMAX anywhere but at the end", "end the network before it, and do it in f32")
            }
            QuantisedOp::Quantise => {
                no("the operator QUANTIZE of a value that is worked out in f32", "quantise the whole network")
            }
            QuantisedOp::Dequantise => {
                no("the operator DEQUANTIZE anywhere but at the end", "quantise the whole network")
            }
        }
    }

    /// Says of a value what a node stands for, if nothing has said it before. A table that stands for nothing by itself
    /// has what it reads in another scale.
    fn stands_for(&mut self, at: usize, node: &QuantisedNode) {
        let is_table = matches!(node.op, QuantisedOp::Table(_) | QuantisedOp::Requantise { .. });
        let same = || {
            let read = node.reads.first().filter(|_| is_table)?;
            self.nodes[self.located[*read]?.at.checked_sub(1)?].value.layer
        };
        let layer = node.layer.or_else(same);
        if let Some(node) = at.checked_sub(1).map(|node| &mut self.nodes[node]) {
            node.value.layer = node.value.layer.or(layer);
        }
    }

    /// What a node reads, which stands before it and is lowered.
    fn read(&self, node: &QuantisedNode, place: usize) -> Located {
        self.located[node.reads[place]].unwrap_or_else(|| unreachable!("`{}` reads what stands before it", node.name))
    }

    /// Appends an operation; the number of the value that it makes.
    fn push(&mut self, name: &str, reads: &[usize], op: Operation, made: Quantity) -> usize {
        let taken = |name: &str| self.nodes.iter().any(|node| node.name == name);
        let (mut free, mut count) = (name.to_owned(), 1);
        while taken(&free) {
            count += 1;
            free = format!("{name}.{count}");
        }
        let Quantity { shape, element, scale, zero_point } = made;
        let value = ProgramValue { element, shape, units: vec![scale], zero: zero_point, layer: None, kept: None };
        let reads = reads.iter().copied().map(Read::whole).collect();
        self.nodes.push(ProgramNode { name: free, reads, op, value });
        self.nodes.len()
    }

    fn shape(&self, at: usize) -> Shape {
        match (at.checked_sub(1), self.input) {
            (Some(node), _) => self.nodes[node].value.shape,
            (None, ProgramInput::Dense { shape, .. }) => shape,
            (None, _) => unreachable!("the input is a map of bytes"),
        }
    }

    /// What the input is.
    fn given(&self) -> Quantity {
        match self.input {
            ProgramInput::Dense { shape, element, unit, zero } => {
                Quantity { shape, element, scale: unit, zero_point: zero }
            }
            _ => unreachable!("the input is a map of bytes"),
        }
    }

    /// A value as a map of this shape, of as many elements: as it is, or copied.
    fn shaped(&mut self, name: &str, held: Located, shape: Shape) -> usize {
        if self.shape(held.at) == shape {
            return held.at;
        }
        let steps = [shape.width * shape.channels, shape.channels, 1].map(|step| step as i32);
        self.push(
            &format!("{name}.shape"),
            &[held.at],
            Operation::Move { start: 0, steps },
            Quantity { shape, ..held.is },
        )
    }

    /// A value as the map that it is.
    fn map(&mut self, node: &QuantisedNode, place: usize) -> usize {
        let held = self.read(node, place);
        self.shaped(&node.name, held, held.is.shape)
    }

    /// A function of each byte.
    fn table(&mut self, node: &QuantisedNode, table: &[i16; 256]) -> Result<Located, QuantisedError> {
        let held = self.read(node, 0);
        let is_byte = |quantity: Quantity| matches!(quantity.element, Element::U8 | Element::I8);
        if !is_byte(held.is) || !is_byte(node.makes) {
            let what = format!("a function of {} to {}", held.is.element.word(), node.makes.element.word());
            return Err(unsupported(&node.name, what, "quantise its values to bytes"));
        }
        Ok(Located { at: self.lookup(&node.name, held.at, table, node.makes), is: node.makes })
    }

    fn lookup(&mut self, name: &str, at: usize, table: &[i16; 256], makes: Quantity) -> usize {
        let table = table.iter().copied().map(i32::from).collect();
        self.push(name, &[at], Operation::Lookup { table }, makes)
    }

    /// The same bytes with another zero point, or of another scale.
    fn renamed(&mut self, name: &str, at: usize, makes: Quantity) -> usize {
        let same = tables::table(makes, makes, i64::from);
        self.lookup(name, at, &same, makes)
    }
}

fn unsupported(node: &str, what: impl Into<String>, instead: &'static str) -> QuantisedError {
    QuantisedError::Unsupported { node: node.to_owned(), what: what.into(), instead }
}
