//! A convolutional network in flash: see `programs::keywords`.
#![no_std]
#![no_main]

#[cortex_m_rt::entry]
fn main() -> ! {
    support::run(programs::keywords::run)
}
