//! What does not depend on the input is computed when the model is read: chains from Shape to Reshape, constants of
//! nodes, dequantised weights.

use super::super::error::OnnxError;
use super::super::tensor::{Element, Literal, MAX_LEN};
use super::super::types::AttributeValue;
use super::binary::{broadcast, kind};
use super::call::{Call, Entry};
use super::elementwise::unary;
use super::layout::strides;
use super::quantised::Quantisation;
use super::reshape::{new_dims, permutation};
use super::slices::taken;
use crate::graph::{Binary, Op};

/// The outputs of a node that reads constants alone; none if it reads something else, or is no operator of these.
pub(super) fn fold(call: &Call<'_, '_>) -> Result<Option<Vec<Literal>>, OnnxError> {
    if call.operator() == "Constant" {
        return constant(call).map(|made| Some(vec![made]));
    }
    let mut inputs: Vec<Option<&Literal>> = Vec::new();
    for input in &call.inputs {
        match input {
            Some(Entry::Made(_)) => return Ok(None),
            Some(Entry::Known(literal)) => inputs.push(Some(literal)),
            None => inputs.push(None),
        }
    }
    let Some(Some(first)) = inputs.first() else { return Ok(None) };
    let moved = |dims: Vec<usize>, values: Vec<f64>| Literal { dims, values, element: first.element };
    let made = match call.operator() {
        "Identity" | "Dropout" => (*first).clone(),
        "Shape" => {
            let sizes = first.dims.iter().map(|size| *size as f64).collect();
            Literal::list(Element::I64, sizes)
        }
        "ConstantOfShape" => filled(call, &first.ints())?,
        "Reshape" | "Flatten" | "Squeeze" | "Unsqueeze" => moved(new_dims(call, &first.dims)?, first.values.clone()),
        "Transpose" => {
            let permutation = permutation(call, first.dims.len())?;
            let from = strides(&first.dims);
            let dims: Vec<usize> = permutation.iter().map(|axis| first.dims[*axis]).collect();
            let steps: Vec<usize> = permutation.iter().map(|axis| from[*axis]).collect();
            let values = picked(first, &dims, &steps);
            moved(dims, values)
        }
        "Expand" => {
            let wanted: Result<Vec<usize>, _> =
                call.required_constant(1)?.ints().into_iter().map(usize::try_from).collect();
            let dims = wanted.ok().and_then(|wanted| broadcast(&first.dims, &wanted));
            let dims = dims.ok_or_else(|| call.attribute_error("the shape", "of other sizes", "sizes that fit"))?;
            let steps = repeated(&first.dims, dims.len());
            bounded(call, &dims)?;
            let values = picked(first, &dims, &steps);
            moved(dims, values)
        }
        "Gather" => gather(call, first)?,
        "Slice" => slice(call, first)?,
        "Concat" => concat(call, &inputs)?,
        "Cast" => cast(call, first)?,
        "Floor" => moved(first.dims.clone(), first.values.iter().map(|value| value.floor()).collect()),
        "Ceil" => moved(first.dims.clone(), first.values.iter().map(|value| value.ceil()).collect()),
        "DequantizeLinear" => {
            let axis = call.int("axis", 1)?;
            Quantisation::read(call, [1, 2], &first.dims, axis)?.dequantised(call, first)?
        }
        operator => match (kind(operator), unary(call)?) {
            (Some(kind), _) => {
                let mut made = (*first).clone();
                for index in 1..inputs.len() {
                    made = combined(call, kind, &made, call.required_constant(index)?)?;
                }
                made
            }
            (_, Some(Op::Scale(factor))) => {
                moved(first.dims.clone(), first.values.iter().map(|x| factor * x).collect())
            }
            (_, Some(Op::Activation(activation))) => moved(first.dims.clone(), activation.apply(&first.values)),
            _ => return Ok(None),
        },
    };
    Ok(Some(vec![made]))
}

fn constant(call: &Call<'_, '_>) -> Result<Literal, OnnxError> {
    let found = call.node.attributes.iter().find(|attribute| attribute.name.starts_with("value"));
    let found = found.map(|attribute| &attribute.value);
    Ok(match found {
        Some(AttributeValue::Tensor(tensor)) if !tensor.is_external => tensor.literal(None)?,
        Some(AttributeValue::Float(float)) => Literal::scalar(Element::F32, (*float).into()),
        Some(AttributeValue::Int(int)) => Literal::scalar(Element::I64, *int as f64),
        Some(AttributeValue::Floats(floats)) => {
            Literal::list(Element::F32, floats.iter().map(|float| f64::from(*float)).collect())
        }
        Some(AttributeValue::Ints(ints)) => Literal::list(Element::I64, ints.iter().map(|int| *int as f64).collect()),
        Some(other) => return Err(call.unsupported(format!("a constant of {}", other.word()))),
        None => return Err(call.attribute_error("value", "left out", "a tensor or numbers")),
    })
}

/// Refuses a constant of more than [`MAX_LEN`] elements before it is made.
fn bounded(call: &Call<'_, '_>, dims: &[usize]) -> Result<usize, OnnxError> {
    let count = dims.iter().try_fold(1usize, |count, size| count.checked_mul(*size));
    count
        .filter(|count| *count <= MAX_LEN)
        .ok_or_else(|| call.shapes(format!("a constant of the shape {dims:?}"), format!("at most {MAX_LEN} elements")))
}

fn filled(call: &Call<'_, '_>, sizes: &[i64]) -> Result<Literal, OnnxError> {
    let dims: Result<Vec<usize>, _> = sizes.iter().map(|size| usize::try_from(*size)).collect();
    let dims = dims.map_err(|_| call.attribute_error("the shape", format!("{sizes:?}"), "sizes of 0 or more"))?;
    let count = bounded(call, &dims)?;
    let (element, value) = match call.attribute("value") {
        Some(AttributeValue::Tensor(tensor)) => {
            let literal = tensor.literal(None)?;
            let [value] = literal.values[..] else {
                let found = format!("{} elements", literal.values.len());
                return Err(call.attribute_error("value", found, "one"));
            };
            (literal.element, value)
        }
        _ => (Element::F32, 0.0),
    };
    Ok(Literal { dims, element, values: vec![value; count] })
}

/// The elements of a row-major walk over `dims` whose steps along each axis are those.
fn picked(from: &Literal, dims: &[usize], steps: &[usize]) -> Vec<f64> {
    let mut places = vec![0];
    for (size, step) in dims.iter().zip(steps) {
        places = places.iter().flat_map(|place| (0..*size).map(move |at| place + at * step)).collect();
    }
    places.into_iter().map(|place| from.values[place]).collect()
}

/// The steps of a tensor that is repeated along axes of size 1 and before its first.
fn repeated(dims: &[usize], rank: usize) -> Vec<usize> {
    let own = strides(dims);
    let lead = rank - dims.len();
    (0..rank).map(|axis| if axis < lead || dims[axis - lead] == 1 { 0 } else { own[axis - lead] }).collect()
}

fn gather(call: &Call<'_, '_>, data: &Literal) -> Result<Literal, OnnxError> {
    let indices = call.required_constant(1)?;
    let axis = call.axis(call.int("axis", 0)?, data.dims.len())?;
    let len = data.dims[axis] as i64;
    let inner: usize = data.dims[axis + 1..].iter().product();
    let outer: usize = data.dims[..axis].iter().product();
    let dims = [&data.dims[..axis], &indices.dims, &data.dims[axis + 1..]].concat();
    let mut values = Vec::with_capacity(bounded(call, &dims)?);
    let indices = indices.ints();
    if let Some(index) = indices.iter().find(|index| !(-len..len).contains(*index)) {
        return Err(call.attribute_error("an index", index.to_string(), &format!("one of {len}")));
    }
    for run in 0..outer {
        for index in &indices {
            let index = index.rem_euclid(len) as usize;
            values.extend_from_slice(&data.values[(run * data.dims[axis] + index) * inner..][..inner]);
        }
    }
    Ok(Literal { dims, element: data.element, values })
}

fn slice(call: &Call<'_, '_>, data: &Literal) -> Result<Literal, OnnxError> {
    let mut dims = data.dims.clone();
    let mut along: Vec<Vec<usize>> = dims.iter().map(|size| (0..*size).collect()).collect();
    for taken in taken(call, &data.dims)? {
        let place = |at: usize| (taken.start as i64 + at as i64 * taken.step) as usize;
        dims[taken.axis] = taken.size;
        along[taken.axis] = (0..taken.size).map(place).collect();
    }
    let mut places = vec![0];
    for (places_along, step) in along.iter().zip(strides(&data.dims)) {
        places = places.iter().flat_map(|place| places_along.iter().map(move |at| place + at * step)).collect();
    }
    let values = places.into_iter().map(|place| data.values[place]).collect();
    Ok(Literal { dims, element: data.element, values })
}

fn concat(call: &Call<'_, '_>, inputs: &[Option<&Literal>]) -> Result<Literal, OnnxError> {
    let parts: Vec<&Literal> = inputs.iter().flatten().copied().collect();
    let mut dims = parts[0].dims.clone();
    let axis = call.axis(call.int("axis", i64::MAX)?, dims.len())?;
    let alike = |part: &&Literal| {
        part.dims.len() == dims.len() && (0..dims.len()).all(|other| other == axis || part.dims[other] == dims[other])
    };
    if !parts.iter().all(alike) {
        return Err(call.shapes("constants of other shapes", format!("{dims:?} along the other axes")));
    }
    dims[axis] = parts.iter().map(|part| part.dims[axis]).sum();
    bounded(call, &dims)?;
    let run = |part: &Literal| part.dims[axis..].iter().product::<usize>();
    let outer: usize = dims[..axis].iter().product();
    let rows = |row: usize| parts.iter().flat_map(move |part| part.values[row * run(part)..][..run(part)].to_vec());
    let values = (0..outer).flat_map(rows).collect();
    Ok(Literal { dims, element: parts[0].element, values })
}

fn cast(call: &Call<'_, '_>, from: &Literal) -> Result<Literal, OnnxError> {
    let code = call.int("to", 0)?;
    let element = Element::of_code(code);
    let element = element.ok_or_else(|| call.unsupported(format!("a cast to the type with the code {code}")))?;
    let to = |value: &f64| match element {
        Element::F32 => f64::from(*value as f32),
        Element::Bool => f64::from(u8::from(*value != 0.0)),
        element if element.is_real() => *value,
        _ => value.trunc(),
    };
    Ok(Literal { dims: from.dims.clone(), element, values: from.values.iter().map(to).collect() })
}

fn combined(call: &Call<'_, '_>, kind: Binary, a: &Literal, b: &Literal) -> Result<Literal, OnnxError> {
    let dims = broadcast(&a.dims, &b.dims);
    let misfit = || call.shapes(format!("shapes {:?} and {:?}", a.dims, b.dims), "sizes that are equal or 1");
    let dims = dims.ok_or_else(misfit)?;
    bounded(call, &dims)?;
    let of = |side: &Literal| picked(side, &dims, &repeated(&side.dims, dims.len()));
    let is_real = a.element.is_real();
    let each = |(a, b): (f64, f64)| match kind {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div if is_real => a / b,
        Binary::Div => (a / b).trunc(),
        Binary::Max => a.max(b),
        Binary::Min => a.min(b),
    };
    let values = of(a).into_iter().zip(of(b)).map(each).collect();
    Ok(Literal { dims, element: a.element, values })
}
