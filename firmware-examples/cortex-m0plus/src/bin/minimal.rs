//! The smallest useful image: see `programs::minimal`.
#![no_std]
#![no_main]

use programs::minimal::Scratch;

#[cortex_m_rt::entry]
fn main() -> ! {
    static mut SCRATCH: Scratch = Scratch::new();
    bare::run(|| programs::minimal::run(SCRATCH))
}
