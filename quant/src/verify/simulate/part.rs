//! Roundings gathered by the part of a network of accumulators that they belong to.

use super::{RealInput, Simulation, Switch};
use crate::float::{Example, Net};
use crate::pack::PackError;
use crate::parallel;
use crate::program::Operation;
use crate::quantised::QuantNet;
use crate::verify::stats::{ErrorStats, compare};
use serde::Serialize;

/// A part of a network of accumulators, from the input on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Weights and biases of the accumulators.
    FirstLayer,
    /// Products that are cut or rounded.
    Products,
    /// Weights and biases behind them.
    OutputLayer,
    /// Divisions, shifts, and roundings of sums.
    Head,
}

impl Part {
    /// All, in order.
    pub const ALL: [Self; 4] = [Self::FirstLayer, Self::Products, Self::OutputLayer, Self::Head];

    /// As it is printed.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::FirstLayer => "first layer",
            Self::Products => "products",
            Self::OutputLayer => "output layer",
            Self::Head => "head",
        }
    }
}

impl Simulation {
    /// The part of a network of accumulators that a rounding belongs to; none of its input, which is lists of features.
    fn part(&self, switch: Switch) -> Option<Part> {
        // The accumulators' weights and biases are the first tensors of a program.
        let of_accumulators = self.program.transformer.iter().count() * 2;
        match switch {
            Switch::Tensor(number) if number < of_accumulators => Some(Part::FirstLayer),
            Switch::Tensor(_) => Some(Part::OutputLayer),
            Switch::Node(index) => match &self.program.nodes[index].op {
                Operation::RoundedDot { .. } | Operation::PairwiseU8 { .. } => Some(Part::Products),
                _ => Some(Part::Head),
            },
            Switch::Input => None,
        }
    }
}

/// What the roundings of each part do alone, in units of the output, on examples that fit the network: the outputs with
/// these roundings and no others, minus those of the float network. Parts that round nothing are left out.
///
/// # Errors
/// [`PackError::Unsupported`] for what the runtime has no operation for.
pub fn error_by_part(
    real: &Net<f32>,
    quantised: &QuantNet,
    examples: &[Example],
) -> Result<Vec<(Part, ErrorStats)>, PackError> {
    let simulation = Simulation::of_layers(real, quantised)?;
    let parts: Vec<Part> = simulation.switches().iter().filter_map(|(_, switch)| simulation.part(*switch)).collect();
    let parts: Vec<Part> = Part::ALL.into_iter().filter(|part| parts.contains(part)).collect();
    let outputs = |on: &(dyn Fn(Switch) -> bool + Sync)| -> Vec<f64> {
        let of = |index: usize| simulation.evaluate(RealInput::from(&examples[index]), &|switch| on(switch)).outputs;
        parallel::map(examples.len(), of).concat()
    };
    let exact = outputs(&|_| false);
    let alone = |part: Part| (part, compare(&outputs(&|switch| simulation.part(switch) == Some(part)), &exact));
    Ok(parts.into_iter().map(alone).collect())
}
