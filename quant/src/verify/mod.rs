//! Three questions about a packed model, never mixed:
//!
//! 1. Does the runtime equal the integer model? [`runtime`]: every byte, every operation, every tier; tolerance 0.
//! 2. Can any accumulator overflow? [`crate::proof`], derived again from the file's own integers.
//! 3. How far is the integer model from full precision? [`accuracy`], with the error split by cause: [`simulate`].
//!
//! And a fourth that people really have: [`mistakes`] says which fact of a description is wrong.
//!
//! ```text
//! a container, and its checkpoint, reference or .nnue file ──of_…──> Case ──verify──> Report ──> text, JSON, page
//! ```
//!
//! What a kind of network is held against is read differently; a [`Case`] is the same for all, and so is everything
//! behind it.
//!
//! # Examples
//! ```
//! use tamis_quant::arch::Architecture;
//! use tamis_quant::import::read_bytes;
//! use tamis_quant::pack::{Provenance, pack};
//! use tamis_quant::positions::Position;
//! use tamis_quant::proof::prove;
//! use tamis_quant::quantise::quantise;
//! use tamis_quant::run::AlignedBytes;
//! use tamis_quant::verify::{Case, Gates, Truth};
//! use tamis_runtime::format::Model;
//!
//! let arch = Architecture::from_toml(include_str!("../../../tests/architectures/reference.toml"), "reference.toml")?;
//! let weights = include_bytes!("../../../tests/reference/nnue.weights.bin");
//! let checkpoint = read_bytes(weights, &arch, "weights.bin")?;
//! let net = quantise(&checkpoint.net)?;
//! let program = net.lower()?;
//! let bytes = AlignedBytes::copy_of(&pack(&program, &prove(&program), &Provenance::default())?);
//!
//! let start = Position::from_fen("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")?;
//! let truth = Truth { checkpoint: Some(&checkpoint), reference: None, positions: &[start] };
//! let case = Case::of_layers(Model::parse(bytes.as_ref())?, &truth)?;
//! let report = case.verify(&Gates::default(), &mut |_, _| ())?;
//! assert!(report.runtime.equal && report.proof.holds && report.passed);
//! assert!(report.accuracy.total.max < 20.0, "centipawns");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod accuracy;
mod board;
mod case;
mod claims;
mod comparison;
mod error;
mod family;
mod gates;
mod html;
mod kinship;
mod layers;
mod metrics;
pub mod mistakes;
mod part;
mod part_error;
mod predictions;
mod progress;
mod reference;
mod report;
pub mod runtime;
mod scores;
pub mod simulate;
mod split;
pub mod stats;
mod svg;
mod usual;
mod verdict;

pub use accuracy::{Accuracy, Against};
pub use case::{Case, Truth, check_layers, check_origin};
pub use claims::{CLAIM_WORDS, ClaimCheck, claim_words, claims};
pub use error::VerifyError;
pub use family::{Difference, DivideInfo, NnueFindings};
pub use gates::{GateError, Gates};
pub use html::to_html;
pub use layers::LayerError;
pub use metrics::{Agreement, log_loss, wilson};
pub use mistakes::graph::Reading;
pub use part::Part;
pub use part_error::PartError;
pub use predictions::Predictions;
pub use reference::{Reference, ReferenceError};
pub use report::{Bound, GateResult, ImportInfo, ProofSummary, Report, SCHEMA, TensorSummary, TruthInfo};
pub use scores::logits_of;
pub use verdict::Sentence;
