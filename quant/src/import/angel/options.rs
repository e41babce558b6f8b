//! What a model's files do not say.

use super::kind::Kind;

/// What the caller knows about a model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Options {
    /// Which model it is; overrides the layers of `graph.json`.
    pub kind: Option<Kind>,
    /// What the leaves of trees are multiplied by: `ml.learn.rate` of the training.
    pub learning_rate: Option<f64>,
    /// What stands between the fields of a line of text, as it is; else it is looked up in the first line of each
    /// matrix.
    pub separator: Option<String>,
    /// Fields of an example, each with one active feature: `numfield` of `graph.json`.
    pub fields: Option<usize>,
    /// The most features that are active at once, where they are not fields.
    pub max_active: Option<usize>,
    /// Number of features: of trees, which do not know, and of dense data without `graph.json`.
    pub features: Option<usize>,
}
