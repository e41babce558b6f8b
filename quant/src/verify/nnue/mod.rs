//! Networks of the Stockfish family: is what the runtime computes what the `.nnue` file says, can anything overflow,
//! and does the file come back? Full precision is no question: the family's files are integers already.

mod report;

pub use report::{NnueReport, NnueVerifyError, verify_nnue};
