//! The smallest image with convolutions and a softmax: see `programs::minimal_softmax`.
#![no_std]
#![no_main]

use programs::minimal_softmax::Scratch;

#[cortex_m_rt::entry]
fn main() -> ! {
    static mut SCRATCH: Scratch = Scratch::new();
    bare::run(|| programs::minimal_softmax::run(SCRATCH))
}
