//! Inputs for the benchmarks.
