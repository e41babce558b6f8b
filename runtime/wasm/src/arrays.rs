//! Values as JavaScript's typed arrays, and typed arrays as inputs.

use bytemuck::allocation::pod_collect_to_vec;
use bytemuck::{Pod, cast_slice};
use js_sys::{Float32Array, Float64Array, Int8Array, Int16Array, Int32Array, Object, Reflect, Uint8Array};
use tamis_runtime::raw::{InputRecord, element, input_kind};
use tamis_runtime::{Input, Output};
use wasm_bindgen::{JsCast, JsError, JsValue};

/// An object with these properties.
pub fn object<const N: usize>(properties: [(&str, JsValue); N]) -> JsValue {
    let object = Object::new();
    for (name, value) in properties {
        // Fails for what is no object, or is frozen.
        let _ = Reflect::set(&object, &name.into(), &value);
    }
    object.into()
}

/// The outputs as they are stored, and as reals: times `unit`.
pub fn outputs(output: Output<'_>, unit: f32) -> JsValue {
    let (stored, reals): (JsValue, Vec<f64>) = match output {
        Output::I32(values) => (Int32Array::from(values).into(), values.iter().map(|x| real(*x, unit)).collect()),
        Output::F32(values) => (Float32Array::from(values).into(), values.iter().map(|x| real(*x, unit)).collect()),
        // An element that this version has no array for.
        _ => (JsValue::UNDEFINED, Vec::new()),
    };
    object([("stored", stored), ("reals", Float64Array::from(reals.as_slice()).into())])
}

/// The real value of an output, as `host-tools eval` works it out.
pub fn real(stored: impl Into<f64>, unit: f32) -> f64 {
    stored.into() * f64::from(unit)
}

/// The bytes of a value as an array of its elements.
pub fn value(code: u32, bytes: &[u8]) -> JsValue {
    match code {
        element::U8 => Uint8Array::from(bytes).into(),
        element::I8 => Int8Array::from(cast_slice::<_, i8>(bytes)).into(),
        element::I16 => Int16Array::from(aligned(bytes).as_slice()).into(),
        element::I32 => Int32Array::from(aligned(bytes).as_slice()).into(),
        _ => Float32Array::from(aligned(bytes).as_slice()).into(),
    }
}

fn aligned<T: Pod>(bytes: &[u8]) -> Vec<T> {
    pod_collect_to_vec(bytes)
}

/// A dense input, copied out of JavaScript's memory.
pub enum Dense {
    U8(Vec<u8>),
    I8(Vec<i8>),
    F32(Vec<f32>),
}

impl Dense {
    /// Takes the array that the network's input is of.
    pub fn read(record: &InputRecord, array: &JsValue) -> Result<Self, JsError> {
        let read = match (record.kind, record.element) {
            (input_kind::DENSE, element::U8) => array.dyn_ref().map(|array: &Uint8Array| Self::U8(array.to_vec())),
            (input_kind::DENSE, element::I8) => array.dyn_ref().map(|array: &Int8Array| Self::I8(array.to_vec())),
            (input_kind::DENSE, element::F32) => array.dyn_ref().map(|array: &Float32Array| Self::F32(array.to_vec())),
            _ => None,
        };
        let read = read.ok_or_else(|| JsError::new(&format!("the network takes {}", wanted(record))))?;
        let (found, expected) = (read.len(), record.size as usize);
        if found == expected {
            Ok(read)
        } else {
            Err(JsError::new(&format!("{found} elements; the network takes {}", wanted(record))))
        }
    }

    /// Reals as the input's elements: divided by its unit, rounded to nearest with halves away from 0, and what is
    /// beyond the element's range taken to the nearest end; the rule of `host-tools eval`. A NaN has no integer.
    pub fn of_reals(record: &InputRecord, zero: i16, reals: &[f64]) -> Result<JsValue, JsError> {
        let (found, expected) = (reals.len(), record.size as usize);
        if record.kind != input_kind::DENSE || found != expected {
            let wanted = wanted(record);
            return Err(JsError::new(&format!("{found} real numbers, for a network that takes {wanted}")));
        }
        if let Some(place) = reals.iter().position(|real| real.is_nan()) {
            return Err(JsError::new(&format!("element {place} is not a number")));
        }
        let integers = |low: f64, high: f64| {
            reals.iter().map(move |x| ((x / f64::from(record.unit)).round() + f64::from(zero)).max(low).min(high))
        };
        Ok(match record.element {
            element::U8 => {
                Uint8Array::from(integers(0.0, 255.0).map(|x| x as u8).collect::<Vec<u8>>().as_slice()).into()
            }
            element::I8 => {
                Int8Array::from(integers(-128.0, 127.0).map(|x| x as i8).collect::<Vec<i8>>().as_slice()).into()
            }
            _ => Float32Array::from(reals.iter().map(|x| *x as f32).collect::<Vec<f32>>().as_slice()).into(),
        })
    }

    pub fn input(&self) -> Input<'_> {
        match self {
            Self::U8(x) => Input::U8(x),
            Self::I8(x) => Input::I8(x),
            Self::F32(x) => Input::F32(x),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::U8(x) => x.len(),
            Self::I8(x) => x.len(),
            Self::F32(x) => x.len(),
        }
    }
}

/// The input in words.
fn wanted(record: &InputRecord) -> String {
    let size = record.size;
    match (record.kind, record.element) {
        (input_kind::DENSE, element::U8) => format!("a Uint8Array of {size}"),
        (input_kind::DENSE, element::I8) => format!("an Int8Array of {size}"),
        (input_kind::DENSE, _) => format!("a Float32Array of {size}"),
        (input_kind::SPARSE, _) => format!("lists of {size} features: call runSparse"),
        _ if record.feature_set == 0 => format!("lists of {size} features for accumulators: call runFeatures"),
        _ => "positions: call evaluate with a FEN".to_owned(),
    }
}
