//! The smallest image with convolutions: see `programs::minimal_keywords`.
#![no_std]
#![no_main]

use programs::minimal_keywords::Scratch;

#[cortex_m_rt::entry]
fn main() -> ! {
    static mut SCRATCH: Scratch = Scratch::new();
    bare::run(|| programs::minimal_keywords::run(SCRATCH))
}
