//! Float graphs to integers: [`Graph`] → [`Program`].
//!
//! ```text
//! samples --calibrate--> ranges --lower--> Program --equalise, round, correct--> Program --prove--> done, or refused
//! ```
//!
//! Sums stay i32 until something reads them; what reads them says which integers it wants. A sum's units are a channel
//! each, the next layer folds the units of what it reads into its weights, so that a value's elements may have units of
//! their own.

mod balance;
mod correct;
mod equalise;
mod error;
mod fit;
mod lower;
mod maps;
mod options;
mod refine;
mod round;
mod search;
mod sixteen;

pub use error::GraphQuantError;
pub use options::{Activations, Granularity, InputEncoding, Options, SixteenBudget, WeightBits};
pub use search::{Budget, Found, search_mixed};
pub use sixteen::Widened;

use crate::calibrate::{Calibration, calibrate};
use crate::graph::{Graph, Sample};
use crate::program::{Element, Program, ProgramNode};
use crate::proof::prove;
use crate::removal::{Removed, remove_channels};
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
    Ok(quantise_reported(graph, samples, options, &|_, _| ())?.program)
}

/// A quantised graph, and what was done on the way.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantised {
    /// The network.
    pub program: Program,
    /// What was taken out of it because it has no effect.
    pub removed: Removed,
    /// The maps that were put into 16 bits by [`Options::sixteen_budget`], in the order in which they were chosen.
    pub sixteen: Vec<Widened>,
}

/// [`quantise_graph`] with a report. Where several ways are tried, `step` is called behind each with (done, known to be
/// to do), from any thread.
///
/// # Errors
/// As [`quantise_graph`].
pub fn quantise_reported(
    graph: &Graph,
    samples: &[Sample],
    options: &Options,
    step: &(dyn Fn(usize, usize) + Sync),
) -> Result<Quantised, GraphQuantError> {
    graph.check()?;
    check_names(graph, options)?;
    let calibration = calibrate(graph, samples).map_err(|(index, error)| GraphQuantError::Sample { index, error })?;
    quantise_calibrated(graph, samples, &calibration, options, step)
}

/// The same with what was seen of the samples already.
fn quantise_calibrated(
    graph: &Graph,
    samples: &[Sample],
    calibration: &Calibration,
    options: &Options,
    step: &(dyn Fn(usize, usize) + Sync),
) -> Result<Quantised, GraphQuantError> {
    let channels =
        if options.equalise { equalise::channels(graph, samples, calibration, options)? } else { Channels::default() };
    let program = lower(graph, calibration, options, &channels)?;
    if program.nodes.iter().any(|node| node.op.is_of_maps()) {
        check_ranges(graph, &program, options)?;
        let known = fit::Known { graph, calibration, dense: &channels };
        let (program, sixteen) = maps::quantise(&known, samples, options, step)?;
        return Ok(Quantised { sixteen, ..proved(program, options)? });
    }
    if !options.sixteen.is_empty() || options.sixteen_budget.is_some() {
        return Err(GraphQuantError::Unsupported {
            layer: graph.name.clone(),
            what: "maps of 16 bits in a network without maps".to_owned(),
            instead: "leave them out, or count all activations in 16 bits",
        });
    }
    let mut quantised = program;
    if options.round_together {
        round::weights(graph, samples, &mut quantised)?;
    }
    if options.bias_correction {
        correct::biases(graph, samples, &mut quantised)?;
    }
    proved(quantised, options)
}

/// The network, if no sum of it can leave its integers or that is what is asked for.
fn proved(quantised: Program, options: &Options) -> Result<Quantised, GraphQuantError> {
    let is_trimmed = options.remove_channels && quantised.nodes.iter().any(|node| node.op.is_of_maps());
    let (program, removed) = if is_trimmed { remove_channels(quantised) } else { (quantised, Removed::default()) };
    let proof = prove(&program);
    match proof.violations.first() {
        Some(violation) if !options.unproved => Err(GraphQuantError::Overflow { violation: violation.to_string() }),
        _ => Ok(Quantised { program, removed, sixteen: Vec::new() }),
    }
}

/// Ranges that nothing has, since the value is never rounded by itself.
fn check_ranges(graph: &Graph, program: &Program, options: &Options) -> Result<(), GraphQuantError> {
    let is_rounded = |value: usize| {
        let narrow = |node: &ProgramNode| !matches!(node.value.element, Element::I32 | Element::F32);
        program.nodes.iter().any(|node| node.value.layer == Some(value) && narrow(node))
    };
    let idle = graph.nodes.iter().enumerate().find(|(index, node)| {
        options.ranges.contains_key(&node.name) && !options.keep_f32.contains(&node.name) && !is_rounded(index + 1)
    });
    match idle {
        Some((_, node)) => Err(GraphQuantError::Unsupported {
            layer: node.name.clone(),
            what: "a range of what is never rounded by itself".to_owned(),
            instead: "give the range of the activation behind it, or of none",
        }),
        None => Ok(()),
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
