//! The smallest useful image: see `programs::minimal`.
#![no_std]
#![no_main]

use programs::minimal::Scratch;

#[riscv_rt::entry]
fn main() -> ! {
    // On the stack: this entry hands out no statics.
    bare::run(|| programs::minimal::run(&mut Scratch::new()))
}
