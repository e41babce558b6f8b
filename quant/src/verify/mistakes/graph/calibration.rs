//! Examples unlike those that calibrated: values beyond the container's ranges are cut off, or ranges are so wide that
//! little is left of the values.

use super::{EXPLAINED, Evidence, Measured, Mistake, MistakeKind, NEAR_DB, Suspects, decibels, square_error};
use crate::graph::{Activation, Graph, Node, Op, Sample};
use crate::integer::IntegerModel;
use crate::program::{Element, Program, ProgramInput};
use crate::quantise::graph::{Activations, Options, quantise_graph};

/// Decibels by which the network gets nearer when these examples calibrate it, at least.
const GAINED_DB: f64 = 10.0;
/// A range that is this many times what is met is too wide.
const WIDE: f64 = 6.0;

/// A range, and what is met.
struct Range {
    name: String,
    /// What the integers hold.
    low: f64,
    high: f64,
    /// The least and the greatest on the examples.
    least: f64,
    most: f64,
    /// Share of the values beyond.
    beyond: f64,
}

/// Whether the container is far from the checkpoint because of its ranges.
pub(super) fn find(suspects: &Suspects<'_>, measured: Measured<'_>) -> Option<Mistake> {
    let (indices, outputs) = (suspects.tried(), suspects.outputs(measured));
    let held = held(measured.program);
    let ranges = met(suspects, &held, &indices)?;
    let rows = |values: &[f64]| -> Vec<f64> {
        indices.iter().flat_map(|index| values[index * outputs..][..outputs].to_vec()).collect()
    };
    let (integer, truth) = (rows(measured.integer), rows(measured.truth));
    let mistake = |text| Mistake { kind: MistakeKind::Calibration, evidence: Evidence::Outputs, text };
    let cut = ranges.iter().max_by(|a, b| a.beyond.total_cmp(&b.beyond)).filter(|range| range.beyond > 0.0);
    if let Some(worst) = cut {
        let values = cut_outputs(suspects, &held, &indices)?;
        let (before, after) = (square_error(&truth, &integer), square_error(&values, &integer));
        if after < before * (1.0 - EXPLAINED) && decibels(&values, &integer, outputs) >= NEAR_DB {
            let Range { name, low, high, least, most, beyond } = worst;
            return Some(mistake(format!(
                "the container's outputs are the checkpoint's with values cut to the ranges that it was calibrated \
                 for: `{name}` holds {low:.3} to {high:.3} and meets {least:.3} to {most:.3}, {:.1} % of it beyond; \
                 calibrate with examples like these",
                100.0 * beyond
            )));
        }
    }
    let spare = |range: &Range| (range.high - range.low) / (range.most - range.least).max(f64::MIN_POSITIVE);
    let wide = ranges.iter().max_by(|a, b| spare(a).total_cmp(&spare(b))).filter(|range| spare(range) >= WIDE);
    let Range { name, low, high, least, most, .. } = cut.or(wide)?;
    let (given, anew) = (decibels(&integer, &truth, outputs), anew(suspects, &indices, &truth, outputs)?);
    (anew >= given + GAINED_DB).then(|| {
        mistake(format!(
            "calibrated with these examples the network keeps {anew:.1} dB, as it is {given:.1}: `{name}` holds \
             {low:.3} to {high:.3} and meets {least:.3} to {most:.3}; calibrate with examples like these"
        ))
    })
}

/// What the values of the checkpoint's graph can hold in the container, by their numbers.
fn held(program: &Program) -> Vec<(usize, f64, f64)> {
    let ends = |element: Element| match element {
        Element::U8 => Some((0.0, 255.0)),
        Element::I8 => Some((-128.0, 127.0)),
        Element::I16 => Some((-32_768.0, 32_767.0)),
        _ => None,
    };
    let mut held = Vec::new();
    if let ProgramInput::Dense { element, unit, zero, .. } = program.input
        && let Some((low, high)) = ends(element)
    {
        let real = |x: f64| (x - f64::from(zero)) * f64::from(unit);
        held.push((0, real(low), real(high)));
    }
    for node in &program.nodes {
        let value = &node.value;
        if let (Some(layer), Some((low, high)), 1) = (value.layer, ends(value.element), value.units.len()) {
            let real = |x: f64| (x - f64::from(value.zero)) * value.unit(0);
            held.push((layer, real(low), real(high)));
        }
    }
    held
}

/// What they meet on the examples.
fn met(suspects: &Suspects<'_>, held: &[(usize, f64, f64)], indices: &[usize]) -> Option<Vec<Range>> {
    let name = |value: usize| match value.checked_sub(1) {
        Some(node) => suspects.graph.nodes[node].name.clone(),
        None => "input".to_owned(),
    };
    let mut ranges: Vec<(Range, f64, usize)> = Vec::new();
    for (value, low, high) in held {
        let (least, most) = (f64::INFINITY, f64::NEG_INFINITY);
        let range = Range { name: name(*value), low: *low, high: *high, least, most, beyond: 0.0 };
        ranges.push((range, (high - low) / 255.0, *value));
    }
    let mut count = vec![0usize; ranges.len()];
    for index in indices {
        let values = suspects.graph.trace(&suspects.samples[*index]).ok()?;
        for ((range, slack, value), count) in ranges.iter_mut().zip(&mut count) {
            for x in &values[*value] {
                (range.least, range.most) = (range.least.min(*x), range.most.max(*x));
                range.beyond += f64::from(u8::from(*x < range.low - *slack || *x > range.high + *slack));
                *count += 1;
            }
        }
    }
    let share = |((range, ..), count): ((Range, f64, usize), usize)| Range {
        beyond: range.beyond / count.max(1) as f64,
        ..range
    };
    Some(ranges.into_iter().zip(count).map(share).collect())
}

/// The checkpoint's logits with every value cut to what the container can hold.
fn cut_outputs(suspects: &Suspects<'_>, held: &[(usize, f64, f64)], indices: &[usize]) -> Option<Vec<f64>> {
    let graph = suspects.graph;
    let mut with = Graph { nodes: Vec::new(), ..graph.clone() };
    // By the value's number in the graph: that of the cut one.
    let mut places = vec![0];
    let of = |value: usize| held.iter().rev().find(|(at, ..)| *at == value);
    for (index, node) in graph.nodes.iter().enumerate() {
        let reads = node.reads.iter().map(|read| places[*read]).collect();
        with.nodes.push(Node { name: node.name.clone(), reads, op: node.op.clone() });
        if let Some((_, low, high)) = of(index + 1) {
            let op = Op::Activation(Activation::Clip { low: *low, high: *high });
            with.nodes.push(Node { name: format!("{} cut", node.name), reads: vec![with.nodes.len()], op });
        }
        places.push(with.nodes.len());
    }
    let logits = places[graph.logits()];
    let mut values = Vec::new();
    for index in indices {
        let sample = match (&suspects.samples[*index], of(0)) {
            (Sample::Dense(x), Some((_, low, high))) => Sample::Dense(x.iter().map(|x| x.clamp(*low, *high)).collect()),
            (sample, _) => sample.clone(),
        };
        values.extend(with.trace(&sample).ok()?.swap_remove(logits));
    }
    Some(values)
}

/// Decibels that the checkpoint keeps when these examples calibrate it.
fn anew(suspects: &Suspects<'_>, indices: &[usize], truth: &[f64], outputs: usize) -> Option<f64> {
    let samples: Vec<Sample> = indices.iter().map(|index| suspects.samples[*index].clone()).collect();
    let options = Options { activations: Activations::I8, unproved: true, ..Options::default() };
    let program = quantise_graph(suspects.graph, &samples, &options).ok()?;
    let model = IntegerModel::new(&program);
    let rows: Option<Vec<Vec<f64>>> = samples.iter().map(|sample| model.scores(sample, suspects.graph).ok()).collect();
    Some(decibels(&rows?.concat(), truth, outputs))
}
