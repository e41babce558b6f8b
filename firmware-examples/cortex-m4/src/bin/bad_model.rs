//! Damaged containers and wrong calls: see `programs::bad_model`.
#![no_std]
#![no_main]

#[cortex_m_rt::entry]
fn main() -> ! {
    support::run(programs::bad_model::run)
}
