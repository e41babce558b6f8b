//! Does the runtime equal the integer model, byte for byte, operation for operation, on every tier?

use super::model::GraphModel;
use crate::graph::Sample;
use crate::program::Program;
use crate::run::{RunGraphError, Runner};
use crate::verify::runtime::{Difference, RuntimeCheck, TierCheck, hex};
use tamis_runtime::format::Model;
use tamis_runtime::kernels::tiers;

/// Runs every sample on every tier and compares every value with the integer model's.
///
/// # Errors
/// Which sample cannot be run, and why.
pub fn check_graph_runtime(
    model: Model<'_>,
    graph: &Program,
    samples: &[Sample],
) -> Result<RuntimeCheck, (usize, RunGraphError)> {
    let truth = GraphModel::new(graph);
    let mut runners: Vec<Runner<'_>> = tiers().map(|tier| Runner::new(model, tier)).collect();
    let empty = |name| TierCheck { tier: name, bytes: 0, differing_examples: 0, first: None, signature: String::new() };
    let mut checks: Vec<TierCheck> = tiers().map(|tier| empty(tier.name)).collect();
    for (index, sample) in samples.iter().enumerate() {
        let input = graph.input.quantise(sample).map_err(|error| (index, error.into()))?;
        let expected = truth.trace_input(&input);
        for (runner, tier) in runners.iter_mut().zip(&mut checks) {
            let mut first = None;
            let mut bytes = 0;
            let mut seen = 1;
            let outputs = runner.evaluate_input(&input, |value, found| {
                bytes += found.len() as u64;
                seen += 1;
                let element = graph.element(value);
                let wanted = expected.get(value).map_or(Vec::new(), |data| data.bytes(element));
                if first.is_none() && found != wanted {
                    let size = (found.len() / graph.len(value).max(1)).max(1);
                    let mut pairs = found.chunks(size).zip(wanted.chunks(size)).enumerate();
                    let pair = pairs.find(|(_, (found, wanted))| found != wanted);
                    let (place, (found, wanted)) = pair.unwrap_or((0, (&[], &[])));
                    let node = value.checked_sub(1).and_then(|node| graph.nodes.get(node));
                    first = Some(Difference {
                        example: index,
                        value: node.map_or("input", |node| &node.name).to_owned(),
                        element: place,
                        found: hex(found),
                        expected: hex(wanted),
                    });
                }
            });
            outputs.map_err(|error| (index, error.into()))?;
            if seen != expected.len() && first.is_none() {
                let (found, expected) = (seen.to_string(), expected.len().to_string());
                let value = "number of values".to_owned();
                first = Some(Difference { example: index, value, element: 0, found, expected });
            }
            tier.bytes += bytes;
            tier.differing_examples += usize::from(first.is_some());
            tier.first = tier.first.take().or(first);
        }
    }
    for (runner, tier) in runners.iter_mut().zip(&mut checks) {
        let signature = runner.signature().map_err(|error| (0, error.into()))?;
        tier.signature = format!("{signature:016x}");
    }
    let alike = checks.windows(2).all(|pair| pair[0].signature == pair[1].signature);
    let equal = alike && checks.iter().all(|tier| tier.first.is_none());
    Ok(RuntimeCheck { examples: samples.len(), tiers: checks, equal })
}
