//! The operations of general networks: sparse inputs, interactions, trees, tables, reals in and out.
//!
//! What networks of accumulators and of dense layers need is resolved in `step` and run in `exec`; the rest is here, a family a
//! file. None has an entry in a tier's table but the dense layer on i16: they are plain loops, the same on every tier.

mod sparse;
