//! From a line to what a network is given of it.

use super::text::tokens;
use super::vocabulary::{END, START, Vocabulary};

/// The features of a source line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFeatures<'t> {
    /// Number of tokens.
    pub length: usize,
    /// (length,)
    pub tokens: Vec<&'t str>,
    /// (length,)
    pub ids: Vec<u32>,
}

/// The features of a target line, which a decoder reads from its start mark and predicts up to its end mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetFeatures<'t> {
    /// Number of tokens and one.
    pub length: usize,
    /// (length − 1,)
    pub tokens: Vec<&'t str>,
    /// (length,): `<s>`, then the tokens.
    pub ids: Vec<u32>,
    /// (length,): the tokens, then `</s>`.
    pub ids_out: Vec<u32>,
}

/// The features of one source line, for whoever looks at a single one; the pipeline does not keep the tokens.
#[must_use]
pub fn source_features<'t>(text: &'t str, vocabulary: &Vocabulary) -> SourceFeatures<'t> {
    let mut ids = Vec::new();
    vocabulary.ids(text, &mut ids);
    SourceFeatures { length: ids.len(), tokens: tokens(text).collect(), ids }
}

/// The same of a target line.
#[must_use]
pub fn target_features<'t>(text: &'t str, vocabulary: &Vocabulary) -> TargetFeatures<'t> {
    let mut ids = vec![START];
    vocabulary.ids(text, &mut ids);
    let ids_out = ids.iter().skip(1).copied().chain([END]).collect();
    TargetFeatures { length: ids.len(), tokens: tokens(text).collect(), ids, ids_out }
}
