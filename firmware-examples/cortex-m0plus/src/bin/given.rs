//! A network that the host gives: see `programs::given`.
#![no_std]
#![no_main]

#[cortex_m_rt::entry]
fn main() -> ! {
    support::run(|| programs::given::run(support::host::read))
}
