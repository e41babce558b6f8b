//! What several verbs say about a network, gathered once and printed as text or as JSON.

mod architecture;
mod claims;
mod engine;
mod operation;
mod permutation;
mod proof;
mod tensor;
mod words;

pub use architecture::{graph_in_one_line, one_line};
pub use claims::{Disagreement, disagreements};
pub use engine::EngineFacts;
pub use operation::{OperationFacts, operations};
pub use permutation::{OrderFacts, PermutationFacts};
pub use proof::ProofFacts;
pub use tensor::{TensorFacts, of_graph, of_model, of_net, print};
