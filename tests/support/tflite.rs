//! TFLite files, written: small networks on float32 or on bytes.

/// A FlatBuffer object, before it has a place.
pub enum Object {
    /// Fields by number.
    Table(Vec<Field>),
    /// Elements of so many bytes, one behind the other.
    Vector(usize, Vec<u8>),
    /// A vector of tables.
    Tables(Vec<Object>),
}

/// A field of a table.
pub enum Field {
    /// Left out.
    Absent,
    /// A number, little endian.
    Number(Vec<u8>),
    /// What it leads to.
    To(Object),
}

/// A whole number of four bytes.
pub fn int(value: i32) -> Field {
    Field::Number(value.to_le_bytes().to_vec())
}

/// One of one byte.
pub fn byte(value: u8) -> Field {
    Field::Number(vec![value])
}

/// A real number.
pub fn float(value: f32) -> Field {
    Field::Number(value.to_le_bytes().to_vec())
}

/// A list of whole numbers.
pub fn ints(values: &[i32]) -> Field {
    Field::To(Object::Vector(4, values.iter().flat_map(|value| value.to_le_bytes()).collect()))
}

fn text(text: &str) -> Field {
    Field::To(Object::Vector(1, text.as_bytes().to_vec()))
}

fn tables(tables: Vec<Object>) -> Field {
    Field::To(Object::Tables(tables))
}

/// The bytes of a file of this identifier.
pub fn bytes(root: &Object, identifier: &[u8; 4]) -> Vec<u8> {
    let mut out = vec![0; 4];
    out.extend(identifier);
    let start = write(&mut out, root);
    out[..4].copy_from_slice(&u32::try_from(start).unwrap().to_le_bytes());
    out
}

/// Vtable, table, and then what it leads to; where the table or the vector is.
fn write(out: &mut Vec<u8>, object: &Object) -> usize {
    match object {
        Object::Vector(width, elements) => {
            let start = out.len();
            out.extend(u32::try_from(elements.len() / width).unwrap().to_le_bytes());
            out.extend(elements);
            start
        }
        Object::Tables(tables) => {
            let start = out.len();
            out.extend(u32::try_from(tables.len()).unwrap().to_le_bytes());
            out.resize(start + 4 + 4 * tables.len(), 0);
            for (index, table) in tables.iter().enumerate() {
                let place = start + 4 + 4 * index;
                let at = write(out, table);
                patch(out, place, at);
            }
            start
        }
        Object::Table(fields) => {
            let len = |field: &Field| match field {
                Field::Absent => 0,
                Field::Number(number) => number.len(),
                Field::To(_) => 4,
            };
            let vtable = out.len();
            let body: usize = 4 + fields.iter().map(len).sum::<usize>();
            out.extend(u16::try_from(4 + 2 * fields.len()).unwrap().to_le_bytes());
            out.extend(u16::try_from(body).unwrap().to_le_bytes());
            let mut at = 4;
            for field in fields {
                let place = if matches!(field, Field::Absent) { 0 } else { at };
                out.extend(u16::try_from(place).unwrap().to_le_bytes());
                at += len(field);
            }
            let start = out.len();
            out.extend(i32::try_from(start - vtable).unwrap().to_le_bytes());
            let mut places = Vec::new();
            for field in fields {
                match field {
                    Field::Absent => {}
                    Field::Number(number) => out.extend(number),
                    Field::To(object) => {
                        places.push((out.len(), object));
                        out.extend([0; 4]);
                    }
                }
            }
            for (place, object) in places {
                let at = write(out, object);
                patch(out, place, at);
            }
            start
        }
    }
}

fn patch(out: &mut [u8], place: usize, at: usize) {
    out[place..place + 4].copy_from_slice(&u32::try_from(at - place).unwrap().to_le_bytes());
}

/// A tensor of a network.
pub struct Written {
    dims: Vec<i32>,
    element: u8,
    data: Vec<u8>,
    /// Scale and zero point.
    steps: Option<(f32, i64)>,
}

/// TFLite's number for signed bytes.
pub const INT8: u8 = 9;
/// For those without a sign.
pub const UINT8: u8 = 3;

/// A value of bytes of this type, which stand for `(integer − zero point) · scale`.
pub fn stored(dims: &[i32], element: u8, scale: f32, zero_point: i64) -> Written {
    Written { dims: dims.to_vec(), element, data: Vec::new(), steps: Some((scale, zero_point)) }
}

/// A value of float32.
pub fn value(dims: &[i32]) -> Written {
    Written { dims: dims.to_vec(), element: 0, data: Vec::new(), steps: None }
}

/// A constant of float32.
pub fn constant(dims: &[i32], numbers: &[f32]) -> Written {
    let data = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    Written { dims: dims.to_vec(), element: 0, data, steps: None }
}

/// A list of whole numbers.
pub fn list(numbers: &[i32]) -> Written {
    let dims = vec![i32::try_from(numbers.len()).unwrap()];
    Written { dims, element: 2, data: numbers.iter().flat_map(|number| number.to_le_bytes()).collect(), steps: None }
}

/// An operator: its code, what it reads and makes, and its options with their number in the union.
pub struct Step {
    /// Its code.
    pub code: i32,
    /// Numbers of tensors.
    pub inputs: Vec<i32>,
    /// Numbers of tensors.
    pub outputs: Vec<i32>,
    /// Fields.
    pub options: (u8, Vec<Field>),
}

/// A file of these tensors and operators.
pub fn network(tensors: Vec<Written>, inputs: &[i32], outputs: &[i32], steps: Vec<Step>) -> Vec<u8> {
    // Buffer 0 is empty.
    let mut buffers = vec![Object::Table(Vec::new())];
    let mut tables_ = Vec::new();
    for (index, tensor) in tensors.into_iter().enumerate() {
        let mut buffer = 0;
        if !tensor.data.is_empty() {
            buffer = i32::try_from(buffers.len()).unwrap();
            buffers.push(Object::Table(vec![Field::To(Object::Vector(1, tensor.data))]));
        }
        let name = text(&format!("t{index}"));
        let mut fields = vec![ints(&tensor.dims), byte(tensor.element), int(buffer), name];
        if let Some((scale, zero_point)) = tensor.steps {
            let scale = Field::To(Object::Vector(4, scale.to_le_bytes().to_vec()));
            let zero_point = Field::To(Object::Vector(8, zero_point.to_le_bytes().to_vec()));
            fields.push(Field::To(Object::Table(vec![Field::Absent, Field::Absent, scale, zero_point])));
        }
        tables_.push(Object::Table(fields));
    }
    let (mut codes, mut operators) = (Vec::new(), Vec::new());
    for (index, Step { code, inputs, outputs, options: (kind, fields) }) in steps.into_iter().enumerate() {
        codes.push(Object::Table(vec![byte(code.min(127) as u8), Field::Absent, int(1), int(code)]));
        let index = int(i32::try_from(index).unwrap());
        let options = Field::To(Object::Table(fields));
        operators.push(Object::Table(vec![index, ints(&inputs), ints(&outputs), byte(kind), options]));
    }
    let subgraph = Object::Table(vec![tables(tables_), ints(inputs), ints(outputs), tables(operators)]);
    let model = vec![int(3), tables(codes), tables(vec![subgraph]), text("written"), tables(buffers)];
    bytes(&Object::Table(model), b"TFL3")
}
