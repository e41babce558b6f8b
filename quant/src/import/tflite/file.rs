//! From bytes to what they say, one field at a time. Whether it makes sense as a network is for [`super::check`].

use super::error::TfliteError;
use super::flatbuffer::{FlatBuffer, Place, Table};
use super::operators::{Builtin, CUSTOM};
use super::options;
use super::types::{Element, Model, Operator, Options, Quantisation, Tensor};
use tamis_batches::printable;

/// The only version of the format that is in use.
const VERSION: u32 = 3;
/// The most dimensions of a tensor.
const MAX_RANK: usize = 8;
/// The most elements of a tensor: a FlatBuffer is shorter than this.
const MAX_LEN: usize = 1 << 31;

/// Whether bytes start like a TFLite file.
#[must_use]
pub fn is_tflite(start: &[u8]) -> bool {
    start.get(4..8) == Some(b"TFL3")
}

/// What a file says. Indices are in range, shapes and constants fit, options are those of their operators.
pub(super) fn read(bytes: &[u8]) -> Result<Model<'_>, TfliteError> {
    if !is_tflite(bytes) {
        let found = bytes.iter().skip(4).take(4).flat_map(|byte| byte.escape_ascii()).map(char::from).collect();
        return Err(TfliteError::Identifier { found });
    }
    let buffer = FlatBuffer::new(bytes);
    let root = buffer.root(Place("Model", 0))?;
    let version = root.u32(0, "version")?;
    if version != VERSION {
        return Err(TfliteError::malformed("Model 0", "`version`", version, VERSION));
    }
    let codes = root.tables(1, "operator_codes", "OperatorCode")?;
    let subgraphs = root.tables(2, "subgraphs", "SubGraph")?;
    root.text(3, "description")?;
    let constants = constants(&root)?;
    let [subgraph] = &subgraphs[..] else {
        let found = subgraphs.len();
        return Err(if found == 0 {
            TfliteError::malformed("Model 0", "the number of subgraphs", found, "1")
        } else {
            TfliteError::unsupported("Model 0", format!("a network of {found} subgraphs, with branches or loops,"), "")
        });
    };
    let tables = subgraph.tables(0, "tensors", "Tensor")?;
    let tensors = tables.iter().enumerate().map(|(index, table)| tensor(table, index, &constants));
    let mut model = Model {
        tensors: tensors.collect::<Result<_, _>>()?,
        operators: Vec::new(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        remarks: Vec::new(),
        len_bytes: bytes.len(),
    };
    model.inputs = required(&subgraph.i32s(1, "inputs")?, &model, "SubGraph 0", "an input")?;
    model.outputs = required(&subgraph.i32s(2, "outputs")?, &model, "SubGraph 0", "an output")?;
    for (index, table) in subgraph.tables(3, "operators", "Operator")?.iter().enumerate() {
        let operator = operator(table, index, &codes, &model)?;
        model.operators.push(operator);
    }
    Ok(model)
}

/// The bytes of every buffer, empty where it has none.
fn constants<'a>(root: &Table<'_, 'a>) -> Result<Vec<&'a [u8]>, TfliteError> {
    let buffers = root.tables(4, "buffers", "Buffer")?;
    let of = |(index, table): (usize, &Table<'_, 'a>)| {
        // 1 is what converters write there before they know better.
        if table.u64(1, "offset")? > 1 {
            let what = "weights behind the FlatBuffer, as files over 2 GB have them,";
            return Err(TfliteError::unsupported(format!("Buffer {index}"), what, ""));
        }
        Ok(table.vector_or_empty(0, "data", 1)?)
    };
    buffers.iter().enumerate().map(of).collect()
}

fn name_of(text: &[u8]) -> String {
    printable(&String::from_utf8_lossy(&text[..text.len().min(256)]))
}

fn tensor<'a>(table: &Table<'_, 'a>, index: usize, constants: &[&'a [u8]]) -> Result<Tensor<'a>, TfliteError> {
    let name = name_of(table.text(3, "name")?);
    let place = || format!("tensor {index} (`{name}`)");
    let shape = table.i32s(0, "shape")?;
    if shape.len() > MAX_RANK {
        return Err(TfliteError::unsupported(place(), format!("a tensor of {} dimensions", shape.len()), ""));
    }
    let dims: Result<Vec<usize>, _> = shape.iter().map(|dim| usize::try_from(*dim)).collect();
    let dims =
        dims.map_err(|_| TfliteError::malformed(place(), "the shape", format!("{shape:?}"), "no dimension below 0"))?;
    let code = table.u8(1, "type")?;
    let element = Element::of(code);
    let element = element.ok_or_else(|| TfliteError::malformed(place(), "the type", code, "0 to 22"))?;
    let len = dims.iter().try_fold(1usize, |len, dim| len.checked_mul(*dim)).filter(|len| *len <= MAX_LEN);
    let len = len.ok_or_else(|| {
        TfliteError::malformed(place(), "the shape", format!("{dims:?}"), format!("at most {MAX_LEN} elements"))
    })?;
    let number = table.u32(2, "buffer")? as usize;
    let data = constants.get(number).copied();
    let data = data.ok_or_else(|| {
        TfliteError::malformed(place(), "the buffer", number, format!("a number below {}", constants.len()))
    })?;
    let data = Some(data).filter(|data| !data.is_empty());
    if let (Some(data), Some(width)) = (data, element.len_bytes())
        && len.checked_mul(width) != Some(data.len())
    {
        let expected = format!("{len} of {width}, as the shape {dims:?} of {} says", element.word());
        return Err(TfliteError::malformed(place(), "the length of its buffer in bytes", data.len(), expected));
    }
    // An empty list is the shape of a single number.
    if len == 0 && dims.len() != 1 {
        return Err(TfliteError::malformed(place(), "the shape", format!("{dims:?}"), "dimensions of at least 1"));
    }
    if table.has(6) {
        let instead = "convert again without sparsity; zeros cost nothing more";
        return Err(TfliteError::unsupported(place(), "a tensor that is stored sparse", instead));
    }
    let quantisation = table.table(4, "quantization")?;
    let quantisation = quantisation.map(|table| scales(&table, &place())).transpose()?.flatten();
    let signature = table.i32s(7, "shape_signature")?;
    let is_dynamic = signature.iter().skip(1).any(|dim| *dim < 0);
    let is_variable = table.flag(5, "is_variable")?;
    Ok(Tensor { name, dims, element, data, quantisation, is_variable, is_dynamic })
}

/// None of a table that says only ranges, or nothing.
fn scales(table: &Table<'_, '_>, place: &str) -> Result<Option<Quantisation>, TfliteError> {
    let scales = table.f32s(2, "scale")?;
    let mut zero_points = table.i64s(3, "zero_point")?;
    if table.u8(4, "details_type")? != 0 {
        return Err(TfliteError::unsupported(place, "a quantisation by other rules than scale and zero point", ""));
    }
    if scales.is_empty() {
        return Ok(None);
    }
    if zero_points.is_empty() {
        zero_points = vec![0; scales.len()];
    }
    if zero_points.len() != scales.len() {
        let found = zero_points.len();
        let expected = format!("{}, one for each scale", scales.len());
        return Err(TfliteError::malformed(place, "the number of zero points", found, expected));
    }
    let axis = table.i32(6, "quantized_dimension", 0)?;
    let expected = "an axis of the tensor";
    let axis =
        usize::try_from(axis).map_err(|_| TfliteError::malformed(place, "the axis of its scales", axis, expected))?;
    Ok(Some(Quantisation { scales, zero_points, axis }))
}

fn operator(
    table: &Table<'_, '_>,
    index: usize,
    codes: &[Table<'_, '_>],
    model: &Model<'_>,
) -> Result<Operator, TfliteError> {
    let place = format!("operator {index}");
    let number = table.u32(0, "opcode_index")? as usize;
    let code_table = codes.get(number).ok_or_else(|| {
        TfliteError::malformed(&*place, "the operator code's number", number, format!("a number below {}", codes.len()))
    })?;
    // A signed byte in old files, 127 in it where the number is above.
    let old = i32::from(code_table.u8(0, "deprecated_builtin_code")?.cast_signed());
    let code = old.max(code_table.i32(3, "builtin_code", 0)?);
    if code == CUSTOM {
        let name = name_of(code_table.text(1, "custom_code")?);
        return Err(TfliteError::CustomOperator { place, name });
    }
    let builtin = Builtin::of(code).ok_or_else(|| TfliteError::UnknownOperator { place: place.clone(), code })?;
    let place = format!("{place} ({})", builtin.name());
    if builtin.is_stateful() {
        return Err(TfliteError::Stateful { place });
    }
    let outputs = required(&table.i32s(2, "outputs")?, model, &place, "an output")?;
    let first = outputs.first().map_or("nothing", |output| model.tensors[*output].name.as_str());
    let place = format!("operator {index} ({}, makes `{first}`)", builtin.name());
    let input = |input: &i32| (*input != -1).then(|| in_range(*input, model, &place, "an input")).transpose();
    let inputs = table.i32s(1, "inputs")?.iter().map(input).collect::<Result<_, _>>()?;
    let options = match builtin {
        Builtin::Known(known) => options::read(table, known, &place)?,
        Builtin::Other(_) => Options::None,
    };
    Ok(Operator { place, builtin, inputs, outputs, options })
}

fn required(numbers: &[i32], model: &Model<'_>, place: &str, what: &'static str) -> Result<Vec<usize>, TfliteError> {
    numbers.iter().map(|number| in_range(*number, model, place, what)).collect()
}

fn in_range(number: i32, model: &Model<'_>, place: &str, what: &'static str) -> Result<usize, TfliteError> {
    let count = model.tensors.len();
    let found = usize::try_from(number).ok().filter(|number| *number < count);
    found.ok_or_else(|| TfliteError::malformed(place, what, number, format!("the number of a tensor, below {count}")))
}
