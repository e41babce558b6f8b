//! What several commands say about a network, gathered once and printed as text or as JSON.

mod architecture;
mod claims;
mod engine;
mod fit;
mod operation;
mod permutation;
mod proof;
mod scales;
mod tensor;

pub use architecture::{graph_in_one_line, one_line};
pub use claims::{Disagreement, disagreements};
pub use engine::EngineReport;
pub use fit::FitReport;
pub use operation::{
    OperationReport, beside_outputs_len_bytes, is_mostly_outputs, operations, output_len_bytes, saved,
};
pub use permutation::{OrderReport, PermutationReport};
pub use proof::ProofReport;
pub use scales::print_scales;
pub use tensor::{TensorReport, of_graph, of_model, of_net, print};

/// Of a code that this version has no word for.
const UNKNOWN: &str = "unknown";
