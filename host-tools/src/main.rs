//! Placeholder until the verbs exist.
fn main() {}
