//! An NNUE in flash: see `programs::nnue`.
#![no_std]
#![no_main]

#[cortex_m_rt::entry]
fn main() -> ! {
    support::run(programs::nnue::run)
}
