//! Trees: thresholds in units of what they are compared with, leaves in one unit.

use super::affine::tensor;
use super::form::{Form, Sum, power_of_two_unit};
use super::sparse::WITHOUT_VALUE;
use super::{Element, GraphQuantError, Lowering, Node, Operation, ProgramInput, Value};
use crate::arch::ElementType;
use crate::graph::Forest;
use crate::program::Values;

impl Lowering<'_> {
    /// `x ≤ t` with an integer x is `x ≤ ⌊t⌋`, so that no threshold is rounded in effect; with f32 it is `x ≤` the
    /// greatest f32 that is not above t. Leaves are rounded, to a unit at which 30 bits hold their sum.
    pub(super) fn trees(&mut self, value: Value, node: &Node, forest: &Forest) -> Result<Form, GraphQuantError> {
        let Some(first) = forest.trees.first().filter(|tree| !tree.leaves.is_empty()) else {
            return Err(self.unsupported(value, "a forest without trees", "leave it out"));
        };
        let (trees, nodes) = (forest.trees.len(), first.leaves.len());
        let leaf_reach = |tree: &crate::graph::Tree| tree.leaves.iter().fold(0f64, |most, leaf| most.max(leaf.abs()));
        let magnitude: f64 = forest.rate.abs() * forest.trees.iter().map(leaf_reach).sum::<f64>();
        let unit = power_of_two_unit(magnitude, 0.0);
        let input_unit = match self.input {
            ProgramInput::Sparse { unit, .. } => f64::from(unit.unwrap_or(WITHOUT_VALUE)),
            ProgramInput::Dense { unit, .. } => f64::from(unit),
            ProgramInput::Features { .. } => {
                return Err(self.unsupported(value, "trees of accumulators", "leave them out"));
            }
        };
        let is_real = matches!(self.input, ProgramInput::Dense { element: Element::F32, .. });
        let integer =
            |threshold: f64| (threshold / input_unit).floor().clamp(f64::from(i32::MIN), f64::from(i32::MAX)) as i32;
        // (trees, nodes): node after node, of each the trees.
        let each = || (0..nodes).flat_map(|node| forest.trees.iter().map(move |tree| (tree, node)));
        let features = each().map(|(tree, node)| {
            let feature = tree.features.get(node).copied().flatten();
            feature.and_then(|feature| i32::try_from(feature).ok()).unwrap_or(-1)
        });
        let threshold = |(tree, node): (&crate::graph::Tree, usize)| tree.thresholds[node];
        let thresholds = if is_real {
            Values::F32(each().map(threshold).map(floor_f32).collect())
        } else {
            Values::Int(each().map(threshold).map(integer).collect())
        };
        let leaves = each().map(|(tree, node)| (forest.rate * tree.leaves[node] / unit).round() as i32);
        let of = |what: &str, element, values| tensor(format!("{}.{what}", node.name), element, trees, nodes, values);
        let element = if is_real { ElementType::F32 } else { ElementType::I32 };
        let op = Operation::Trees {
            features: of("features", ElementType::I32, Values::Int(features.collect())),
            thresholds: of("thresholds", element, thresholds),
            leaves: of("leaves", ElementType::I32, Values::Int(leaves.collect())),
        };
        let made = self.made(value, Element::I32, &[unit], 0);
        let draft = self.draft(value, "sum", &[0], op, made);
        let at = self.push(draft);
        Ok(Form::Sum(Sum { at, units: vec![unit], relu: false, cap: None, magnitude }))
    }
}

/// The greatest f32 that is not above a finite x.
fn floor_f32(x: f64) -> f32 {
    let near = (x as f32).clamp(f32::MIN, f32::MAX);
    if f64::from(near) > x { near.next_down().max(f32::MIN) } else { near }
}

#[cfg(test)]
mod tests {
    use super::floor_f32;

    #[test]
    fn a_threshold_of_f32_is_not_above_the_real_one() {
        for x in [0.1, -0.1, 0.5, 1.0 / 3.0, 1e300, -1e30, 3.5e38] {
            let floor = floor_f32(x);
            assert!(f64::from(floor) <= x && (floor == f32::MAX || f64::from(floor.next_up()) > x), "{x} {floor}");
        }
    }
}
