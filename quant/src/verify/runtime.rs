//! Question 1: does the runtime equal the integer model, byte for byte, operation for operation, on every tier?

use super::VerifyError;
use super::integer::{Computed, IntegerModel};
use super::progress::Progress;
use crate::float::Example;
use crate::quantise::QuantNet;
use crate::run::{Outputs, Runner};
use serde::Serialize;
use tamis_runtime::RunError;
use tamis_runtime::format::Model;
use tamis_runtime::kernels::tiers;

/// The answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RuntimeCheck {
    /// Examples that every tier ran.
    pub examples: usize,
    /// A line for every tier.
    pub tiers: Vec<TierCheck>,
    /// Whether all of them are equal.
    pub equal: bool,
}

/// One tier.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TierCheck {
    /// Its name.
    pub tier: &'static str,
    /// Bytes that were compared.
    pub bytes: u64,
    /// Examples with a difference.
    pub differing_examples: usize,
    /// The first difference.
    pub first: Option<Difference>,
    /// The model's signature on this tier, 16 hexadecimal digits.
    pub signature: String,
}

/// A value that differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// Which example.
    pub example: usize,
    /// Which value: layer and step.
    pub value: String,
    /// Which element of it.
    pub element: usize,
    /// Its bytes on the tier, hexadecimal.
    pub found: String,
    /// Its bytes in the integer model, hexadecimal.
    pub expected: String,
}

/// Runs every example on every tier; the outputs of the first tier are returned for the third question.
pub(super) fn check(
    model: Model<'_>,
    net: &QuantNet,
    examples: &[Example],
    progress: &mut Progress<'_>,
) -> Result<(RuntimeCheck, Vec<Outputs>), VerifyError> {
    let truth = IntegerModel::new(net);
    let expected = |index: usize| examples.get(index).map_or_else(Vec::new, |example| truth.trace(example));
    let run = |runner: &mut Runner<'_>, index: usize, observe: &mut dyn FnMut(usize, &[u8])| match examples.get(index) {
        Some(example) => runner.evaluate_traced(&net.arch, example, observe),
        None => Err(RunError::InputKind),
    };
    let checked = compare_tiers(model, examples.len(), expected, run, &mut || progress.advance());
    checked.map_err(|(index, error)| VerifyError::Run { index, error })
}

/// Runs examples, by their numbers, on every tier, and compares every value with the expected ones; the outputs are the first tier's.
///
/// # Errors
/// The number of an example that cannot be run, and why.
pub(super) fn compare_tiers(
    model: Model<'_>,
    count: usize,
    mut expected: impl FnMut(usize) -> Vec<Computed>,
    mut run: impl FnMut(&mut Runner<'_>, usize, &mut dyn FnMut(usize, &[u8])) -> Result<Outputs, RunError>,
    advance: &mut dyn FnMut(),
) -> Result<(RuntimeCheck, Vec<Outputs>), (usize, RunError)> {
    let mut runners: Vec<Runner<'_>> = tiers().map(|tier| Runner::new(model, tier)).collect();
    let mut tiers: Vec<TierCheck> = tiers()
        .map(|tier| TierCheck {
            tier: tier.name,
            bytes: 0,
            differing_examples: 0,
            first: None,
            signature: String::new(),
        })
        .collect();
    let mut outputs = Vec::with_capacity(count);
    for index in 0..count {
        let expected = expected(index);
        for (number, (runner, tier)) in runners.iter_mut().zip(&mut tiers).enumerate() {
            let mut first: Option<Difference> = None;
            let mut bytes = 0;
            let mut seen = 0;
            let output = run(runner, index, &mut |value, found| {
                bytes += found.len() as u64;
                seen += 1;
                let Some(expected) = expected.get(value) else { return };
                if first.is_none() && found != expected.bytes {
                    let size = expected.element_len_bytes.max(1);
                    let pairs = found.chunks(size).zip(expected.bytes.chunks(size));
                    let element = pairs.clone().position(|(found, expected)| found != expected).unwrap_or(0);
                    let (found, wanted) = pairs.clone().nth(element).unwrap_or((&[], &[]));
                    let (found, wanted) = (hex(found), hex(wanted));
                    first = Some(Difference {
                        example: index,
                        value: expected.name.clone(),
                        element,
                        found,
                        expected: wanted,
                    });
                }
            })
            .map_err(|error| (index, error))?;
            if seen != expected.len() && first.is_none() {
                let (value, found, expected) =
                    ("number of values".to_owned(), seen.to_string(), expected.len().to_string());
                first = Some(Difference { example: index, value, element: 0, found, expected });
            }
            tier.bytes += bytes;
            tier.differing_examples += usize::from(first.is_some());
            if tier.first.is_none() {
                tier.first = first;
            }
            if number == 0 {
                outputs.push(output);
            }
        }
        advance();
    }
    for (runner, tier) in runners.iter_mut().zip(&mut tiers) {
        let signature = runner.signature().map_err(|error| (0, error))?;
        tier.signature = format!("{signature:016x}");
    }
    let same_signature = tiers.iter().all(|tier| tiers.first().is_some_and(|first| first.signature == tier.signature));
    let equal = same_signature && tiers.iter().all(|tier| tier.first.is_none());
    Ok((RuntimeCheck { examples: count, tiers, equal }, outputs))
}

/// The bytes of a number, the highest first.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect()
}
