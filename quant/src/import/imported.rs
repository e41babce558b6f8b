//! What a reader of checkpoints hands on: a graph, where it came from, and what was decided on the way.

use crate::graph::Graph;
use crate::remark::Remark;
use std::collections::BTreeMap;

/// A network of a checkpoint that says, or was told, how its layers hang together.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// The network, checked.
    pub graph: Graph,
    /// The form that was read, in words: `DataCode .nn`, `lattice-tune checkpoint`, `Angel model folder`, …
    pub source: String,
    /// FNV-1a, 64 bits, of the bytes read; of a folder, of its files in the order of their names.
    pub bytes_hash: u64,
    /// What a person should know.
    pub remarks: Vec<Remark>,
    /// Ranges that the description gives.
    pub ranges: Ranges,
}

/// The ends of values, where they are known without calibration.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ranges {
    /// Of the input.
    pub input: Option<(f64, f64)>,
    /// Of what nodes make, by their names.
    pub nodes: BTreeMap<String, (f64, f64)>,
}
