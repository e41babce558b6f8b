//! `--feature-lists`: lists of features, a line an example, and the scores that stand beside them.

use super::Value;
use crate::error::{CliError, Explain};
use crate::files;
use serde::Serialize;
use std::path::Path;
use tamis_quant::arch::Architecture;
use tamis_quant::data::{DataError, FeatureLine, read_feature_lists};

/// Reads a file, of which the first `limit` lines count.
///
/// # Errors
/// [`CliError`] naming file and line, also if nothing is left to run.
pub fn read(path: &Path, arch: &Architecture, limit: Option<usize>) -> Result<Vec<FeatureLine>, CliError> {
    if limit == Some(0) {
        return Err(CliError::usage("--limit 0: no examples are left to run").help("give a limit of 1 or more"));
    }
    let text = files::read_text(path, "lists of features, a line an example", files::MAX_FENS_LEN_BYTES)?;
    match read_feature_lists(&text, arch, limit.unwrap_or(usize::MAX)) {
        Err(DataError::Empty) => Err(CliError::usage(format!("{}: holds no lists of features", path.display()))
            .help("give at least one, a line an example")),
        read => read.explain_at(path),
    }
}

/// The first output beside the scores of the lists or positions that have one.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Scores {
    /// How many have one.
    pub count: usize,
    /// Mean of the differences' sizes.
    pub mean_difference: f64,
    /// Pearson's; none where one side is constant.
    pub correlation: Option<f64>,
}

impl Scores {
    /// None where there is no score. Scores as many as values.
    pub fn of(scores: &[Option<f64>], values: &[Vec<Value>]) -> Option<Self> {
        let first = |values: &Vec<Value>| values.first().map(Value::number);
        let pairs: Vec<(f64, f64)> =
            scores.iter().zip(values).filter_map(|(score, values)| Some(((*score)?, first(values)?))).collect();
        if pairs.is_empty() {
            return None;
        }
        let count = pairs.len() as f64;
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / count;
        let (mean_score, mean_value) = (mean(&|pair| pair.0), mean(&|pair| pair.1));
        let both = mean(&|pair| (pair.0 - mean_score) * (pair.1 - mean_value));
        let of_scores = mean(&|pair| (pair.0 - mean_score).powi(2));
        let of_values = mean(&|pair| (pair.1 - mean_value).powi(2));
        let spread = (of_scores * of_values).sqrt();
        Some(Self {
            count: pairs.len(),
            mean_difference: mean(&|pair| (pair.0 - pair.1).abs()),
            correlation: (spread > 0.0).then(|| both / spread),
        })
    }

    /// In a line.
    pub fn text(&self) -> String {
        let correlation = self.correlation.map_or_else(|| "-".to_owned(), |value| format!("{value:.4}"));
        format!("{} scores, mean difference {:.2}, correlation {correlation}", self.count, self.mean_difference)
    }
}
