//! The wrapper of a network that takes a sparse vector: the numbers of its features that are not 0, with or without
//! values.

use super::{Outputs, wrapper};
use tamis_runtime::format::Model;
use tamis_runtime::raw::element;

/// What the module uses, and its wrapper.
pub fn body(model: &Model<'_>, output: Outputs) -> (String, String) {
    let input = model.input();
    let has_values = input.element == element::I16;
    let list = |kind: &str| match input.exact {
        1 => format!("&[{kind}; MAX_ACTIVE]"),
        _ => format!("&[{kind}]"),
    };
    let (values, none) = match has_values {
        true => (format!("        values: {},\n", list("i16")), ""),
        false => (String::new(), "        let values = &[];\n"),
    };
    let (own, own_field) = match has_values {
        true => ("        let mut values = [0; MAX_ACTIVE];\n", "own: &mut values"),
        false => ("", "own: &mut []"),
    };
    let with = if has_values { ", and their values in units of [`INPUT_UNIT`]" } else { "" };
    let (features, out) = (list("u32"), output.element);
    let uses = "\
use tamis_runtime::format::{Checked, Feature, Model, ParseError};
use tamis_runtime::kernels::{self, Tier};
use tamis_runtime::signature::{Buffers, signature};
use tamis_runtime::{Input, Operations, Plan, RunError, Workspace};
"
    .to_owned();
    let body = format!(
        "{}
    /// Evaluates one example: the features that are not 0{with}.
    ///
    /// # Errors
    /// [`RunError`] for features out of order or range, and for lists of a wrong length.
    pub fn run<'w>(
        &self,
        features: {features}, // ascending, each below FEATURES
{values}        scratch: &'w mut Scratch,
    ) -> Result<&'w [{out}; OUTPUT_LEN], RunError> {{
{none}        let input = Input::Sparse {{ features, values }};
        self.plan.run(input, 0, scratch.as_mut())?.try_into()
    }}

    /// Computes the signature, which is [`SIGNATURE`] where all is well; an example lies on the stack.
    ///
    /// # Errors
    /// None on a container that was checked.
    pub fn signature(&self, scratch: &mut Scratch) -> Result<u64, RunError> {{
{own}        let mut words = [0; MAX_ACTIVE];
        let buffers = Buffers {{
            {own_field},
            other: &mut [],
            spare: &mut [],
            bytes: &mut [],
            words: &mut words,
            workspace: scratch.as_mut(),
        }};
        signature(&self.plan, buffers)
    }}
}}
",
        wrapper("The network, checked: features in, numbers out."),
    );
    (uses, body)
}
