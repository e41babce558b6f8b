//! The forms that a float value has among the runtime's values.

use crate::graph::Value;
use std::collections::BTreeMap;

/// What a node made of a float value.
#[derive(Debug, Clone)]
pub(super) enum Form {
    /// The sparse input.
    List,
    /// u8, i8 or i16.
    Whole(Whole),
    /// i32, not narrowed yet.
    Sum(Sum),
    /// f32.
    Real(usize),
    /// A map that is rounded when it is read.
    Pending(Pending),
    /// Float values one behind the other, put together when somebody reads them.
    Joined(Vec<Value>),
}

impl Form {
    pub(super) const fn sum(&self) -> Option<&Sum> {
        match self {
            Self::Sum(sum) => Some(sum),
            _ => None,
        }
    }
}

/// Integers that stand for `(integer − zero) · unit`.
#[derive(Debug, Clone)]
pub(super) struct Whole {
    pub at: usize,
    /// (1,) or one an element.
    pub units: Vec<f64>,
    pub zero: i32,
}

impl Whole {
    pub(super) fn unit(&self, element: usize) -> f64 {
        self.units[element % self.units.len()]
    }
}

/// i32 that stand for `integer · unit`.
#[derive(Debug, Clone)]
pub(super) struct Sum {
    pub at: usize,
    /// (1,) or one an element.
    pub units: Vec<f64>,
    /// Whether what is below 0 counts as 0.
    pub relu: bool,
    /// What all above counts as, if anything does.
    pub cap: Option<f64>,
    /// No real value is beyond this.
    pub magnitude: f64,
}

impl Sum {
    /// The greatest integer in this unit, if it may not be beyond `high`.
    pub(super) fn capped(&self, unit: f64, zero: i32, high: i32) -> i32 {
        let cap = self.cap.map(|cap| f64::from(zero) + (cap / unit).round());
        // A conversion saturates.
        cap.map_or(high, |cap| high.min(cap as i32))
    }

    pub(super) fn unit(&self, element: usize) -> f64 {
        if self.units.len() == 1 { self.units[0] } else { self.units[element] }
    }
}

/// What is rounded when it is read; low, high: the ends of a clip behind it, if there is one.
#[derive(Debug, Clone)]
pub(super) struct Pending {
    pub work: Work,
    pub low: Option<f64>,
    pub high: Option<f64>,
}

impl Pending {
    pub(super) const fn is_of_a_convolution(&self) -> bool {
        matches!(self.work, Work::Convolution { .. })
    }

    /// The integers of a map, rounded once more.
    pub(super) fn of_integers(whole: Whole) -> Self {
        Self { work: Work::Sum { a: whole.clone(), b: whole, sign: 0.0 }, low: None, high: None }
    }
}

/// What gives the numbers to be rounded.
#[derive(Debug, Clone)]
pub(super) enum Work {
    /// The sums of a node of the graph, by its value, of what it reads, and another map that is added.
    Convolution { of: Value, read: Whole, beside: Option<Whole> },
    /// Two maps, the second one's sign.
    Sum { a: Whole, b: Whole, sign: f64 },
    /// Two maps.
    Product { a: Whole, b: Whole },
}

/// Elements of float values whose units shall differ: (len,) factors of the value's unit, and a factor of its range.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::quantise::graph) struct Channels {
    pub of: BTreeMap<Value, Vec<f64>>,
}

/// A power of two as a unit of i32: with it `magnitude` has at most 30 bits, and no unit up to `coarsest` is 2²⁰ times
/// as large.
pub(super) fn power_of_two_unit(magnitude: f64, coarsest: f64) -> f64 {
    let least = (magnitude / f64::from(1 << 30)).max(coarsest / f64::from(1 << 20));
    // Within the exponents of f32.
    let mut unit = 2f64.powi(-100);
    while unit < least && unit < 2f64.powi(100) {
        unit *= 2.0;
    }
    unit
}

#[cfg(test)]
mod tests {
    use super::power_of_two_unit;

    #[test]
    fn thirty_bits_hold_the_magnitude() {
        for (magnitude, coarsest) in [(1.0, 1e-9), (3e5, 1e-3), (1e-20, 1e-25), (5.0, 1.0)] {
            let unit = power_of_two_unit(magnitude, coarsest);
            assert!(magnitude / unit <= f64::from(1 << 30) && coarsest / unit <= f64::from(1 << 20));
            let half = unit / 2.0;
            assert!(magnitude / half > f64::from(1 << 30) || coarsest / half > f64::from(1 << 20));
        }
    }
}
