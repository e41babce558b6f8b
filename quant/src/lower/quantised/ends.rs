//! What goes in and what comes out.

use super::{Located, Lowering, unsupported};
use crate::program::{Element, Operation, ProgramInput};
use crate::quantised::{QuantisedError, QuantisedOp, Quantity};
use crate::remark::Remark;
use crate::spatial::{Move, Shape};

impl Lowering<'_> {
    /// The value that comes out: that before a softmax at the end, and before integers become reals.
    pub(super) fn without_softmax(&mut self) -> Result<usize, QuantisedError> {
        let graph = self.graph;
        let node = |value: usize| value.checked_sub(graph.inputs.len()).map(|node| &graph.nodes[node]);
        let mut at = graph.output;
        while let Some(found) = node(at) {
            match found.op {
                QuantisedOp::Dequantise
                | QuantisedOp::Moved { by: Move::Reshape(_), .. }
                // The same in other bytes.
                | QuantisedOp::Requantise { .. } => at = found.reads[0],
                QuantisedOp::Softmax { .. } => {
                    let before = found.reads[0];
                    if node(before).is_none() {
                        let what = "the operator SOFTMAX of the input, which is the whole network,";
                        return Err(unsupported(&found.name, what, "do it in f32"));
                    }
                    let text =
                        format!("the softmax `{}` at the end is left out: the outputs are its logits", found.name);
                    self.remarks.push(Remark::Decided(text));
                    return Ok(before);
                }
                _ => break,
            }
        }
        let last = node(graph.output).filter(|last| last.op == QuantisedOp::Dequantise);
        Ok(last.map_or(graph.output, |last| last.reads[0]))
    }

    /// The input's bytes as the file takes them; several lie one behind the other.
    pub(super) fn open(&mut self, needed: &[bool]) -> Result<(), QuantisedError> {
        let graph = self.graph;
        let given: Vec<Quantity> = graph.inputs.iter().map(|(_, quantity)| *quantity).collect();
        let Some(first) = given.first() else {
            return Err(unsupported(&graph.name, "a network without an input", "give it one"));
        };
        if first.element == Element::F32 && given.len() == 1 {
            return self.open_reals(needed);
        }
        for ((name, quantity), _) in graph.inputs.iter().zip(needed).filter(|(_, needed)| **needed) {
            if !matches!(quantity.element, Element::U8 | Element::I8) || quantity.element != first.element {
                let what = if quantity.element == first.element {
                    format!("an input of {}", quantity.element.word())
                } else {
                    format!("an input of {} beside one of {}", quantity.element.word(), first.element.word())
                };
                return Err(unsupported(name, what, "give the network bytes"));
            }
        }
        let total = given.iter().map(|quantity| quantity.shape.len()).sum();
        let shape = if given.len() == 1 { first.shape } else { Shape::vector(total) };
        self.take(Quantity { shape, ..*first });
        if let [only] = given[..] {
            self.located[0] = Some(Located { at: 0, is: only });
            return Ok(());
        }
        let mut start = 0;
        for (value, (name, is)) in graph.inputs.iter().enumerate() {
            let steps = [is.shape.width * is.shape.channels, is.shape.channels, 1].map(|step| step as i32);
            let part = Quantity { shape: is.shape, ..*first };
            let mut at = self.push(&format!("{name}.part"), &[0], Operation::Move { start, steps }, part);
            if (is.scale, is.zero_point) != (first.scale, first.zero_point) {
                at = self.renamed(name, at, *is);
            }
            self.located[value] = Some(Located { at, is: *is });
            start += is.shape.len();
        }
        let names: Vec<String> = graph.inputs.iter().map(|(name, is)| format!("`{name}` ({})", is.shape)).collect();
        let text = format!("the inputs {} lie one behind the other, each in its own bytes", names.join(", "));
        self.remarks.push(Remark::Decided(text));
        Ok(())
    }

    /// An input of reals that is quantised first: what that makes is the program's input.
    fn open_reals(&mut self, needed: &[bool]) -> Result<(), QuantisedError> {
        let graph = self.graph;
        let mut made: Option<Quantity> = None;
        for (index, node) in graph.nodes.iter().enumerate().filter(|(_, node)| node.reads.contains(&0)) {
            let value = graph.inputs.len() + index;
            if !needed[value] {
                continue;
            }
            let fits = node.op == QuantisedOp::Quantise && made.is_none_or(|made| made == node.makes);
            if !fits || !matches!(node.makes.element, Element::U8 | Element::I8) {
                let what = "an input of float32 that is not quantised once, to bytes, before anything else";
                return Err(unsupported(&node.name, what, "quantise the whole network"));
            }
            made = Some(node.makes);
            self.located[value] = Some(Located { at: 0, is: node.makes });
        }
        self.take(made.ok_or(QuantisedError::Float)?);
        Ok(())
    }

    fn take(&mut self, Quantity { shape, element, scale, zero_point }: Quantity) {
        self.input = ProgramInput::Dense { shape, element, unit: scale, zero: zero_point };
    }

    /// The last operation: bytes become reals; sums of i32 stay what they are.
    pub(super) fn close(&mut self, output: usize) {
        let Some(Located { mut at, is }) = self.located[output] else {
            unreachable!("what comes out is needed");
        };
        if is.element == Element::I32 {
            return;
        }
        if at == 0 {
            // So that the integers are a value of the network.
            let steps = [is.shape.width * is.shape.channels, is.shape.channels, 1].map(|step| step as i32);
            let copied = Quantity { shape: is.shape, ..self.given() };
            at = self.push("input.copy", &[0], Operation::Move { start: 0, steps }, copied);
        }
        let op = Operation::ToF32 { factor: is.scale, zero: is.zero_point };
        self.push("output", &[at], op, Quantity { shape: is.shape, element: Element::F32, scale: 1.0, zero_point: 0 });
    }
}
