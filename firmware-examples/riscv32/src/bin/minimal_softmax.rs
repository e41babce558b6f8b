//! The smallest image with convolutions and a softmax: see `programs::minimal_softmax`.
#![no_std]
#![no_main]

use programs::minimal_softmax::Scratch;

#[riscv_rt::entry]
fn main() -> ! {
    // On the stack: this entry hands out no statics.
    bare::run(|| programs::minimal_softmax::run(&mut Scratch::new()))
}
