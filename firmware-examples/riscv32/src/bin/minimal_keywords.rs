//! The smallest image with convolutions: see `programs::minimal_keywords`.
#![no_std]
#![no_main]

use programs::minimal_keywords::Scratch;

#[riscv_rt::entry]
fn main() -> ! {
    // On the stack: this entry hands out no statics.
    bare::run(|| programs::minimal_keywords::run(&mut Scratch::new()))
}
