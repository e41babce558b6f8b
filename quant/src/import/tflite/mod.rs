//! TensorFlow Lite's files, also called LiteRT's: a FlatBuffer of tensors and operators.
//!
//! ```text
//! bytes --flatbuffer--> file: what it says --check--> whether it makes sense --lower--> Graph
//! ```
//!
//! [`read_tflite`] goes all the way, for files whose values are float32; [`read_model`] stops before the last step,
//! and reads files of integers, too. Nothing is read that was not checked, weights are borrowed until the graph takes
//! them, and a file can make the reader neither recurse nor take much more memory than it is long.
//!
//! A batch has to be 1, and is left out. Several inputs become one, see [`read_tflite`]. What the graph cannot say is
//! refused by the operator's number and name: networks that keep state, uint8 quantisation, integer weights under
//! float values, several outputs, control flow.

mod check;
mod error;
mod file;
mod flatbuffer;
mod lower;
mod moves;
mod names;
mod operators;
mod options;
pub mod quantised;
mod types;

pub use error::TfliteError;
pub use file::is_tflite;
pub use flatbuffer::FlatBufferError;
pub use operators::{Builtin, Known};
pub use types::{Element, Fused, Model, Operator, Options, Padding, Quantisation, Tensor};

use super::{Imported, Ranges, Remark, fnv1a_64};

/// Reads what a file says, and checks that it makes sense as a network of reals or of integers.
///
/// # Errors
/// [`TfliteError`], the first that is found, with its place.
pub fn read_model(bytes: &[u8]) -> Result<Model<'_>, TfliteError> {
    let mut model = file::read(bytes)?;
    check::check(&mut model)?;
    Ok(model)
}

/// Reads a float32 file as a graph called `name`. Its input is the file's; several lie one behind the other in the
/// order of the file, each flattened, which a remark says. Nodes are called like the tensors that they make.
///
/// # Errors
/// [`TfliteError`], the first that is found, with its place. Files of integers are
/// [`TfliteError::Quantised`], those with integer weights alone [`TfliteError::Hybrid`].
pub fn read_tflite(bytes: &[u8], name: &str) -> Result<Imported, TfliteError> {
    read_as(bytes, name, lower::Integers::Refused)
}

/// The same of files of integers, too: the graph of the reals that they stand for, nothing rounded and nothing cut off
/// at the ends of a range. It is what such a file is held against, not what it computes.
///
/// # Errors
/// [`TfliteError`], the first that is found, with its place.
pub fn read_reals(bytes: &[u8], name: &str) -> Result<Imported, TfliteError> {
    read_as(bytes, name, lower::Integers::Reals)
}

fn read_as(bytes: &[u8], name: &str, integers: lower::Integers) -> Result<Imported, TfliteError> {
    let mut model = read_model(bytes)?;
    let mut remarks = std::mem::take(&mut model.remarks);
    let (graph, _) = lower::lower(&model, name, integers)?;
    if model.inputs.len() > 1 {
        let of = |input: &usize| format!("`{}` {}", model.tensors[*input].name, model.tensors[*input].shape());
        let inputs: Vec<String> = model.inputs.iter().map(of).collect();
        let text = format!("the inputs {} lie one behind the other in one vector", inputs.join(", "));
        remarks.push(Remark::Decided(text));
    }
    let source = "TFLite".to_owned();
    Ok(Imported { graph, source, bytes_hash: fnv1a_64(bytes), remarks, ranges: Ranges::default() })
}
