//! Examples in another unit than those that the container was calibrated with: what it takes is cut off, or rounded
//! away, and in the right unit container and checkpoint agree.

use super::hypotheses::units;
use super::{Evidence, FAR_DB, Measured, Mistake, MistakeKind, Suspects, decibels};
use crate::integer::IntegerModel;

/// Decibels by which container and checkpoint agree better in the right unit, at least.
const GAINED_DB: f64 = 10.0;

/// The unit in which container and checkpoint agree on the examples, if it is not theirs.
pub(super) fn unit(suspects: &Suspects<'_>, measured: Measured<'_>) -> Option<Mistake> {
    let outputs = suspects.outputs(measured);
    let model = IntegerModel::new(measured.program);
    let agreement = |change: super::hypotheses::Change| -> Option<f64> {
        let (mut found, mut truth) = (Vec::new(), Vec::new());
        for index in suspects.tried() {
            let sample = change.of(&suspects.samples[index]);
            truth.extend(suspects.graph.evaluate_logits(&sample).ok()?);
            found.extend(model.scores(&sample, suspects.graph).ok()?);
        }
        Some(decibels(&found, &truth, outputs))
    };
    let given = agreement(super::hypotheses::Change::None)?;
    let tried =
        units(suspects.samples).into_iter().filter_map(|(change, from, to)| Some((agreement(change)?, from, to)));
    let (db, from, to) = tried.max_by(|a, b| a.0.total_cmp(&b.0))?;
    // Integers that were made elsewhere may be far from their checkpoint on whatever they are given.
    let least = if suspects.is_given { f64::NEG_INFINITY } else { FAR_DB };
    (db >= least.max(given + GAINED_DB)).then(|| Mistake {
        kind: MistakeKind::InputUnit,
        evidence: Evidence::Outputs,
        text: format!(
            "container and checkpoint disagree on the examples as they are, {from} ({given:.1} dB), and agree on \
             the same as {to} ({db:.1} dB): the container was calibrated with such; give bytes with --input-unit, the \
             same for quantise and verify"
        ),
    })
}
