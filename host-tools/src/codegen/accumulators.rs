//! The wrapper of a network that reads accumulators: one a position, or one for each side of a game.

use super::{Outputs, bucket, engine, wrapper};
use tamis_runtime::format::Model;

/// What the module uses, and its wrapper.
pub fn body(model: &Model<'_>, output: Outputs) -> (String, String) {
    let is_pair = model.input().perspectives == 2;
    let pair = if is_pair { "use tamis_runtime::nnue::{self, AccumulatorPair};\n" } else { "" };
    let engine =
        if engine::is_one(model) { "use tamis_runtime::engine::{self, Expected, Features, LoadError};\n" } else { "" };
    let uses = format!(
        "\
{engine}use tamis_runtime::format::{{Checked, Feature, Model, ParseError}};
use tamis_runtime::kernels::{{self, Tier}};
{pair}use tamis_runtime::signature::{{Buffers, signature}};
use tamis_runtime::{{Input, Operations, Plan, RunError, Workspace}};
"
    );
    let (parameter, argument) = bucket(model);
    let own = if is_pair { both(parameter, argument, output) } else { single(parameter, argument, output) };
    let table = if model.bucket_table().is_some() { BUCKET_OF } else { "" };
    (uses, format!("{own}{table}{SIGNATURE}"))
}

fn both(parameter: &str, argument: &str, output: Outputs) -> String {
    format!(
        "\
/// Both accumulators of a position: perspective 0 and perspective 1.
pub type Accumulators = AccumulatorPair<HIDDEN>;

/// A line of play of up to `PLIES` positions, the root included, that computes what is evaluated
/// only; its calls take [`Network::plan`].
pub type Stack<const PLIES: usize> = nnue::Stack<HIDDEN, PLIES>;

/// A side of the game, by its perspective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {{
    /// Perspective 0.
    First,
    /// Perspective 1.
    Second,
}}

{}
    /// Fills both accumulators from nothing.
    ///
    /// # Errors
    /// [`RunError`] for a feature that the network does not have, or more than [`MAX_ACTIVE`].
    pub fn refresh(
        &self,
        accumulators: &mut Accumulators,
        features: [&[u32]; 2], // of each perspective, distinct
    ) -> Result<(), RunError> {{
        let [first, second] = features;
        accumulators.refresh(&self.plan, 0, first)?;
        accumulators.refresh(&self.plan, 1, second)
    }}

    /// Takes both accumulators over from the position before, changed.
    ///
    /// # Errors
    /// As [`Network::refresh`].
    pub fn update(
        &self,
        after: &mut Accumulators,
        before: &Accumulators,
        added: [&[u32]; 2], // in each perspective
        removed: [&[u32]; 2],
    ) -> Result<(), RunError> {{
        after.update_both(&self.plan, before, added, removed)
    }}

    /// Evaluates a position.
    ///
    /// # Errors
    /// [`RunError`] if the arguments do not fit the network{}.
    pub fn evaluate<'w>(
        &self,
        accumulators: &Accumulators,
        to_move: Side, // whose outputs these are
{parameter}        scratch: &'w mut Scratch,
    ) -> Result<&'w [{}; OUTPUT_LEN], RunError> {{
        let (first, second) = (accumulators.side(0), accumulators.side(1));
        let input = match to_move {{
            Side::First => Input::Accumulators(first, second),
            Side::Second => Input::Accumulators(second, first),
        }};
        self.plan.run(input, {argument}, scratch.as_mut())?.try_into()
    }}
",
        wrapper("The network, checked: features in, numbers out."),
        refusal(parameter),
        output.element,
    )
}

fn single(parameter: &str, argument: &str, output: Outputs) -> String {
    format!(
        "\
/// The accumulator of a position.
pub type Accumulator = [i16; HIDDEN];

{}
    /// Fills the accumulator from nothing.
    ///
    /// # Errors
    /// [`RunError`] for a feature that the network does not have, or more than [`MAX_ACTIVE`].
    pub fn refresh(
        &self,
        accumulator: &mut Accumulator,
        features: &[u32], // distinct
    ) -> Result<(), RunError> {{
        self.plan.refresh(accumulator, features)
    }}

    /// Takes the accumulator over from the position before, changed.
    ///
    /// # Errors
    /// As [`Network::refresh`].
    pub fn update(
        &self,
        after: &mut Accumulator,
        before: &Accumulator,
        added: &[u32], // features that come
        removed: &[u32],
    ) -> Result<(), RunError> {{
        self.plan.update(after, before, added, removed)
    }}

    /// Evaluates a position.
    ///
    /// # Errors
    /// [`RunError`] if the arguments do not fit the network{}.
    pub fn evaluate<'w>(
        &self,
        accumulator: &Accumulator, // as filled or updated
{parameter}        scratch: &'w mut Scratch,
    ) -> Result<&'w [{}; OUTPUT_LEN], RunError> {{
        let input = Input::Accumulators(accumulator, &[]);
        self.plan.run(input, {argument}, scratch.as_mut())?.try_into()
    }}
",
        wrapper("The network, checked: features in, numbers out."),
        refusal(parameter),
        output.element,
    )
}

fn refusal(parameter: &str) -> &'static str {
    if parameter.is_empty() { "; their types see to it that they do" } else { ": a bucket that it does not have" }
}

const BUCKET_OF: &str = "
    /// The output bucket of a number of pieces; `None` above 32.
    #[must_use]
    pub fn bucket_of(&self, pieces: usize) -> Option<usize> {
        let table = self.plan.model().bucket_table()?;
        table.get(pieces).map(|bucket| usize::from(*bucket))
    }
";

const SIGNATURE: &str = "
    /// Computes the signature, which is [`SIGNATURE`] where all is well; three accumulators lie on
    /// the stack.
    ///
    /// # Errors
    /// None on a container that was checked.
    pub fn signature(&self, scratch: &mut Scratch) -> Result<u64, RunError> {
        let (mut own, mut other, mut spare) = ([0; HIDDEN], [0; HIDDEN], [0; HIDDEN]);
        let buffers = Buffers {
            own: &mut own,
            other: &mut other,
            spare: &mut spare,
            bytes: &mut [],
            words: &mut [],
            workspace: scratch.as_mut(),
        };
        signature(&self.plan, buffers)
    }
}
";
