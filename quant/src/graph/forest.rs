//! Trees of decisions.

/// Trees whose leaves are summed up: `rate · Σ leaf`.
#[derive(Debug, Clone, PartialEq)]
pub struct Forest {
    /// What every leaf is multiplied by: the learning rate.
    pub rate: f64,
    /// All of the same size.
    pub trees: Vec<Tree>,
}

/// A tree in heap order: the children of node `n` are `2n + 1`, taken where `x[feature] ≤ threshold`, and `2n + 2`. The
/// walk ends at a node without a feature, or at the last node before it would leave the arrays; its `leaf` is the
/// tree's value.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    /// The feature that a node looks at; `None` in a leaf.
    pub features: Vec<Option<u32>>,
    /// As many thresholds.
    pub thresholds: Vec<f64>,
    /// As many values.
    pub leaves: Vec<f64>,
}

impl Forest {
    /// `rate · Σ leaf` with `x(feature)` as the input.
    #[must_use]
    pub fn evaluate(&self, x: impl Fn(u32) -> f64) -> f64 {
        self.trees.iter().map(|tree| self.rate * tree.evaluate(&x)).sum()
    }
}

impl Tree {
    /// The value of the leaf that the walk reaches; 0 of an empty tree.
    #[must_use]
    pub fn evaluate(&self, x: impl Fn(u32) -> f64) -> f64 {
        let mut node = 0;
        while let (Some(Some(feature)), Some(threshold)) = (self.features.get(node), self.thresholds.get(node)) {
            let child = 2 * node + if x(*feature) <= *threshold { 1 } else { 2 };
            if child >= self.leaves.len() {
                break;
            }
            node = child;
        }
        self.leaves[node]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_ends_in_a_leaf_or_at_the_edge() {
        let tree = Tree {
            features: vec![Some(0), Some(1), None],
            thresholds: vec![0.5, 0.5, 0.0],
            leaves: vec![9.0, 1.0, 2.0],
        };
        let of = |x: [f64; 2]| tree.evaluate(|feature| x[feature as usize]);
        assert_eq!(of([1.0, 0.0]), 2.0, "a node without a feature");
        assert_eq!((of([0.5, 0.0]), of([0.0, 1.0])), (1.0, 1.0), "both children of node 1 would lie outside");
        let forest = Forest { rate: 0.5, trees: vec![tree.clone(), tree.clone()] };
        assert_eq!(forest.evaluate(|_| 1.0), 2.0);
    }
}
