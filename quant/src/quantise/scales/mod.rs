//! Scales and the form of the head by proof: as fine as the accumulators' and the sums' proofs allow, and of what they
//! allow the one with the least error that is expected.
//!
//! A trainer's scales leave most of i16 unused. Behind SCReLU with an integer head the products can be rounded
//! ([`crate::arch::HeadDivision::Rounded`]): that ties the first layer's scale to the accumulators' proof alone, and
//! lets the output's weights fill i16. The products of pairs can be rounded too
//! ([`crate::arch::Layer::product_rounded`]), with the first layer's scale doubled as often as the proof allows, and
//! with neurons finer than it that leave room below 1 ([`crate::quantised::NeuronScales`]). What this costs and gains
//! is found by trying: every candidate is quantised, held to the proof, and run on examples that are drawn, beside the
//! float network. Drawn boards are no games; they tell scales apart, and what the error is in play is for `verify` to
//! say.

mod candidates;
mod examples;
mod headroom;
mod rows;

pub use rows::{Rows, store_in_bytes};

use super::element::range;
use super::{QuantiseError, quantise};
use crate::arch::{Architecture, ElementType};
use crate::error_kind::ErrorKind;
use crate::float::{Example, Net};
use crate::integer::IntegerModel;
use crate::program::{GraphInput, Program, QuantTensor, Unsupported, Values};
use crate::proof::{Check, prove};
use crate::quantised::{NeuronScales, QuantNet};
use serde::Serialize;

/// How a network was quantised, and what else was tried.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scales {
    /// What was chosen.
    pub chosen: Candidate,
    /// What the description's own scales were expected to give.
    pub trainer: Candidate,
    /// Candidates that were tried, the description's own among them.
    pub tried: usize,
    /// Examples that were drawn.
    pub examples: usize,
    /// What the first layer's rows are stored as.
    pub rows: ElementType,
    /// Neurons that are finer than the first layer's scale.
    pub finer_neurons: usize,
}

/// Scales, and what follows from them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Candidate {
    /// `trainer` for what the description says, `rounded` where products are rounded.
    pub form: &'static str,
    /// Of the first layer's weights and of those behind it, as far as they are integers.
    pub scales: Vec<i32>,
    /// Of the outputs against the float network, on the examples that were drawn.
    pub mean: f64,
    /// The standard deviation of the same.
    pub sd: f64,
    /// How much of their types weights, accumulators and sums can use; 1 is all. Only of what was chosen.
    pub bounds: Vec<Bound>,
}

/// How much of its type a proof says is used.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bound {
    /// The weights that are summed.
    pub tensor: String,
    /// `weight`, `accumulator`, `sum` or `result`.
    pub quantity: String,
    /// Of the worst row.
    pub fraction: f64,
}

impl Scales {
    /// What keeps the scales from being finer: of the types that are used, the fullest.
    #[must_use]
    pub fn held_by(&self) -> Option<&Bound> {
        self.chosen.bounds.iter().max_by(|a, b| a.fraction.total_cmp(&b.fraction))
    }
}

impl Candidate {
    /// Mean and deviation together.
    #[must_use]
    pub fn rms(&self) -> f64 {
        self.mean.hypot(self.sd)
    }
}

impl ScalesError {
    /// The class that decides the exit status.
    #[must_use]
    pub fn class(&self) -> ErrorKind {
        match self {
            Self::Quantise(error) => error.class(),
            Self::Unsupported(error) => error.class(),
            Self::Wide { .. } | Self::Coarse { .. } => ErrorKind::Usage,
        }
    }
}

/// Why scales cannot be chosen.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScalesError {
    /// The description's own do not fit.
    #[error(transparent)]
    Quantise(#[from] QuantiseError),
    /// The network has no operations.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// No scales that the proof allows make bytes of the first layer.
    #[error("`{tensor}` as i8: at no scale that was tried is every weight within -128 to 127")]
    Wide {
        /// The first layer's weights.
        tensor: String,
    },
    /// They do, and the outputs would be too far away.
    #[error(
        "`{tensor}` as i8: the expected error is {mean:+.2} ± {sd:.2}, {rms:.2} in all, at most {limit:.2} is allowed"
    )]
    Coarse {
        /// The first layer's weights.
        tensor: String,
        /// Of the outputs against the float network, with the best scales, on the examples that were drawn.
        mean: f64,
        /// The standard deviation of the same.
        sd: f64,
        /// Both together.
        rms: f64,
        /// What was allowed.
        limit: f64,
    },
}

/// The network with the scales of least expected error among those that the proof allows, and what was tried. The
/// description's own are always among them, and stay where no others are proved: a network of another form, or one that
/// overflows with any scales. With [`Rows::Bytes`] only scales that make bytes of the first layer are a choice.
///
/// # Errors
/// [`ScalesError`] if the network cannot be quantised as its description says, and of rows in bytes
/// [`ScalesError::Wide`] where no scales make them and [`ScalesError::Coarse`] where the error is above the limit.
pub fn quantise_by_proof(net: &Net<f32>, rows: Rows) -> Result<(QuantNet, Scales), ScalesError> {
    let mut search = Search::of(net)?;
    let Rows::Bytes { limit } = rows else {
        search.run(search.best.layers[0].weights.element);
        return Ok(search.end(rows == Rows::WhereExact)?);
    };
    // The description's own are a choice only where they make bytes.
    search.is_allowed &= rows::are_bytes(&search.best);
    search.run(ElementType::I8);
    let (found, scales) = search.end(true)?;
    let Candidate { mean, sd, .. } = scales.chosen;
    let (rms, limit) = (scales.chosen.rms(), limit.unwrap_or(scales.trainer.rms()));
    let tensor = net.arch.weights_name(0);
    match scales.rows {
        ElementType::I8 if rms <= limit => Ok((found, scales)),
        ElementType::I8 => Err(ScalesError::Coarse { tensor, mean, sd, rms, limit }),
        _ => Err(ScalesError::Wide { tensor }),
    }
}

/// The best network so far.
struct Search<'n> {
    real: &'n Net<f32>,
    examples: Drawn,
    /// Of the description's own scales.
    program: Program,
    trainer: Candidate,
    best: QuantNet,
    chosen: Candidate,
    /// Whether it is proved, and its rows are what they have to be.
    is_allowed: bool,
    tried: usize,
}

impl<'n> Search<'n> {
    /// Begins with the description's own scales.
    fn of(real: &'n Net<f32>) -> Result<Self, ScalesError> {
        let best = quantise(real)?;
        let (program, examples) = (best.lower()?, Drawn::of(real));
        let trainer = examples.candidate("trainer", &best.arch, &program);
        let (chosen, is_allowed) = (trainer.clone(), prove(&program).holds());
        Ok(Self { real, examples, program, trainer, best, chosen, is_allowed, tried: 1 })
    }

    /// Tries all others. rows: what the first layer's weights become.
    fn run(&mut self, rows: ElementType) {
        for net in candidates::of(self.real, &self.program, rows) {
            self.tried += 1;
            // What leaves its type or is not proved is no candidate.
            let Ok(quantised) = quantise(&net) else { continue };
            let Ok(program) = quantised.lower() else { continue };
            let candidate = self.examples.candidate("rounded", &net.arch, &program);
            let is_better = !self.is_allowed || candidate.rms() < self.chosen.rms();
            if is_better && prove(&program).holds() {
                (self.best, self.chosen, self.is_allowed) = (quantised, candidate, true);
            }
        }
    }

    /// What was found. in_bytes: with its first layer in bytes where every weight is one.
    fn end(self, in_bytes: bool) -> Result<(QuantNet, Scales), Unsupported> {
        let Self { real, examples, trainer, mut best, mut chosen, tried, .. } = self;
        let _ = in_bytes && store_in_bytes(&mut best);
        chosen.bounds = bounds(&best, &prove(&best.lower()?).checks);
        let rows = best.layers[0].weights.element;
        let is_finer = |scale: &&f64| **scale > 1.0;
        let scales = NeuronScales::of(real, &best);
        let finer_neurons = scales.iter().flat_map(NeuronScales::as_slice).filter(is_finer).count();
        Ok((best, Scales { chosen, trainer, tried, examples: examples.inputs.len(), rows, finer_neurons }))
    }
}

/// Examples with what the float network makes of them.
struct Drawn {
    inputs: Vec<GraphInput>,
    outputs: Vec<Vec<f64>>,
}

impl Drawn {
    fn of(net: &Net<f32>) -> Self {
        let real = net.to_f64();
        let drawn = examples::draw(&net.arch, examples::Use::Errors).into_iter().filter_map(|example| {
            let outputs = real.evaluate(&example).ok()?;
            let Example::Features { lists, bucket } = example else { return None };
            Some((GraphInput::Features { lists, bucket }, outputs))
        });
        let (inputs, outputs) = drawn.unzip();
        Self { inputs, outputs }
    }

    fn candidate(&self, form: &'static str, arch: &Architecture, program: &Program) -> Candidate {
        let (model, last) = (IntegerModel::new(program), program.nodes.len());
        let mut errors = Vec::new();
        for (input, outputs) in self.inputs.iter().zip(&self.outputs) {
            let made = model.trace_input(input)[last].to_reals(&program.nodes[last - 1].value);
            errors.extend(made.iter().zip(outputs).map(|(integer, real)| integer - real));
        }
        let count = errors.len().max(1) as f64;
        let mean = errors.iter().sum::<f64>() / count;
        let sd = (errors.iter().map(|error| (error - mean).powi(2)).sum::<f64>() / count).sqrt();
        let scale = |layer: usize| arch.tensor(&arch.weights_name(layer)).and_then(|spec| spec.scale);
        let scales = (0..2).filter_map(scale).collect();
        Candidate { form, scales, mean, sd, bounds: Vec::new() }
    }
}

/// What a proof says of the worst row of each tensor and quantity, behind what integer weights use of their type.
pub(super) fn bounds(net: &QuantNet, checks: &[Check]) -> Vec<Bound> {
    let mut bounds: Vec<Bound> = net.layers.iter().filter_map(|layer| weights(&layer.weights)).collect();
    for check in checks {
        let (tensor, quantity, fraction) = (check.tensor.clone(), check.quantity.to_string(), check.fraction());
        match bounds.iter_mut().find(|bound| bound.tensor == tensor && bound.quantity == quantity) {
            Some(bound) => bound.fraction = bound.fraction.max(fraction),
            None => bounds.push(Bound { tensor, quantity, fraction }),
        }
    }
    bounds
}

/// What the largest weight uses of its type.
fn weights(tensor: &QuantTensor) -> Option<Bound> {
    let Values::Int(values) = &tensor.values else { return None };
    let largest = values.iter().map(|value| value.unsigned_abs()).max()?;
    let fraction = f64::from(largest) / f64::from(range(tensor.element).1);
    Some(Bound { tensor: tensor.name.clone(), quantity: "weight".to_owned(), fraction })
}
