//! The wrapper of a network that takes a vector or a map, and what makes its input.

use super::{Outputs, bucket, wrapper};
use crate::report::{beside_outputs_len_bytes, is_mostly_outputs, output_len_bytes};
use tamis_runtime::format::Model;
use tamis_runtime::raw::element;

/// What the module uses, and its wrapper.
pub fn body(model: &Model<'_>, output: Outputs) -> (String, String) {
    let (kind, variant) = match model.input().element {
        element::U8 => ("u8", "U8"),
        element::I8 => ("i8", "I8"),
        _ => ("f32", "F32"),
    };
    let (parameter, argument) = bucket(model);
    let out = output.element;
    let is_map = model.values().first().is_some_and(|value| value.pixels() != [1, 1]);
    let what = if is_map { "map" } else { "vector" };
    let buffers = match kind {
        "f32" => ("words", "bytes: &mut [], words: &mut words"),
        _ => ("bytes", "bytes: &mut bytes, words: &mut []"),
    };
    let (buffer, fields) = (buffers.0, buffers.1.replace(", ", ",\n            "));
    let uses = "\
use tamis_runtime::format::{Checked, Feature, Model, ParseError};
use tamis_runtime::kernels::{self, Tier};
use tamis_runtime::signature::{Buffers, signature};
use tamis_runtime::{Input, Operations, Plan, RunError, Workspace};
"
    .to_owned();
    let (types, into) = if is_mostly_outputs(model) { run_into(model, variant) } else { NONE };
    let body = format!(
        "\
/// A number of the input.
pub type InputNumber = {kind};

/// A number of the output.
pub type OutputNumber = {out};

{types}{}
    /// Evaluates one {what}.
    ///
    /// # Errors
    /// [`RunError`] if the arguments do not fit the network{}.
    pub fn run<'w>(
        &self,
        input: &[InputNumber; INPUT_LEN],
{parameter}        scratch: &'w mut Scratch,
    ) -> Result<&'w [OutputNumber; OUTPUT_LEN], RunError> {{
        let output = self.plan.run(Input::{variant}(input), {argument}, scratch.as_mut())?;
        output.try_into()
    }}
{into}
    /// Computes the signature, which is [`SIGNATURE`] where all is well; a {what} lies on the stack.
    ///
    /// # Errors
    /// None on a container that was checked.
    pub fn signature(&self, scratch: &mut Scratch) -> Result<u64, RunError> {{
        let mut {buffer} = [0; INPUT_LEN];
        let buffers = Buffers {{
            own: &mut [],
            other: &mut [],
            spare: &mut [],
            {fields},
            workspace: scratch.as_mut(),
        }};
        signature(&self.plan, buffers)
    }}
}}
",
        wrapper(&format!("The network, checked: {what}s in, numbers out.")),
        if parameter.is_empty() { "; their types see to it that they do" } else { ": a bucket that it does not have" },
    );
    (uses, body + &conversions(kind))
}

/// Nothing of a network whose outputs are a small part of its workspace.
const NONE: (String, String) = (String::new(), String::new());

/// Of a network whose workspace is mostly its outputs: types of memory for both, and the function that takes them.
fn run_into(model: &Model<'_>, variant: &str) -> (String, String) {
    let (beside, outputs) = (beside_outputs_len_bytes(model), output_len_bytes(model));
    let types = format!(
        "\
/// Scratch memory beside the outputs, for [`Network::run_into`].
pub type Beside = Workspace<{beside}>;

/// Memory of the outputs, for [`Network::run_into`].
pub type Kept = Workspace<{outputs}>;

"
    );
    let (parameter, argument) = bucket(model);
    let function = format!(
        "
    /// The same with the outputs in memory of their own, which [`Scratch`] has room for.
    ///
    /// # Errors
    /// As [`Network::run`].
    pub fn run_into<'o>(
        &self,
        input: &[InputNumber; INPUT_LEN],
{parameter}        beside: &mut Beside,
        outputs: &'o mut Kept,
    ) -> Result<&'o [OutputNumber; OUTPUT_LEN], RunError> {{
        let input = Input::{variant}(input);
        let (beside, outputs) = (beside.as_mut(), outputs.as_mut());
        let output = self.plan.run_into(input, {argument}, beside, outputs)?;
        output.try_into()
    }}
"
    );
    (types, function)
}

/// Functions that make the input of a network of integers: from reals, and from bytes that stand for reals.
fn conversions(kind: &str) -> String {
    let from_camera = match kind {
        "f32" => return String::new(),
        "i8" => "the bytes of a camera or a sensor",
        _ => "bytes of another unit",
    };
    format!(
        "
/// The network's input from reals: the nearest integer to `x / INPUT_UNIT`, halves away from 0,
/// plus `INPUT_ZERO`, or the nearest that {article} `{kind}` holds; a NaN counts as 0. What
/// `host-tools` makes of the same numbers.
#[must_use]
pub fn quantise_input(reals: &[f32; INPUT_LEN]) -> [{kind}; INPUT_LEN] {{
    let mut input = [0; INPUT_LEN];
    for (integer, real) in input.iter_mut().zip(reals) {{
        *integer = quantise(f64::from(*real));
    }}
    input
}}

/// The network's input from {from_camera}, each of which stands for the real
/// `(byte - zero) * unit`: `--input-zero` and `--input-unit` of `host-tools`.
#[must_use]
pub fn quantise_bytes(bytes: &[u8; INPUT_LEN], unit: f32, zero: i32) -> [{kind}; INPUT_LEN] {{
    let mut table = [0; 256];
    for (integer, byte) in table.iter_mut().zip(0u8..=255) {{
        *integer = quantise((f64::from(byte) - f64::from(zero)) * f64::from(unit));
    }}
    let mut input = [0; INPUT_LEN];
    for (integer, byte) in input.iter_mut().zip(bytes) {{
        *integer = table[usize::from(*byte)];
    }}
    input
}}

/// One number of the input.
fn quantise(real: f64) -> {kind} {{
    let scaled = real / f64::from(INPUT_UNIT);
    // Toward 0, and as near as an i32 comes; 0 for a NaN.
    let whole = scaled as i32;
    let rest = scaled - f64::from(whole);
    let away = i32::from(rest >= 0.5) - i32::from(rest <= -0.5);
    let integer = whole.saturating_add(away).saturating_add(INPUT_ZERO);
    integer.clamp({kind}::MIN as i32, {kind}::MAX as i32) as {kind}
}}
",
        article = if kind == "i8" { "an" } else { "a" },
    )
}
