//! How good outputs are, given the classes: right ones, the area under the curve, the loss.

mod auc;

pub use auc::area_under_curve;

use crate::data::{DataError, classes};
use crate::error_kind::ErrorKind;
use serde::Serialize;
use thiserror::Error;

/// A probability is taken as no nearer to 0 or 1 than this, so that one wrong certainty does not make the loss
/// infinite.
pub const LEAST_PROBABILITY: f64 = 1e-15;

/// What is known about outputs and their labels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Summary {
    /// Examples.
    pub count: usize,
    /// Examples whose class the network says.
    pub correct: usize,
    /// Of two classes: how often a positive example has a higher score than a negative one, ties counted half. None
    /// where there are only positive or only negative ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auc: Option<f64>,
    /// Of two classes: the mean of −ln p, p the probability of the right class, kept [`LEAST_PROBABILITY`] away from 0
    /// and 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logloss: Option<f64>,
}

/// Labels that do not fit the outputs.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ScoreError {
    /// Labels that are no classes.
    #[error(transparent)]
    Labels(#[from] DataError),
    /// Too many labels, or too few.
    #[error("{labels} labels for {examples} examples")]
    Count {
        /// How many labels there are.
        labels: usize,
        /// How many examples there are.
        examples: usize,
    },
    /// A class that the network does not have.
    #[error("label {index} is class {class}; the network has {classes}, 0 to {}", classes.saturating_sub(1))]
    NoSuchClass {
        /// Which label, from 0.
        index: usize,
        /// The class.
        class: u32,
        /// How many the network tells apart.
        classes: usize,
    },
}

impl ScoreError {
    /// [`ErrorKind::Usage`] for another number of labels, else [`ErrorKind::Malformed`].
    #[must_use]
    pub fn class(&self) -> ErrorKind {
        match self {
            Self::Count { .. } => ErrorKind::Usage,
            _ => ErrorKind::Malformed,
        }
    }
}

/// The summary of raw scores, (classes,) an example, before any sigmoid or softmax. One score is that of the second of
/// two classes, which it says above 0; of several the highest says its class, the first of equal ones.
///
/// The probability behind the loss is 1 / (1 + e^−z), z the one score or the second minus the first.
///
/// # Errors
/// [`ScoreError`] if the labels do not fit.
pub fn summarise(scores: &[Vec<f64>], labels: &[f64]) -> Result<Summary, ScoreError> {
    if scores.len() != labels.len() {
        return Err(ScoreError::Count { labels: labels.len(), examples: scores.len() });
    }
    let of_classes = classes(labels)?;
    // Without examples there is nothing to be right about.
    let outputs = match scores {
        [first, ..] => first.len(),
        [] => 0,
    };
    let count_of_classes = outputs.max(2);
    if let Some(index) = of_classes.iter().position(|class| *class as usize >= count_of_classes) {
        return Err(ScoreError::NoSuchClass { index, class: of_classes[index], classes: count_of_classes });
    }
    let correct =
        scores.iter().zip(&of_classes).filter(|(scores, class)| said(scores) == Some(**class as usize)).count();
    let binary: Option<Vec<(f64, bool)>> = (1..=2).contains(&outputs).then(|| {
        let pairs = scores.iter().zip(&of_classes);
        pairs.filter_map(|(scores, class)| Some((margin(scores)?, *class == 1))).collect()
    });
    Ok(Summary {
        count: scores.len(),
        correct,
        auc: binary.as_deref().and_then(area_under_curve),
        logloss: binary.as_deref().and_then(mean_loss),
    })
}

fn said(scores: &[f64]) -> Option<usize> {
    match scores {
        [] => None,
        [score] => Some(usize::from(*score > 0.0)),
        many => {
            let mut best = 0;
            for (index, score) in many.iter().enumerate() {
                if *score > many[best] {
                    best = index;
                }
            }
            Some(best)
        }
    }
}

fn margin(scores: &[f64]) -> Option<f64> {
    match scores {
        [score] => Some(*score),
        [first, second] => Some(second - first),
        _ => None,
    }
}

fn mean_loss(scores: &[(f64, bool)]) -> Option<f64> {
    let loss = |(score, is_positive): &(f64, bool)| {
        let signed = if *is_positive { *score } else { -score };
        let probability = 1.0 / (1.0 + libm::exp(-signed));
        -libm::log(probability.clamp(LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY))
    };
    let sum: f64 = scores.iter().map(loss).sum();
    if scores.is_empty() { None } else { Some(sum / scores.len() as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_by_hand() {
        let one = summarise(&[vec![2.0], vec![-1.0], vec![0.0]], &[1.0, -1.0, 1.0]).unwrap();
        assert_eq!((one.count, one.correct, one.auc), (3, 2, Some(1.0)));
        // ln(1 + e^-2), ln(1 + e^-1), ln 2
        let expected = (0.126_928_011_042_972_5 + 0.313_261_687_518_222_8 + std::f64::consts::LN_2) / 3.0;
        assert!((one.logloss.unwrap() - expected).abs() < 1e-15);
        let two = summarise(&[vec![0.0, 2.0], vec![1.0, 0.0], vec![5.0, 5.0]], &[1.0, 0.0, 1.0]).unwrap();
        assert_eq!(two, one);
        let ten = summarise(&[vec![0.0, 2.0, 2.0], vec![3.0, 0.0, 1.0]], &[1.0, 2.0]).unwrap();
        assert_eq!(ten, Summary { count: 2, correct: 1, auc: None, logloss: None });
        let certain = summarise(&[vec![-1e9]], &[1.0]).unwrap();
        assert!((certain.logloss.unwrap() - 34.538_776_394_910_684).abs() < 1e-9 && certain.auc.is_none());
    }

    #[test]
    fn labels_that_do_not_fit_are_named() {
        for (labels, words) in [
            (&[1.0][..], "1 labels for 2 examples"),
            (&[1.0, 2.0], "label 1 is class 2; the network has 2, 0 to 1"),
            (&[0.5, 1.0], "label 0 is 0.5"),
        ] {
            let message = summarise(&[vec![0.0], vec![1.0]], labels).unwrap_err().to_string();
            assert!(message.contains(words), "{message}");
        }
    }
}
