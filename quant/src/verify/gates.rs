//! Limits that a report must keep, from a TOML file or the defaults.

use super::predictions::Predictions;
use super::report::{GateResult, Report};
use crate::error_kind::ErrorKind;
use serde::{Deserialize, Serialize};

/// Limits; an absent one is not checked. The three yes-or-no gates are on unless the file turns them off.
///
/// ```
/// let gates = tamis_quant::verify::Gates::from_toml("max_rms = 8.0\nrequire_proof = false").unwrap();
/// assert_eq!(gates.max_rms, Some(8.0));
/// assert!(gates.require_equal_runtime && !gates.require_proof);
/// for refused in ["max_rmss = 8.0", "max_rms = -1.0", "min_sqnr_db = nan", "min_top1_agreement = 99.0"] {
///     assert!(tamis_quant::verify::Gates::from_toml(refused).is_err());
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Gates {
    /// Every tier equals the integer model.
    pub require_equal_runtime: bool,
    /// No accumulator can leave its type.
    pub require_proof: bool,
    /// No mistake of the description was found.
    pub require_no_mistakes: bool,
    /// Largest |mean error|.
    pub max_mean: Option<f64>,
    /// Largest root mean square of the error.
    pub max_rms: Option<f64>,
    /// Largest single error.
    pub max_error: Option<f64>,
    /// Least signal to noise, in decibels.
    pub min_sqnr_db: Option<f64>,
    /// Least top-1 agreement, 0 to 1.
    pub min_top1_agreement: Option<f64>,
    /// Largest loss of accuracy on labelled examples, in percentage points.
    pub max_accuracy_loss: Option<f64>,
}

impl Default for Gates {
    fn default() -> Self {
        Self {
            require_equal_runtime: true,
            require_proof: true,
            require_no_mistakes: true,
            max_mean: None,
            max_rms: None,
            max_error: None,
            min_sqnr_db: None,
            min_top1_agreement: None,
            max_accuracy_loss: None,
        }
    }
}

/// A gate file that is refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("gates: {0}")]
pub struct GateError(String);

impl GateError {
    /// Always malformed input.
    pub fn class(&self) -> ErrorKind {
        ErrorKind::Malformed
    }
}

impl Gates {
    /// Reads a gate file; unknown keys are refused.
    ///
    /// # Errors
    /// [`GateError`] with line and key, or for a limit that cannot be one.
    pub fn from_toml(text: &str) -> Result<Self, GateError> {
        let gates: Self = toml::from_str(text).map_err(|error| GateError(error.to_string()))?;
        let infinite = f64::INFINITY;
        for (gate, limit, least, most) in [
            ("max_mean", gates.max_mean, 0.0, infinite),
            ("max_rms", gates.max_rms, 0.0, infinite),
            ("max_error", gates.max_error, 0.0, infinite),
            ("min_sqnr_db", gates.min_sqnr_db, -infinite, infinite),
            ("min_top1_agreement", gates.min_top1_agreement, 0.0, 1.0),
            ("max_accuracy_loss", gates.max_accuracy_loss, 0.0, infinite),
        ] {
            // NaN is in no range.
            if let Some(limit) = limit.filter(|limit| !(least..=most).contains(limit)) {
                return Err(GateError(match most {
                    _ if limit.is_nan() => format!("{gate} = {limit}: expected a number"),
                    1.0 => format!("{gate} = {limit}: expected a share from 0 to 1"),
                    _ => format!("{gate} = {limit}: expected a limit of 0 or more"),
                }));
            }
        }
        Ok(gates)
    }

    /// Judges what was found: fills in the report's gates, and whether it passed.
    pub(super) fn judge(&self, report: &mut Report) {
        report.gates = self.results(report);
        report.passed = report.gates.iter().all(|gate| gate.passed) && report.failures().is_empty();
    }

    fn results(&self, report: &Report) -> Vec<GateResult> {
        let mut results = Vec::new();
        let mut flag = |on: bool, gate, passed: bool, found: String, limit: &str| {
            if on {
                results.push(GateResult { gate, found, limit: limit.to_owned(), passed });
            }
        };
        let yes = |holds: bool| if holds { "yes" } else { "no" }.to_owned();
        let equal = report.runtime.equal;
        let proved = report.proof.holds && report.proof.claims_hold;
        flag(self.require_equal_runtime, "require_equal_runtime", equal, yes(equal), "yes");
        flag(self.require_proof, "require_proof", proved, yes(proved), "yes");
        if report.looked_for_mistakes {
            let count = report.mistakes.len();
            let found = match count {
                0 => "none".to_owned(),
                1 => "1 mistake".to_owned(),
                _ => format!("{count} mistakes"),
            };
            flag(self.require_no_mistakes, "require_no_mistakes", count == 0, found, "none");
        }
        let accuracy = &report.accuracy;
        let total = &accuracy.total;
        // Without an error there is no limit that is not kept; an error beside a truth of zeros has no ratio.
        let sqnr_db = total.sqnr_db.or((total.rms == 0.0).then_some(f64::INFINITY));
        let top1 = accuracy.top1.map(|top1| top1.share());
        let loss = accuracy.predictions.as_ref().map(Predictions::loss);
        for (gate, limit, found, at_most) in [
            ("max_mean", self.max_mean, Some(total.mean.abs()), true),
            ("max_rms", self.max_rms, Some(total.rms), true),
            ("max_error", self.max_error, Some(total.max), true),
            ("min_sqnr_db", self.min_sqnr_db, sqnr_db, false),
            ("min_top1_agreement", self.min_top1_agreement, top1, false),
            ("max_accuracy_loss", self.max_accuracy_loss, loss, true),
        ] {
            let Some(limit) = limit else { continue };
            let passed = found.is_some_and(|found| if at_most { found <= limit } else { found >= limit });
            let found = found.map_or("not measured".to_owned(), |found| format!("{found:.4}"));
            results.push(GateResult {
                gate,
                found,
                limit: format!("{} {limit}", if at_most { "at most" } else { "at least" }),
                passed,
            });
        }
        results
    }
}
