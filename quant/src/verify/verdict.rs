//! The verdict in words: what a report says to somebody who reads four lines of it.

use super::accuracy::Accuracy;
use super::mistakes::{Mistake, MistakeKind};
use super::report::Report;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentence {
    /// What it is about.
    pub about: &'static str,
    /// What was found.
    pub text: String,
    /// Whether that is well; none where nobody said what would be.
    pub is_well: Option<bool>,
}

impl Report {
    /// Bits, overflow, distance from full precision, limits: in this order, a line each.
    #[must_use]
    pub fn verdict(&self) -> [Sentence; 4] {
        [self.bits(), self.overflow(), self.distance(), self.limits()]
    }

    fn bits(&self) -> Sentence {
        let differing: Vec<&str> =
            self.runtime.tiers.iter().filter(|tier| tier.first.is_some()).map(|tier| tier.tier.as_ref()).collect();
        let (tiers, examples) = (self.runtime.tiers.len(), self.runtime.examples);
        let text = match (self.runtime.equal, differing.as_slice()) {
            (true, _) => {
                format!("yes: the integer model's, on {} and {}", many(tiers, "tier"), many(examples, "example"))
            }
            (false, []) => "NO: the tiers' signatures differ".to_owned(),
            (false, differing) => format!("NO: tier {} differs from the integer model", differing.join(", ")),
        };
        Sentence { about: "same bits", text, is_well: Some(self.runtime.equal) }
    }

    fn overflow(&self) -> Sentence {
        let text = match (self.proof.holds, self.proof.claims_hold) {
            (true, true) if !self.proof.wraps.is_empty() => {
                "of accumulators not excluded: they wrap at 16 bits, as those of the network's engine do".to_owned()
            }
            (true, true) => "impossible: proved for every input that the loader takes".to_owned(),
            (true, false) => "impossible, but the file CLAIMS what its weights do not give".to_owned(),
            (false, _) => format!("POSSIBLE: {} without a proof", many(self.proof.violations.len(), "sum")),
        };
        Sentence { about: "overflow", text, is_well: Some(self.proof.holds && self.proof.claims_hold) }
    }

    fn distance(&self) -> Sentence {
        let about = "precision";
        if let Some(nnue) = &self.nnue {
            let text = match nnue.differing_values {
                0 => "the file's own: it holds integers, and its rules give every value".to_owned(),
                count => format!("{} NOT those that the file's own rules give", many(count, "value")),
            };
            return Sentence { about, text, is_well: Some(nnue.differing_values == 0) };
        }
        let accuracy = &self.accuracy;
        let mut parts = vec![error(accuracy, self.unit)];
        if let Some(order) = accuracy.order.filter(|order| order.count > 0) {
            let changed = 100.0 * (order.count - order.equal) as f64 / order.count as f64;
            parts.push(format!("{changed:.2} % of pairs of examples change order"));
        }
        if let Some(top1) = accuracy.top1.filter(|top1| top1.count > 0) {
            parts.push(format!("{:.2} % of answers change", 100.0 * (1.0 - top1.share())));
        }
        if let Some(predictions) = &accuracy.predictions {
            let (float, integer) = (predictions.float_correct, predictions.correct);
            let is_chance = |mistake: &Mistake| mistake.kind == MistakeKind::ChanceLevel;
            let guessed = self.mistakes.iter().chain(&self.remarks).any(is_chance);
            let guessed = if guessed { ", as often as guessing" } else { "" };
            parts.push(format!("right {} of {}, in float {}{guessed}", integer.equal, integer.count, float.equal));
            if let (Some(float), Some(integer)) = (predictions.float_auc, predictions.auc) {
                parts.push(format!("AUC {integer:.5}, in float {float:.5}"));
            }
        }
        Sentence { about, text: parts.join("; "), is_well: None }
    }

    /// Those on accuracy: the others are the first two sentences.
    fn limits(&self) -> Sentence {
        let about = "limits";
        let failed: Vec<&str> = self.gates.iter().filter(|gate| !gate.passed).map(|gate| gate.gate).collect();
        let set = self.gates.iter().any(|gate| !gate.gate.starts_with("require_"));
        let (text, is_well) = match (failed.as_slice(), set) {
            ([], false) => {
                (format!("no limit was set on accuracy (--gates FILE sets them); {}", self.usual_limits()), None)
            }
            ([], true) => ("all kept".to_owned(), Some(true)),
            (failed, _) => (format!("NOT kept: {}", failed.join(", ")), Some(false)),
        };
        Sentence { about, text, is_well }
    }
}

impl Report {
    fn usual_limits(&self) -> String {
        match self.unusual().as_slice() {
            [] => "the usual ones are kept".to_owned(),
            found => format!("the usual ones are NOT: {}", found.join("; ")),
        }
    }
}

fn error(accuracy: &Accuracy, unit: &str) -> String {
    let total = &accuracy.total;
    if accuracy.logits.is_some() {
        return match total.sqnr_db {
            Some(db) => format!("{db:.2} dB signal to noise"),
            None if total.truth_rms > 0.0 => "no error".to_owned(),
            None => "full precision is 0 everywhere, which shows nothing".to_owned(),
        };
    }
    format!("mean {:.2}, sd {:.2}, largest {:.1} {unit}", total.mean, total.sd, total.max)
}

fn many(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
