//! Every test across the crates: one binary, a module a subject.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "subjects/engines.rs"]
mod engines; // what real engines' networks evaluate to

#[path = "subjects/verification.rs"]
mod verification; // the three questions on real networks
