//! The smallest useful image: see `programs::minimal`.
#![no_std]
#![no_main]

#[cortex_m_rt::entry]
fn main() -> ! {
    bare::run(programs::minimal::run)
}
