//! Fully connected layers of bytes: see `programs::layers`.
#![no_std]
#![no_main]

#[riscv_rt::entry]
fn main() -> ! {
    support::run(programs::layers::run)
}
