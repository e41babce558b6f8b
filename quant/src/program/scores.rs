//! What stands in a program for the scores of its graph: the values before the last sigmoid or softmax.

use super::Program;
use crate::graph::Graph;

impl Program {
    /// The value that stands for what a graph has before its last sigmoid or softmax; `None` where nothing does, which
    /// means that the program is another graph's. What is only given another shape need not be a value of the program:
    /// then the one before it has the same elements.
    #[must_use]
    pub fn scores_of(&self, graph: &Graph) -> Option<usize> {
        let logits = graph.logits();
        let is_output = graph.root(logits) == graph.root(graph.output());
        let standing = graph.reshaped(logits).find_map(|value| self.standing_for(value));
        standing.or(is_output.then_some(self.nodes.len()))
    }
}
