//! A network that the host gives: see `programs::given`.
#![no_std]
#![no_main]

#[riscv_rt::entry]
fn main() -> ! {
    support::run(|| programs::given::run(support::host::read))
}
