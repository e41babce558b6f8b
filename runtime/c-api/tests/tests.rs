//! The border as its users meet it: the header, and programs in C and C++.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

#[macro_use]
extern crate tests;

mod header; // the header is what the sources say
mod programs; // what C and C++ programs print, under each compiler that there is

fn main() -> std::process::ExitCode {
    tests::trials::run()
}
