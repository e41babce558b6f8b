//! Rows of ids of two sides, as features.

use super::error::DataError;

/// Rows of ids.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tokens {
    /// Ids of the source, those of unknown tokens among them.
    pub source_ids: u32,
    /// The same of the target.
    pub target_ids: u32,
    pub rows: Vec<Row>,
}

/// A row, and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub batch: usize,
    pub row: usize,
    /// Of the corpus, from 0.
    pub line: u32,
    /// In ascending order.
    pub features: Vec<(u32, f64)>,
}

impl Row {
    /// `batch 3, row 5 (line 17 of the corpus)`
    pub fn place(&self) -> String {
        format!("batch {}, row {} (line {} of the corpus)", self.batch, self.row, u64::from(self.line) + 1)
    }
}

impl Tokens {
    /// The features of a row, for a network that has so many.
    pub fn features(&self, index: usize, features: usize) -> Result<Vec<(u32, f64)>, DataError> {
        let row = &self.rows[index];
        let (source, target) = (self.source_ids, self.target_ids);
        let found = u64::from(source) + u64::from(target);
        if found == features as u64 {
            return Ok(row.features.clone());
        }
        let place = row.place();
        Err(DataError::Vocabulary { place, source_ids: source, target_ids: target, found, expected: features })
    }
}
