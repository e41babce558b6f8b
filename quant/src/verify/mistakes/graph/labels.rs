//! The labels as the judge, where container and checkpoint agree: they may share a wrong reading of their examples.
//!
//! A change decides if it makes far more answers right than it makes wrong, and the answers are then better than always
//! the same one.

use super::hypotheses::{Hypothesis, channels, flatten_orders, other_padding, units};
use super::{Evidence, Found, Measured, Mistake, MistakeKind, Suspects, evenly};
use crate::verify::predictions::class;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// A change is a mistake's mending if answers that become right outnumber those that become wrong by this many standard
/// errors,
const DECISIVE_ERRORS: f64 = 3.5;
/// and if this share of all becomes right.
const DECISIVE: f64 = 0.05;
/// It is worth a remark from this many standard errors on.
const NOTICED_ERRORS: f64 = 2.5;
/// Guessing is decisive where a share that is so many standard errors above what was met is still a useless network's.
const CHANCE_ERRORS: f64 = 4.0;
/// Fewer examples say nothing.
const LEAST_EXAMPLES: usize = 40;
/// Examples by which changes are chosen that are tried on all.
const SCREENED: usize = 64;

/// Right answers of both, and how much more often the one is right.
struct Gain {
    share: f64,
    errors: f64,
    right: f64,
}

/// Looks for a change under which the labels are met far more often.
pub(super) fn find(suspects: &Suspects<'_>, measured: Measured<'_>, found: &mut Found) {
    let Some(labels) = suspects.labels.as_deref().filter(|labels| labels.len() >= LEAST_EXAMPLES) else { return };
    let outputs = suspects.outputs(measured);
    let is_right: Vec<bool> =
        measured.truth.chunks(outputs).zip(labels).map(|(row, label)| class(row) == *label).collect();
    let chance = by_chance(&is_right, labels, outputs);
    better_change(suspects, labels, &is_right, found);
    match chance {
        Some((mistake, true)) if found.mistakes.is_empty() => found.mistakes.push(mistake),
        Some((mistake, _)) => found.remarks.insert(0, mistake),
        None => {}
    }
}

/// The change of unit, of channels or of order under which the labels are met far more often.
fn better_change(suspects: &Suspects<'_>, labels: &[usize], is_right: &[bool], found: &mut Found) {
    let (screened, all) = (evenly(labels.len(), SCREENED), evenly(labels.len(), labels.len()));
    let mut best: Option<(Hypothesis<'_>, Gain)> = None;
    for hypothesis in changes(suspects) {
        let gain = |indices: &[usize]| gain(&hypothesis, suspects, labels, (is_right, indices));
        if !gain(&screened).is_some_and(|gain| gain.share > 0.0) {
            continue;
        }
        let Some(gain) = gain(&all) else { continue };
        if best.as_ref().is_none_or(|(_, best)| gain.errors > best.errors) {
            best = Some((hypothesis, gain));
        }
    }
    let Some((hypothesis, gain)) = best.filter(|(_, gain)| gain.errors >= NOTICED_ERRORS) else { return };
    let before = is_right.iter().filter(|right| **right).count() as f64 / labels.len() as f64;
    let text = format!(
        "container and checkpoint agree, and {:.1} % of the labels are met; {:.1} % are {} ({:.1} standard errors): \
         checkpoint and examples may share this mistake",
        100.0 * before,
        100.0 * gain.right,
        hypothesis.text,
        gain.errors
    );
    let mistake = Mistake { kind: hypothesis.kind, evidence: Evidence::Labels, text };
    let says_something = gain.right > usual(labels);
    if says_something && gain.share >= DECISIVE && gain.errors >= DECISIVE_ERRORS {
        found.mistakes.push(mistake);
    } else {
        found.remarks.push(mistake);
    }
}

/// That the checkpoint itself meets the labels no more often than guessing does, beyond two standard errors, and
/// whether that is decisive: the labels are of the network's classes, and so many that a network of any use would meet
/// more.
fn by_chance(is_right: &[bool], labels: &[usize], classes: usize) -> Option<(Mistake, bool)> {
    if classes < 3 {
        return None;
    }
    let (count, guessed) = (is_right.len() as f64, 1.0 / classes as f64);
    let met = is_right.iter().filter(|right| **right).count();
    let right = met as f64 / count;
    let errors = |share: f64| (share * (1.0 - share) / count).sqrt();
    if right > guessed + 2.0 * errors(guessed) {
        return None;
    }
    let most = right.max(guessed) + CHANCE_ERRORS * errors(right.max(guessed));
    let of_use = (3.0 * guessed).min(f64::midpoint(1.0, guessed));
    let distinct = labels.iter().collect::<BTreeSet<_>>().len();
    let mistake = Mistake {
        kind: MistakeKind::ChanceLevel,
        evidence: Evidence::Labels,
        text: format!(
            "the checkpoint itself meets {met} of {} labels, {:.1} %, as often as guessing does among {classes}: the \
             examples are not in the network's unit (--input-unit, --input-zero), or the labels are not theirs",
            is_right.len(),
            100.0 * right
        ),
    };
    Some((mistake, most < of_use && 2 * distinct >= classes))
}

/// What both sides may have wrong alike.
fn changes<'g>(suspects: &Suspects<'g>) -> Vec<Hypothesis<'g>> {
    let graph = suspects.graph;
    let units = units(suspects.samples).into_iter().map(|(input, from, to)| Hypothesis {
        kind: MistakeKind::InputUnit,
        text: format!("with the examples as {to}, not as {from}"),
        graph: Cow::Borrowed(graph),
        input,
    });
    channels(graph).into_iter().chain(units).chain(flatten_orders(graph)).chain(other_padding(graph)).collect()
}

fn gain(
    hypothesis: &Hypothesis<'_>,
    suspects: &Suspects<'_>,
    labels: &[usize],
    (is_right, indices): (&[bool], &[usize]),
) -> Option<Gain> {
    let (mut gained, mut lost, mut right) = (0usize, 0usize, 0usize);
    for index in indices {
        let row = hypothesis.outputs(std::iter::once(&suspects.samples[*index]))?;
        let hits = class(&row) == labels[*index];
        right += usize::from(hits);
        gained += usize::from(hits && !is_right[*index]);
        lost += usize::from(!hits && is_right[*index]);
    }
    let (count, more) = (indices.len().max(1) as f64, gained as f64 - lost as f64);
    // The difference of two counts that chance has made of their sum.
    let errors = more / ((gained + lost).max(1) as f64).sqrt();
    Some(Gain { share: more / count, errors, right: right as f64 / count })
}

/// The share of labels that always the same answer meets, and four standard errors.
fn usual(labels: &[usize]) -> f64 {
    let mut counts = BTreeMap::new();
    labels.iter().for_each(|label| *counts.entry(label).or_insert(0usize) += 1);
    let count = labels.len().max(1) as f64;
    let share = counts.into_values().fold(0, usize::max) as f64 / count;
    share + 4.0 * (share * (1.0 - share) / count).sqrt()
}
