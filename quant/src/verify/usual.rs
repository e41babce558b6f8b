//! Limits that a network of its kind usually keeps, where nobody has set any: a warning, no verdict.

use super::report::Report;

/// Of networks of positions, in centipawns: engines play by differences of some tens.
const MEAN_CENTIPAWNS: f64 = 3.0;
const RMS_CENTIPAWNS: f64 = 10.0;
const LARGEST_CENTIPAWNS: f64 = 50.0;
/// Of all others: int8 keeps 25 to 50 dB of the networks that are published with it.
const SQNR_DB: f64 = 20.0;
/// Of classes: answers that change.
const CHANGED: f64 = 0.02;
/// Right answers that are lost, in points of a hundred.
const LOST_POINTS: f64 = 1.0;
/// Area under the curve that is lost.
const LOST_AUC: f64 = 0.005;

impl Report {
    /// The usual limits that are not kept, in words: what was found, and the limit.
    #[must_use]
    pub fn unusual(&self) -> Vec<String> {
        if self.nnue.is_some() {
            return Vec::new();
        }
        let (accuracy, mut found) = (&self.accuracy, Vec::new());
        let mut hold = |what: &str, value: Option<f64>, limit: f64, unit: &str| {
            // One of fifty is 2 %, and in f64 a little more.
            if let Some(value) = value.filter(|value| *value > limit * (1.0 + 1e-9)) {
                let one = if limit == 1.0 { unit.trim_end_matches('s') } else { unit };
                found.push(format!("{what} {value:.2}{unit}, usually at most {limit}{one}"));
            }
        };
        if self.unit == "centipawns" {
            let total = &accuracy.total;
            hold("mean error", Some(total.mean.abs()), MEAN_CENTIPAWNS, " centipawns");
            hold("rms error", Some(total.rms), RMS_CENTIPAWNS, " centipawns");
            hold("largest error", Some(total.max), LARGEST_CENTIPAWNS, " centipawns");
            return found;
        }
        // Without labels outputs need not be scores of classes.
        let has_classes = accuracy.predictions.is_some();
        let changed = accuracy.top1.filter(|_| has_classes).map(|top1| 100.0 * (1.0 - top1.share()));
        hold("answers that change", changed, 100.0 * CHANGED, " %");
        if let Some(predictions) = &accuracy.predictions {
            hold("right answers that are lost", Some(predictions.loss()), LOST_POINTS, " points");
            let lost = predictions.float_auc.zip(predictions.auc).map(|(float, integer)| float - integer);
            hold("AUC that is lost", lost, LOST_AUC, "");
        }
        if let Some(db) = accuracy.total.sqnr_db.filter(|db| *db < SQNR_DB) {
            found.push(format!("{db:.2} dB signal to noise, usually at least {SQNR_DB} dB"));
        }
        found
    }
}
