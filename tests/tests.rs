//! Every test across the crates.
