//! The contract suite of every kernel tier: see `programs::tiers`.
#![no_std]
#![no_main]

#[cortex_m_rt::entry]
fn main() -> ! {
    support::run(programs::tiers::run)
}
