//! The first layer's rows in bytes: half the memory, which is most of a network's, and half of what an update reads.
//!
//! Where every integer of the first layer is a byte, storing it as one changes no value. Finer scales make larger
//! integers, so this is a choice between memory and precision, and the error that is expected decides it.

use crate::arch::ElementType;
use crate::quantise::element::range;
use crate::quantised::QuantNet;

/// What the first layer's rows are stored as.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rows {
    /// As the description says.
    Described,
    /// As bytes where the scales of least error make every weight one, else as the description says.
    WhereExact,
    /// As bytes, at the scales of least error with which every weight is one.
    Bytes {
        /// What mean and deviation of the error together may come to, in units of the output, on examples that are
        /// drawn; without one, what they come to with the description's own scales.
        limit: Option<f64>,
    },
}

/// Whether every weight of the first layer is a byte.
pub(super) fn are_bytes(net: &QuantNet) -> bool {
    let (low, high) = range(ElementType::I8);
    let weights = &net.layers[0].weights;
    let is_narrow = matches!(weights.element, ElementType::I8 | ElementType::I16);
    is_narrow && weights.integers().iter().all(|weight| (low..=high).contains(weight))
}

/// Stores the first layer's rows in bytes where every weight is one, and says whether they are. No value changes.
#[must_use]
pub fn store_in_bytes(net: &mut QuantNet) -> bool {
    if !are_bytes(net) {
        return false;
    }
    let weights = &mut net.layers[0].weights;
    weights.element = ElementType::I8;
    for spec in net.arch.tensors.iter_mut().filter(|spec| spec.name == weights.name) {
        spec.r#type = ElementType::I8;
    }
    true
}
