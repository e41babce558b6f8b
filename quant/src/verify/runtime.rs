//! Question 1: does the runtime equal the integer model, byte for byte, operation for operation, on every tier?

use crate::integer::{Data, IntegerModel};
use crate::parallel;
use crate::program::{GraphInput, Program};
use crate::run::Runner;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use tamis_runtime::RunError;
use tamis_runtime::format::Model;
use tamis_runtime::kernels::tiers;

/// The answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RuntimeCheck {
    /// Examples that every tier ran.
    pub examples: usize,
    /// A line for every tier.
    pub tiers: Vec<TierCheck>,
    /// Whether all of them are equal.
    pub equal: bool,
}

/// One tier.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TierCheck {
    /// Its name.
    pub tier: Cow<'static, str>,
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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

impl RuntimeCheck {
    /// Adds what was found on further examples, perhaps on a machine with other tiers.
    pub(super) fn join(&mut self, other: Self) {
        for mut tier in other.tiers {
            if let Some(first) = &mut tier.first {
                first.example += self.examples;
            }
            match self.tiers.iter_mut().find(|own| own.tier == tier.tier) {
                Some(own) => {
                    own.bytes += tier.bytes;
                    own.differing_examples += tier.differing_examples;
                    own.first = own.first.take().or(tier.first);
                    if own.signature != tier.signature {
                        own.signature = format!("{} or {}", own.signature, tier.signature);
                    }
                }
                None => self.tiers.push(tier),
            }
        }
        self.examples += other.examples;
        self.equal = self.equal && other.equal && are_alike(&self.tiers);
    }
}

/// Whether all tiers have one signature, and no difference.
fn are_alike(tiers: &[TierCheck]) -> bool {
    let alike = tiers.windows(2).all(|pair| pair[0].signature == pair[1].signature);
    alike && tiers.iter().all(|tier| tier.first.is_none())
}

/// Runs every input on every tier and compares every value with the integer model's, on all threads, about `ahead`
/// inputs further than what is seen. Of every input `measure` is given its number and all values of the integer model,
/// the input first, on any thread; what it makes of them goes to `seen`, in the order of the inputs.
///
/// # Errors
/// The number of an input that cannot be run, and why.
pub fn check_runtime<T: Send>(
    model: Model<'_>,
    program: &Program,
    inputs: &[GraphInput],
    ahead: usize,
    measure: impl Fn(usize, &[Data]) -> T + Sync,
    mut seen: impl FnMut(usize, &T),
) -> Result<RuntimeCheck, (usize, RunError)> {
    let truth = IntegerModel::new(program);
    let runners = || tiers().map(|tier| Runner::new(model, tier)).collect::<Vec<Runner<'_>>>();
    let empty = |tier| TierCheck { tier, bytes: 0, differing_examples: 0, first: None, signature: String::new() };
    let mut checks: Vec<TierCheck> = tiers().map(|tier| empty(Cow::Borrowed(tier.name))).collect();
    // Accumulators are computed, too; any other input is the caller's.
    let computed = program.nodes.len() + usize::from(program.transformer.is_some());
    let one = |runner: &mut Runner<'_>, index: usize, expected: &[Data]| {
        let (mut first, mut count, mut bytes) = (None, 0, 0);
        runner.evaluate_input(&inputs[index], |value, found| {
            bytes += found.len() as u64;
            count += 1;
            if first.is_none() && value < expected.len() {
                first = difference(program, index, value, found, &expected[value]);
            }
        })?;
        if count != computed && first.is_none() {
            let (found, expected) = (count.to_string(), computed.to_string());
            let value = "number of values".to_owned();
            first = Some(Difference { example: index, value, element: 0, found, expected });
        }
        Ok((bytes, first))
    };
    let work = |runners: &mut Vec<Runner<'_>>, index: usize| {
        let expected = truth.trace_input(&inputs[index]);
        let found: Result<Vec<_>, RunError> = runners.iter_mut().map(|runner| one(runner, index, &expected)).collect();
        found.map(|found| (found, measure(index, &expected))).map_err(|error| (index, error))
    };
    parallel::in_order_with(inputs.len(), ahead, runners, work, |index, (found, measured)| {
        for (check, (bytes, first)) in checks.iter_mut().zip(found) {
            check.bytes += bytes;
            check.differing_examples += usize::from(first.is_some());
            check.first = check.first.take().or_else(|| first.clone());
        }
        seen(index, measured);
        Ok(())
    })?;
    let signatures = parallel::map_with(checks.len(), runners, |runners, tier| runners[tier].signature());
    for (check, signature) in checks.iter_mut().zip(signatures) {
        check.signature = format!("{:016x}", signature.map_err(|error| (0, error))?);
    }
    let equal = are_alike(&checks);
    Ok(RuntimeCheck { examples: inputs.len(), tiers: checks, equal })
}

/// Where a value's bytes are not the integer model's.
fn difference(program: &Program, example: usize, value: usize, found: &[u8], truth: &Data) -> Option<Difference> {
    let element = program.element(value);
    let wanted = truth.bytes(element);
    if found == wanted {
        return None;
    }
    let name = value.checked_sub(1).map_or("accumulators", |node| &program.nodes[node].name).to_owned();
    if found.len() != wanted.len() {
        let (found, expected) = (format!("{} bytes", found.len()), format!("{} bytes", wanted.len()));
        return Some(Difference { example, value: name, element: 0, found, expected });
    }
    let mut pairs = found.chunks(element.len_bytes()).zip(wanted.chunks(element.len_bytes())).enumerate();
    let (place, (found, wanted)) = pairs.find(|(_, (found, wanted))| found != wanted)?;
    Some(Difference { example, value: name, element: place, found: hex(found), expected: hex(wanted) })
}

/// The bytes of a number, the highest first.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect()
}
