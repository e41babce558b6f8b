//! A verification in parts: what was measured on some of the examples, before any statistics, so that parts of several
//! machines make the report that one machine makes of all.
//!
//! ```text
//! Case --part--> Part --+
//! Case --part--> Part --+--join--> Part --report--> Report
//! Case --part--> Part --+
//! ```
//!
//! A part holds every output beside its truth, so that each figure made of outputs, ranks, neighbours and the largest
//! errors among them, has the same bits as without parts. The errors of layers are sums of reals, which depend on their
//! order by some of the last bits. Mistakes are looked for in each part, where the examples are.

mod file;

use super::accuracy::{Accuracy, Against, Outputs};
use super::claims::claims;
use super::comparison::Compared;
use super::error::VerifyError;
use super::family::{Difference, NnueFindings};
use super::gates::Gates;
use super::mistakes::Mistake;
use super::part_error::PartError;
use super::report::{Report, SCHEMA, TruthInfo, proof_summary, tensor_summaries};
use super::runtime::RuntimeCheck;
use super::split::Apart;
use crate::constant::{are_constant, constant_tensors};
use crate::import::fnv1a_64;
use crate::pack::{unpack_nnue, unpack_program};
use crate::program::Program;
use crate::proof::prove;
use serde::{Deserialize, Serialize};
use tamis_runtime::format::Model;

/// What was measured on some examples.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    pub(super) facts: Facts,
    pub(super) compared: Compared,
    /// (examples,)
    pub(super) labels: Option<Vec<usize>>,
    pub(super) apart: Option<Apart>,
    /// Of parts that were put together the hashes of their numbers; of others none.
    pub(super) joined: Vec<u64>,
}

/// All but the numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Facts {
    /// The container's checksum, 16 hexadecimal digits.
    pub container: String,
    /// The network's name.
    pub network: String,
    /// What outputs mean.
    pub about: Outputs,
    /// What they were held against.
    pub truth: TruthInfo,
    /// Question 1.
    pub runtime: RuntimeCheck,
    /// The worst examples that are positions, by their number.
    pub fens: Vec<(usize, String)>,
    /// Whether there is a description whose facts could be wrong.
    pub looked_for_mistakes: bool,
    /// What was found.
    pub mistakes: Vec<Mistake>,
    /// What was suggested.
    pub remarks: Vec<Mistake>,
    /// Of the Stockfish family: where the file that was given differs, if one was.
    pub file: Option<Option<Difference>>,
    /// Whether what is the same everywhere is meant.
    pub allows_constants: bool,
}

impl Part {
    /// How many examples were compared.
    #[must_use]
    pub const fn examples(&self) -> usize {
        self.compared.examples
    }

    /// How far outputs are from their truth; worst examples have their positions.
    pub(super) fn accuracy(&self) -> Accuracy {
        let mut accuracy = Accuracy::new(&self.compared, self.facts.about, self.labels.as_deref());
        if let Some(apart) = &self.apart {
            apart.fill(&mut accuracy);
        }
        for worst in &mut accuracy.worst {
            let named = self.facts.fens.iter().find(|(example, _)| *example == worst.example);
            worst.fen = named.map(|(_, fen)| fen.clone());
        }
        accuracy
    }

    /// The parts as one, of which the examples follow each other as the parts do.
    ///
    /// # Errors
    /// Which part, from 0, is of something else, and what; [`PartError::None`] of none.
    pub fn join(parts: impl IntoIterator<Item = Self>) -> Result<Self, (usize, PartError)> {
        let mut parts = parts.into_iter();
        let mut all = parts.next().ok_or((0, PartError::None))?;
        for (index, part) in (1..).zip(parts) {
            all.take(part).map_err(|error| (index, error))?;
        }
        Ok(all)
    }

    fn take(&mut self, part: Self) -> Result<(), PartError> {
        self.agrees(&part)?;
        let (mut joined, others) = (self.pieces(), part.pieces());
        if others.iter().any(|piece| joined.contains(piece)) {
            return Err(PartError::Twice);
        }
        joined.extend(others);
        self.joined = joined;
        let (before, facts) = (self.compared.examples, part.facts);
        self.facts.runtime.join(facts.runtime);
        self.facts.truth.join(facts.truth);
        self.facts.fens.extend(facts.fens.into_iter().map(|(example, fen)| (before + example, fen)));
        for (own, others) in [(&mut self.facts.mistakes, facts.mistakes), (&mut self.facts.remarks, facts.remarks)] {
            for other in others {
                // Words name numbers of their part; what was found, and how, is the mistake.
                if !own.iter().any(|one| (one.kind, one.evidence) == (other.kind, other.evidence)) {
                    own.push(other);
                }
            }
        }
        self.compared.join(part.compared);
        if let (Some(labels), Some(others)) = (&mut self.labels, part.labels) {
            labels.extend(others);
        }
        if let (Some(apart), Some(other)) = (&mut self.apart, part.apart) {
            apart.join(other);
        }
        Ok(())
    }

    /// What tells the parts that it is made of from others, which is what was measured, to the last bit.
    fn pieces(&self) -> Vec<u64> {
        if self.joined.is_empty() { vec![fnv1a_64(&self.numbers())] } else { self.joined.clone() }
    }

    /// Whether a part is of the same comparison.
    fn agrees(&self, other: &Self) -> Result<(), PartError> {
        let (own, others) = (&self.facts, &other.facts);
        if own.container != others.container {
            let (found, expected) = (others.container.clone(), own.container.clone());
            return Err(PartError::Container { found, expected });
        }
        let layers = |compared: &Compared| -> Vec<_> {
            compared.layers.iter().map(|layer| (layer.layer.clone(), layer.element)).collect()
        };
        let facts = [
            ("meaning of outputs", own.about == others.about && self.compared.outputs == other.compared.outputs),
            ("checkpoint", own.truth.import == others.truth.import),
            ("reference", own.truth.reference == others.truth.reference),
            (".nnue file", own.file == others.file),
            ("choice of --allow-constant", own.allows_constants == others.allows_constants),
            ("description", own.looked_for_mistakes == others.looked_for_mistakes),
            ("labels", self.labels.is_some() == other.labels.is_some()),
            ("layers", layers(&self.compared) == layers(&other.compared)),
            ("roundings", self.apart.as_ref().map(Apart::names) == other.apart.as_ref().map(Apart::names)),
        ];
        match facts.into_iter().find(|(_, agrees)| !agrees) {
            Some((what, _)) => Err(PartError::Differs { what }),
            None => Ok(()),
        }
    }

    /// The report: what was measured, and what the container says itself.
    ///
    /// # Errors
    /// [`VerifyError::Part`] if it was measured on another container; [`VerifyError::Pack`] if this one cannot be taken
    /// apart.
    pub fn report(self, model: &Model<'_>, gates: &Gates) -> Result<Report, VerifyError> {
        let program = unpack_program(model)?;
        self.report_of(model, &program, gates)
    }

    pub(super) fn report_of(self, model: &Model<'_>, program: &Program, gates: &Gates) -> Result<Report, VerifyError> {
        let expected = checksum(model);
        if self.facts.container != expected {
            return Err(PartError::Container { found: self.facts.container, expected }.into());
        }
        let accuracy = self.accuracy();
        let constants = self.constants(program);
        let Self { facts, compared, .. } = self;
        let nnue = if facts.about.against == Against::File {
            Some(NnueFindings::of(&unpack_nnue(model)?, facts.file, &compared))
        } else {
            None
        };
        let proof = prove(program);
        let mut report = Report {
            schema: SCHEMA,
            network: facts.network,
            unit: facts.about.unit(),
            truth: facts.truth,
            tensors: tensor_summaries(program),
            runtime: facts.runtime,
            proof: proof_summary(&proof, claims(model, program, &proof)),
            accuracy,
            constants,
            allows_constants: facts.allows_constants,
            looked_for_mistakes: facts.looked_for_mistakes,
            mistakes: facts.mistakes,
            remarks: facts.remarks,
            nnue,
            gates: Vec::new(),
            passed: false,
        };
        gates.judge(&mut report);
        Ok(report)
    }

    /// What is the same everywhere.
    fn constants(&self, program: &Program) -> Vec<String> {
        let Compared { examples, integer, truth, outputs, .. } = &self.compared;
        let mut found = constant_tensors(program);
        let of_all = |what: &str| format!("{what} the same for all {examples} examples, which shows nothing");
        if are_constant(truth, *outputs) {
            found.push(of_all("the outputs in full precision are"));
        } else if are_constant(integer, *outputs) {
            found.push(of_all("the container's outputs are"));
        }
        found
    }
}

/// What tells a container from others.
pub(super) fn checksum(model: &Model<'_>) -> String {
    format!("{:016x}", model.header().checksum())
}
