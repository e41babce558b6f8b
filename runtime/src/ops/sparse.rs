//! The sparse input: checking a caller's list.

use crate::error::RunError;
use crate::format::element;
use crate::plan::Plan;

impl Plan<'_> {
    /// A list of features, and their values.
    pub(crate) fn check_list(&self, features: &[u32], values: &[i16]) -> Result<(), RunError> {
        let record = self.model.input();
        let (found, limit) = (features.len(), self.max_active());
        if record.exact != 0 && found != limit {
            return Err(RunError::FeatureCount { found, expected: limit });
        }
        if found > limit {
            return Err(RunError::TooManyFeatures { found, limit });
        }
        let expected = if record.element == element::I16 { found } else { 0 };
        if values.len() != expected {
            return Err(RunError::Length { what: "values", found: values.len(), expected });
        }
        if let Some(pair) = features.windows(2).find(|pair| pair[0] >= pair[1]) {
            return Err(RunError::FeatureOrder { previous: pair[0], found: pair[1] });
        }
        // In ascending order, so that the last one is the largest.
        match features.last() {
            Some(last) if *last >= record.size => Err(RunError::Feature { found: *last, limit: record.size }),
            _ => Ok(()),
        }
    }
}
