//! Float graphs to integers: [`Graph`] → [`Program`].
//!
//! ```text
//! samples --calibrate--> ranges --lower--> Program --equalise, round, correct--> Program --prove--> done, or refused
//! ```
//!
//! Sums stay i32 until something reads them; what reads them says which integers it wants. A sum's units are a channel
//! each, the next layer folds the units of what it reads into its weights, so that a value's elements may have units of
//! their own.

mod correct;
mod equalise;
mod error;
mod lower;
mod options;
mod refine;
mod round;
mod search;

pub use error::GraphQuantError;
pub use options::{Activations, Granularity, InputEncoding, Options, WeightBits};
pub use search::{Budget, Found, search_mixed};

use crate::calibrate::{Calibration, Method, calibrate};
use crate::graph::{Graph, Sample};
use crate::program::Program;
use crate::proof::prove;
use lower::{Channels, lower};

/// Quantises a graph. Samples calibrate it; without any, networks whose values behind the input need no range can be
/// quantised.
///
/// # Errors
/// [`GraphQuantError`]: the graph or a sample is wrong, a range is missing, a number does not fit, a sum can overflow.
///
/// # Examples
/// ```
/// use tamis_quant::float::Matrix;
/// use tamis_quant::graph::{Graph, Input, Node, Op, Sample, Shape};
/// use tamis_quant::quantise::graph::{Options, quantise_graph};
/// use tamis_quant::integer::IntegerModel;
///
/// let weights = Matrix::new(1, 2, vec![0.5, -0.25]).ok_or("shape")?;
/// let graph = Graph {
///     name: "two".to_owned(),
///     input: Input::Dense { shape: Shape::vector(2) },
///     nodes: vec![Node { name: "out".to_owned(), reads: vec![0], op: Op::Linear { weights, bias: vec![0.125] } }],
/// };
/// let samples = [Sample::Dense(vec![1.0, 0.0]), Sample::Dense(vec![0.5, 1.0])];
/// let quantised = quantise_graph(&graph, &samples, &Options::default())?;
/// let output = IntegerModel::new(&quantised).evaluate(&samples[0])?;
/// assert!((output[0] - 0.625).abs() < 0.01);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn quantise_graph(graph: &Graph, samples: &[Sample], options: &Options) -> Result<Program, GraphQuantError> {
    graph.check()?;
    check_names(graph, options)?;
    let calibration = calibrate(graph, samples).map_err(|(index, error)| GraphQuantError::Sample { index, error })?;
    quantise_calibrated(graph, samples, &calibration, options)
}

/// The same with what was seen of the samples already.
fn quantise_calibrated(
    graph: &Graph,
    samples: &[Sample],
    calibration: &Calibration,
    options: &Options,
) -> Result<Program, GraphQuantError> {
    let channels =
        if options.equalise { equalise::channels(graph, samples, calibration, options)? } else { Channels::default() };
    let mut quantised = lower(graph, calibration, options, &channels)?;
    if quantised.nodes.iter().any(|node| node.op.is_of_maps()) {
        refine::layers(graph, samples, &mut quantised, options)?;
        let all_seen = Options { method: Method::MinMax, ..options.clone() };
        // Where the tail of a map is the signal, cutting it off costs more than finer steps bring: what it does to the
        // logits decides.
        if options.method == Method::MeanSquare && !samples.is_empty() {
            let mut other = lower(graph, calibration, &all_seen, &channels)?;
            refine::layers(graph, samples, &mut other, options)?;
            if refine::error(graph, samples, &other)? < refine::error(graph, samples, &quantised)? {
                quantised = other;
            }
        }
        return proved(quantised, options);
    }
    if options.round_together {
        round::weights(graph, samples, &mut quantised)?;
    }
    if options.bias_correction {
        correct::biases(graph, samples, &mut quantised)?;
    }
    proved(quantised, options)
}

/// The network, if no sum of it can leave its integers or that is what is asked for.
fn proved(quantised: Program, options: &Options) -> Result<Program, GraphQuantError> {
    let proof = prove(&quantised);
    match proof.violations.first() {
        Some(violation) if !options.unproved => Err(GraphQuantError::Overflow { violation: violation.to_string() }),
        _ => Ok(quantised),
    }
}

fn check_names(graph: &Graph, options: &Options) -> Result<(), GraphQuantError> {
    let known = |name: &String| graph.nodes.iter().any(|node| node.name == *name);
    match options.keep_f32.iter().chain(&options.sixteen).chain(options.ranges.keys()).find(|name| !known(name)) {
        Some(name) => {
            let layers = graph.nodes.iter().map(|node| node.name.clone()).collect();
            Err(GraphQuantError::NoSuchLayer { name: name.clone(), layers })
        }
        None => Ok(()),
    }
}
