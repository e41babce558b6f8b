//! The operations of a container, in the order in which they run.

use super::words::{activation_word, element_word, operation_word};
use crate::table::row;
use serde::Serialize;
use tamis_runtime::format::{Model, People};
use tamis_runtime::raw::NONE;

/// One operation.
#[derive(Debug, Clone, Serialize)]
pub struct OperationFacts {
    /// Its kind.
    pub kind: &'static str,
    /// The value that it reads, 0 the network's input.
    pub input: u32,
    /// How many elements of it.
    pub input_len: u32,
    /// The value that it writes.
    pub output: u32,
    /// Number of elements of that.
    pub output_len: u32,
    /// Type of its elements.
    pub output_element: &'static str,
    /// Name of its weights.
    pub weights: Option<String>,
    /// Its activation.
    pub activation: Option<&'static str>,
}

/// All of them.
pub fn operations(model: &Model<'_>, people: &People<'_>) -> Vec<OperationFacts> {
    let names: Vec<&str> = people.tensor_names.lines().collect();
    let name = |index: u32| {
        let found = (index != NONE).then(|| names.get(index as usize)).flatten();
        found.map(|name| (*name).to_owned())
    };
    let facts = model.ops().iter().map(|record| {
        let output = model.values().get(record.output as usize);
        OperationFacts {
            kind: operation_word(record.kind),
            input: record.input,
            input_len: record.input_len,
            output: record.output,
            output_len: output.map_or(0, |value| value.len),
            output_element: output.map_or("unknown", |value| element_word(value.element())),
            weights: name(record.weights),
            activation: activation_word(record.activation),
        }
    });
    facts.collect()
}

impl OperationFacts {
    /// A heading for [`OperationFacts::row`].
    pub fn heading() -> Vec<String> {
        row!["operation", "reads", "writes", "weights", "activation"]
    }

    /// The operation as a row of a table.
    pub fn row(&self) -> Vec<String> {
        row![
            self.kind,
            format!("value {} ({})", self.input, self.input_len),
            format!("value {} ({} {})", self.output, self.output_len, self.output_element),
            self.weights.as_deref().unwrap_or_default(),
            self.activation.unwrap_or_default(),
        ]
    }
}
