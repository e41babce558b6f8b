//! The contract suite on the board: every operation of every tier against the definition, as `cargo test` runs it on a host.
//!
//! A firmware that evaluates a network names one tier, and the linker keeps that one; this program wants them all.
#![no_std]
#![no_main]

use cortex_m_examples as _;
use cortex_m_rt::entry;
use semihosting::{println, process};
use tamis_runtime::kernels::{suite, tiers};

#[entry]
fn main() -> ! {
    for tier in tiers() {
        match suite::check(tier) {
            Ok(()) => println!("{}: every operation gives the bits of the definition", tier.name),
            Err(mismatch) => {
                println!("{}: {mismatch:?}", tier.name);
                process::exit(1)
            }
        }
    }
    process::exit(0)
}
