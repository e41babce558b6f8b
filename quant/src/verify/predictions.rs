//! Which class a network predicts, and against labels how well.

use super::metrics::{Agreement, log_loss};
use crate::score::area_under_curve;
use serde::Serialize;

/// Right and wrong predictions of both.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Predictions {
    /// Right ones of the float network.
    pub float_correct: Agreement,
    /// Right ones of the integers.
    pub correct: Agreement,
    /// AUC of the float network, for two classes.
    pub float_auc: Option<f64>,
    /// AUC of the integers.
    pub auc: Option<f64>,
    /// Log-loss of the float network.
    pub float_log_loss: f64,
    /// Log-loss of the integers.
    pub log_loss: f64,
}

impl Predictions {
    /// Of logits, a row an example, and as many labels.
    #[must_use]
    pub fn of(float: &[Vec<f64>], integer: &[Vec<f64>], labels: &[usize]) -> Self {
        let correct = |logits: &[Vec<f64>]| {
            let right = logits.iter().zip(labels).filter(|(logits, label)| class(logits) == **label).count();
            Agreement::new(right, labels.len())
        };
        let area = |logits: &[Vec<f64>]| {
            let scored = |(logits, label): (&Vec<f64>, &usize)| match logits.as_slice() {
                [logit] => Some((*logit, *label == 1)),
                [no, yes] => Some((yes - no, *label == 1)),
                _ => None,
            };
            area_under_curve(&logits.iter().zip(labels).map(scored).collect::<Option<Vec<(f64, bool)>>>()?)
        };
        Self {
            float_correct: correct(float),
            correct: correct(integer),
            float_auc: area(float),
            auc: area(integer),
            float_log_loss: log_loss(float, labels),
            log_loss: log_loss(integer, labels),
        }
    }

    /// Loss of accuracy in percentage points.
    #[must_use]
    pub fn loss(&self) -> f64 {
        (self.float_correct.equal as f64 - self.correct.equal as f64) * 100.0 / self.correct.count.max(1) as f64
    }
}

/// How often both predict the same class.
pub(super) fn agreement(float: &[Vec<f64>], integer: &[Vec<f64>]) -> Agreement {
    let alike = float.iter().zip(integer).filter(|(float, integer)| class(float) == class(integer)).count();
    Agreement::new(alike, float.len())
}

/// The predicted class: the first largest logit; of one logit, whether it is above 0.
pub(super) fn class(logits: &[f64]) -> usize {
    match logits {
        [logit] => usize::from(*logit > 0.0),
        logits => {
            let mut best = 0;
            for (index, logit) in logits.iter().enumerate() {
                if *logit > logits[best] {
                    best = index;
                }
            }
            best
        }
    }
}
