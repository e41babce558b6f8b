//! What values a network really has: the float evaluator run over calibration samples, and every value observed.
//!
//! Two passes: the first finds the extremes of every value, the second counts it in equal bins between them. Nothing
//! depends on the order of the samples but the histograms' integer counts, which do not either; so the result is the
//! same on every host.
//!
//! A [`Method`] then turns what was observed of a value into the range that its integers shall cover.

mod histogram;
mod method;
mod observe;

pub use histogram::Histogram;
pub use method::{Method, Range, Target};
pub use observe::{Calibration, Observed, calibrate};
