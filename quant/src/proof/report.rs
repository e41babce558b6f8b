//! What the proof says.

use std::fmt;

/// What is bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// A hidden unit's i16 accumulator over feature rows.
    Accumulator,
    /// An i32 sum over activations.
    Sum,
    /// An i64 sum over activations.
    WideSum,
    /// An i16 sum of a pool's window.
    NarrowSum,
    /// The i32 result of the integer head.
    Result,
}

impl Quantity {
    /// The type's bounds.
    pub const fn limits(self) -> (i64, i64) {
        match self {
            Self::Accumulator | Self::NarrowSum => (i16::MIN as i64, i16::MAX as i64),
            Self::Sum | Self::Result => (i32::MIN as i64, i32::MAX as i64),
            Self::WideSum => (i64::MIN, i64::MAX),
        }
    }

    /// The type's word.
    pub const fn type_word(self) -> &'static str {
        match self {
            Self::Accumulator | Self::NarrowSum => "i16",
            Self::Sum | Self::Result => "i32",
            Self::WideSum => "i64",
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Accumulator => "accumulator",
            Self::Sum | Self::WideSum | Self::NarrowSum => "sum",
            Self::Result => "result",
        })
    }
}

/// The bound of one row.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// Weight tensor.
    pub tensor: String,
    /// What is bounded.
    pub quantity: Quantity,
    /// Row of the tensor: a hidden unit, or `bucket · outputs + output`. Accumulators report their worst row only.
    pub row: usize,
    /// Output bucket in which it is reached, where the layer is bucketed or one before it is.
    pub bucket: Option<usize>,
    /// The least value that any admissible input can reach, or a lower bound of it.
    pub low: i64,
    /// The greatest, or an upper bound.
    pub high: i64,
}

impl Check {
    /// How much of the type the bound uses: 1 is all of it.
    pub fn fraction(&self) -> f64 {
        let (least, greatest) = self.quantity.limits();
        let full = -(least as f64);
        (self.high as f64 / full).max(-(self.low as f64) / full).max(if self.high > greatest { 1.0 } else { 0.0 })
    }

    /// Whether the bound stays within the type.
    pub fn fits(&self) -> bool {
        let (least, greatest) = self.quantity.limits();
        self.low >= least && self.high <= greatest
    }
}

/// An input that takes a row out of its type.
#[derive(Debug, Clone, PartialEq)]
pub enum Witness {
    /// Feature lists within `max_active`, own perspective first (the second list is empty where it does not matter).
    Features {
        /// Distinct features of each perspective.
        lists: [Vec<u32>; 2],
        /// The row's value on them, in 64 bits.
        value: i64,
    },
    /// Activations at the ends of their range that no feature list was found to reach.
    Activations {
        /// (inputs,) what each input contributes before its weight: the activation, squared where the network squares
        /// it.
        values: Vec<i32>,
        /// The row's value on them, in 64 bits.
        value: i64,
    },
}

/// A bound that leaves its type, with the worst row's witness.
#[derive(Debug, Clone, PartialEq)]
pub struct Violation {
    /// The bound of the worst row.
    pub check: Check,
    /// How many rows of this tensor leave the type.
    pub rows: usize,
    /// An input that shows it.
    pub witness: Option<Witness>,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Check { tensor, quantity, row, bucket, low, high } = &self.check;
        let (least, greatest) = quantity.limits();
        write!(f, "tensor `{tensor}`, row {row}")?;
        if *quantity == Quantity::Accumulator {
            write!(f, " (hidden unit {row}, over all lists that the network admits)")?;
        }
        if let Some(bucket) = bucket {
            write!(f, " (output bucket {bucket})")?;
        }
        write!(
            f,
            ": the {quantity} can reach {low} to {high}, beyond {} ({least} to {greatest})",
            quantity.type_word()
        )?;
        if self.rows > 1 {
            write!(f, "; {} rows of this tensor can", self.rows)?;
        }
        match &self.witness {
            Some(Witness::Features { lists, value }) => {
                write!(f, "; witness: features {:?}", lists[0])?;
                if !lists[1].is_empty() {
                    write!(f, " and, for the other perspective, {:?}", lists[1])?;
                }
                write!(f, " give {value}")
            }
            Some(Witness::Activations { values, value }) => {
                let shown = values.len().min(8);
                write!(f, "; witness (activations that no feature list was found to reach): {:?}", &values[..shown])?;
                if shown < values.len() {
                    write!(f, " and {} more, each at an end of its range,", values.len() - shown)?;
                }
                write!(f, " give {value}")
            }
            None => Ok(()),
        }
    }
}

/// Every bound of a network.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Proof {
    /// The bounds: the worst accumulator, every output row of every sum, every result.
    pub checks: Vec<Check>,
    /// Those that leave their type, a tensor and quantity each.
    pub violations: Vec<Violation>,
    /// Those of accumulators that leave i16 where the network's own arithmetic wraps there as well: every tier gives
    /// what its engine gives, so that nothing is wrong with them.
    pub wraps: Vec<Violation>,
}

impl Proof {
    /// Whether nothing can leave its type.
    pub fn holds(&self) -> bool {
        self.violations.is_empty()
    }

    /// Whether this tensor's quantity stays in its type.
    pub fn fits(&self, tensor: &str, quantity: Quantity) -> bool {
        !self
            .violations
            .iter()
            .chain(&self.wraps)
            .any(|violation| violation.check.tensor == tensor && violation.check.quantity == quantity)
    }

    /// Records the rows of one tensor; the worst of those that leave the type becomes a violation.
    pub(super) fn add(&mut self, checks: Vec<Check>, witness: impl FnOnce(&Check) -> Option<Witness>) {
        let mut worst: Option<&Check> = None;
        let mut rows = 0;
        for check in checks.iter().filter(|check| !check.fits()) {
            rows += 1;
            if worst.is_none_or(|worst| check.fraction() > worst.fraction()) {
                worst = Some(check);
            }
        }
        if let Some(check) = worst {
            let witness = witness(check);
            self.violations.push(Violation { check: check.clone(), rows, witness });
        }
        self.checks.extend(checks);
    }
}
