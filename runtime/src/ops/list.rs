//! A sparse vector as its list of features: checking a caller's, and going over it.

use crate::error::RunError;
use crate::format::{InputRecord, element};

/// A checked list of features.
#[derive(Debug, Clone, Copy)]
pub(crate) struct List<'a> {
    /// In ascending order.
    pub features: &'a [u32],
    /// As many, or none: then each is 1.
    pub values: &'a [i16],
    /// The real value of a 1.
    pub unit: f32,
}

impl List<'_> {
    /// Features with their values; 1 where the network has no values.
    pub fn integers(&self) -> impl Iterator<Item = (usize, i16)> {
        let value = |place| if let Some(value) = self.values.get(place) { *value } else { 1 };
        self.features.iter().enumerate().map(move |(place, feature)| (*feature as usize, value(place)))
    }

    /// Features with their real values; `None` where the network has no values.
    pub fn reals(&self) -> impl Iterator<Item = (usize, Option<f32>)> {
        let value = |place| self.values.get(place).map(|value| f32::from(*value) * self.unit);
        self.features.iter().enumerate().map(move |(place, feature)| (*feature as usize, value(place)))
    }

    /// The value of a feature, 0 if it is not active.
    pub fn at(&self, feature: usize) -> i32 {
        match self.features.binary_search_by(|active| (*active as usize).cmp(&feature)) {
            Ok(place) => self.values.get(place).map_or(1, |value| i32::from(*value)),
            Err(_) => 0,
        }
    }
}

/// Checks a caller's list of features, and their values, for a network with this input.
pub(crate) fn check_list(record: &InputRecord, features: &[u32], values: &[i16]) -> Result<(), RunError> {
    let (found, limit) = (features.len(), record.max_active as usize);
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
