//! `tamis-runtime` for JavaScript: a network in memory of its own, and calls that take and give typed arrays.
//!
//! [`network::Network`] is the one class. It has no arithmetic: every number comes out of the runtime. `../npm` is what
//! stands around it, the package with its types, and `../page` a page that uses the package.

#![deny(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod arrays;
mod board;
mod facts;
mod fen;
mod memory;
pub mod network;
