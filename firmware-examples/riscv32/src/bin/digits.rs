//! A dense network in flash: see `programs::digits`.
#![no_std]
#![no_main]

#[riscv_rt::entry]
fn main() -> ! {
    support::run(programs::digits::run)
}
