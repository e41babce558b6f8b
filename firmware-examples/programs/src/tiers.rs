//! The contract suite on the board: every operation of every tier against the definition, as `cargo test` runs it on a
//! host.
//!
//! A firmware that evaluates a network names one tier, and the linker keeps that one; this program wants them all.

use crate::Error;
use tamis_runtime::kernels::tiers;
use tamis_runtime::testing::suite;

/// The log tells no names, because boards differ in the tiers that they have.
///
/// # Errors
/// The first tier and operation that leaves the definition.
pub fn run() -> Result<(), Error> {
    for tier in tiers() {
        suite::check(tier).map_err(|mismatch| Error::Tier(tier.name, mismatch))?;
    }
    defmt::println!("every operation of every tier gives the bits of the definition");
    Ok(())
}
