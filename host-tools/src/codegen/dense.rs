//! The wrapper of a network that takes a vector.

use super::{Outputs, bucket, wrapper};
use tamis_runtime::format::Model;
use tamis_runtime::raw::element;

/// What the module uses, and its wrapper.
pub fn body(model: &Model<'_>, output: Outputs) -> (String, String) {
    let (kind, variant, range) = match model.input().element {
        element::U8 => ("u8", "U8", "0 to 127"),
        element::I8 => ("i8", "I8", "-127 to 127"),
        _ => ("f32", "F32", "any reals"),
    };
    let (parameter, argument) = bucket(model);
    let out = output.element;
    let buffers = match kind {
        "f32" => ("words", "bytes: &mut [], words: &mut words"),
        _ => ("bytes", "bytes: &mut bytes, words: &mut []"),
    };
    let (buffer, fields) = (buffers.0, buffers.1.replace(", ", ",\n            "));
    let uses = "\
use tamis_runtime::format::{Model, ParseError};
use tamis_runtime::kernels::{self, Tier};
use tamis_runtime::signature::{Buffers, signature};
use tamis_runtime::{Input, Plan, RunError, Workspace};
"
    .to_owned();
    let body = format!(
        "{}
    /// Evaluates one vector.
    ///
    /// # Errors
    /// [`RunError`] if the arguments do not fit the network{}.
    pub fn run<'w>(
        &self,
        input: &[{kind}; INPUT_LEN], // {range}
{parameter}        scratch: &'w mut Scratch,
    ) -> Result<&'w [{out}; OUTPUT_LEN], RunError> {{
        let output = self.plan.run(Input::{variant}(input), {argument}, scratch.as_mut())?;
        output.try_into()
    }}

    /// Computes the signature, which is [`SIGNATURE`] where all is well; a vector lies on the stack.
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
        wrapper("The network, checked: vectors in, numbers out."),
        if parameter.is_empty() { "; their types see to it that they do" } else { ": a bucket that it does not have" },
    );
    (uses, body)
}
