//! Sixteen plies of a small chess network: see `programs::plies`.
#![no_std]
#![no_main]

#[cortex_m_rt::entry]
fn main() -> ! {
    support::run(programs::plies::run)
}
