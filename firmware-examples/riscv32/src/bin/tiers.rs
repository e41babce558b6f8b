//! The contract suite of every kernel tier: see `programs::tiers`.
#![no_std]
#![no_main]

#[riscv_rt::entry]
fn main() -> ! {
    support::run(programs::tiers::run)
}
