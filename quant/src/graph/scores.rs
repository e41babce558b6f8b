//! Which value of a graph tells its classes, and whose elements a value has.

use super::{Activation, Graph, Op, Value};

impl Graph {
    /// The value before the last sigmoid or softmax; the output itself where there is none, or where it reads the
    /// input, which is nobody's score.
    #[must_use]
    pub fn logits(&self) -> Value {
        self.before_probabilities(false)
    }

    /// The same of a network whose last sigmoid or softmax may be rounded, as a quantised file's is: what classes are
    /// told by.
    #[must_use]
    pub fn scores(&self) -> Value {
        self.before_probabilities(true)
    }

    fn before_probabilities(&self, of_rounded: bool) -> Value {
        let mut value = self.output();
        let made = |value: Value| value.checked_sub(1).and_then(|node| self.nodes.get(node));
        let is_rounded = |value: Value| made(value).is_some_and(|node| matches!(node.op, Op::Quantise { .. }));
        while let Some(node) = made(value) {
            let before = node.reads.first().copied().unwrap_or(value);
            match node.op {
                Op::Activation(Activation::Sigmoid | Activation::Softmax | Activation::LogSoftmax) => {
                    return if self.root(before) == 0 { self.output() } else { before };
                }
                Op::Flatten | Op::Reshape(_) => value = before,
                Op::Quantise { .. } if of_rounded => value = before,
                // Back to what the rounded integers stand for.
                Op::PerChannel { .. } if of_rounded && is_rounded(before) => value = before,
                _ => break,
            }
        }
        self.output()
    }

    /// The value whose elements a value has, in their order: what is flattened or given another shape is that.
    #[must_use]
    pub fn root(&self, value: Value) -> Value {
        self.reshaped(value).last().unwrap_or(value)
    }

    /// A value and those before it that have its elements in their order, back to the first one.
    pub(crate) fn reshaped(&self, value: Value) -> impl Iterator<Item = Value> {
        std::iter::successors(Some(value), |value| {
            let node = self.nodes.get(value.checked_sub(1)?)?;
            matches!(node.op, Op::Flatten | Op::Reshape(_)).then(|| node.reads.first().copied())?
        })
    }
}
