//! NumPy's npy: a magic, a version, a Python dictionary with type, order and shape, and the elements.

use super::element::Element;
use super::error::TensorFileError;
use super::unpack::MAX_UNPACKED_LEN_BYTES;
use crate::graph::description::Tensor;

const MAGIC: &[u8] = b"\x93NUMPY";
/// The most dimensions, which is NumPy's own limit.
const MAX_RANK: usize = 32;

/// The bytes that may be held for a byte of the file, where that is more than a few: images in bytes, packed to half,
/// become sixteen times as much in f64.
const HELD_PER_BYTE: u64 = 16;

/// Whether bytes start like npy.
#[must_use]
pub fn is_npy(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Reads an array of version 1, 2 or 3, in C or Fortran order, of either byte order; the result is in C order.
///
/// # Errors
/// [`TensorFileError::Npy`] with the offset of what does not fit, [`TensorFileError::Type`],
/// [`TensorFileError::NotExact`].
pub fn read_npy(bytes: &[u8]) -> Result<Tensor, TensorFileError> {
    Ok(read_npy_within(bytes, u64::MAX)?.0)
}

/// The same, with the type of the elements, of a file that had `packed_len_bytes`: as f64 elements may come to as much
/// as those of a packed archive.
pub(crate) fn read_typed_npy(bytes: &[u8], packed_len_bytes: usize) -> Result<(Tensor, Element), TensorFileError> {
    read_npy_within(bytes, budget(packed_len_bytes))
}

/// The most bytes that what is read of a packed file may take: as many as what comes out may be, and more of a file
/// that is itself as long.
pub(super) fn budget(packed_len_bytes: usize) -> u64 {
    MAX_UNPACKED_LEN_BYTES.max((packed_len_bytes as u64).saturating_mul(HELD_PER_BYTE))
}

/// The same, of at most so many bytes of f64.
pub(super) fn read_npy_within(bytes: &[u8], limit: u64) -> Result<(Tensor, Element), TensorFileError> {
    if !is_npy(bytes) {
        return Err(npy(0, "does not start with \\x93NUMPY"));
    }
    let header = Header::read(bytes)?;
    let count = header.shape.iter().try_fold(1usize, |count, len| count.checked_mul(*len));
    let expected = count.and_then(|count| count.checked_mul(header.element.len_bytes()));
    let data = bytes.get(header.end..).ok_or_else(|| npy(bytes.len(), "the file ends in its header"))?;
    if expected != Some(data.len()) {
        let shape = Tensor::shape_text(&header.shape);
        let expected = expected.map_or_else(|| "more than there can be".to_owned(), |expected| expected.to_string());
        return Err(npy(header.end, format!("{} bytes of elements, the shape {shape} makes {expected}", data.len())));
    }
    let found = count.map_or(u64::MAX, |count| count as u64).saturating_mul(size_of::<f64>() as u64);
    if found > limit {
        return Err(TensorFileError::Budget { found, limit });
    }
    let values = header.element.decode(data, header.big_endian)?;
    let values = if header.fortran { to_c_order(&values, &header.shape) } else { values };
    Ok((Tensor { shape: header.shape, values }, header.element))
}

fn npy(offset_bytes: usize, why: impl Into<String>) -> TensorFileError {
    TensorFileError::Npy { offset_bytes, why: why.into() }
}

/// The first index changes fastest in `values`.
fn to_c_order(values: &[f64], shape: &[usize]) -> Vec<f64> {
    let mut strides = vec![1; shape.len()];
    for axis in 1..shape.len() {
        strides[axis] = strides[axis - 1] * shape[axis - 1];
    }
    let mut index = vec![0; shape.len()];
    let mut out = Vec::with_capacity(values.len());
    for _ in 0..values.len() {
        let at: usize = index.iter().zip(&strides).map(|(index, stride)| index * stride).sum();
        out.push(values[at]);
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            if index[axis] < shape[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
    out
}

struct Header {
    element: Element,
    big_endian: bool,
    fortran: bool,
    shape: Vec<usize>,
    /// Where the elements start.
    end: usize,
}

impl Header {
    fn read(bytes: &[u8]) -> Result<Self, TensorFileError> {
        let byte = |at: usize| bytes.get(at).copied().ok_or_else(|| npy(at, "the file ends in its header"));
        let (version, minor) = (byte(6)?, byte(7)?);
        let (len, start): (usize, usize) = match version {
            1 => (usize::from(u16::from_le_bytes([byte(8)?, byte(9)?])), 10),
            2 | 3 => (u32::from_le_bytes([byte(8)?, byte(9)?, byte(10)?, byte(11)?]) as usize, 12),
            _ => return Err(npy(6, format!("version {version}.{minor}, expected 1, 2 or 3"))),
        };
        let text = start.checked_add(len).and_then(|end| bytes.get(start..end));
        let text = text.ok_or_else(|| npy(8, format!("a header of {len} bytes in a file of {}", bytes.len())))?;
        let text = std::str::from_utf8(text).map_err(|_| npy(start, "the header is no text"))?;
        let mut reader = Dictionary { rest: text, start, len };
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        reader.expect('{')?;
        while !reader.skip('}') {
            let at = reader.at();
            let key = reader.string()?;
            reader.expect(':')?;
            let twice = match key {
                "descr" if reader.skip('[') => return Err(strange("of several fields")),
                "descr" => descr.replace(reader.string()?).is_some(),
                "fortran_order" => fortran.replace(reader.boolean()?).is_some(),
                "shape" => shape.replace(reader.shape()?).is_some(),
                _ => return Err(npy(at, "a key that is none of descr, fortran_order and shape")),
            };
            if twice {
                return Err(npy(at, format!("`{key}` is there twice")));
            }
            if !reader.skip(',') {
                reader.expect('}')?;
                break;
            }
        }
        if !reader.rest.trim().is_empty() {
            return Err(npy(reader.at(), "something behind the dictionary"));
        }
        let missing = |key| npy(start, format!("the dictionary lacks `{key}`"));
        let (element, big_endian) = element(descr.ok_or_else(|| missing("descr"))?)?;
        let (fortran, shape) =
            (fortran.ok_or_else(|| missing("fortran_order"))?, shape.ok_or_else(|| missing("shape"))?);
        Ok(Self { element, big_endian, fortran, shape, end: start + len })
    }
}

fn strange(found: &str) -> TensorFileError {
    TensorFileError::Type { tensor: "npy".to_owned(), found: tamis_batches::printable(found) }
}

/// `<f4`: the order of the bytes, the kind, and how many.
fn element(descr: &str) -> Result<(Element, bool), TensorFileError> {
    let strange = || strange(descr);
    let mut letters = descr.chars();
    let (order, kind) = (letters.next(), letters.as_str());
    let element = match kind {
        "f8" => Element::F64,
        "f4" => Element::F32,
        "f2" => Element::F16,
        "i8" => Element::I64,
        "i4" => Element::I32,
        "i2" => Element::I16,
        "i1" => Element::I8,
        "u8" => Element::U64,
        "u4" => Element::U32,
        "u2" => Element::U16,
        "u1" => Element::U8,
        "b1" => Element::Bool,
        _ => return Err(strange()),
    };
    match order {
        Some('<') => Ok((element, false)),
        Some('>') => Ok((element, true)),
        Some('|') if element.len_bytes() == 1 => Ok((element, false)),
        _ => Err(strange()),
    }
}

/// As much of Python's literals as a header has.
struct Dictionary<'h> {
    rest: &'h str,
    start: usize,
    len: usize,
}

impl<'h> Dictionary<'h> {
    fn at(&self) -> usize {
        self.start + self.len - self.rest.len()
    }

    fn skip(&mut self, wanted: char) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, wanted: char) -> Result<(), TensorFileError> {
        if self.skip(wanted) { Ok(()) } else { Err(npy(self.at(), format!("expected `{wanted}`"))) }
    }

    fn string(&mut self) -> Result<&'h str, TensorFileError> {
        let quote = if self.skip('"') { '"' } else { '\'' };
        if quote == '\'' {
            self.expect('\'')?;
        }
        let (text, rest) = self.rest.split_once(quote).ok_or_else(|| npy(self.at(), "a text without an end"))?;
        self.rest = rest;
        Ok(text)
    }

    fn boolean(&mut self) -> Result<bool, TensorFileError> {
        self.rest = self.rest.trim_start();
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.rest.strip_prefix(word) {
                self.rest = rest;
                return Ok(value);
            }
        }
        Err(npy(self.at(), "expected True or False"))
    }

    fn shape(&mut self) -> Result<Vec<usize>, TensorFileError> {
        let mut shape = Vec::new();
        self.expect('(')?;
        while !self.skip(')') {
            self.rest = self.rest.trim_start();
            let end = self.rest.find(|digit: char| !digit.is_ascii_digit()).unwrap_or(self.rest.len());
            let (digits, rest) = self.rest.split_at(end);
            let len = digits.parse().map_err(|_| npy(self.at(), "a dimension that is no number in range"))?;
            self.rest = rest;
            if shape.len() == MAX_RANK {
                return Err(npy(self.at(), format!("more than {MAX_RANK} dimensions")));
            }
            shape.push(len);
            if !self.skip(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(shape)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// An array of version 1 with this dictionary.
    pub(in crate::import::tensors) fn npy_of(dictionary: &str, data: &[u8]) -> Vec<u8> {
        let len = u16::try_from(dictionary.len()).unwrap().to_le_bytes();
        [MAGIC, &[1, 0], &len, dictionary.as_bytes(), data].concat()
    }

    fn f32s(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    #[test]
    fn orders_versions_and_shapes() {
        let data = f32s(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let c = npy_of("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n", &data);
        assert_eq!(read_npy(&c).unwrap(), Tensor { shape: vec![2, 3], values: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0] });
        let fortran = npy_of("{\"shape\":(2,3),'fortran_order':True,'descr':'<f4'}", &data);
        assert_eq!(read_npy(&fortran).unwrap().values, [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
        let cube = npy_of("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 3, 2)}", &data);
        assert_eq!(read_npy(&cube).unwrap().values, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
        let mut second = c.clone();
        second.splice(6..10, [2, 0, c[8], c[9], 0, 0]);
        assert_eq!(read_npy(&second).unwrap().shape, [2, 3]);
        let scalar = npy_of("{'descr': '|u1', 'fortran_order': False, 'shape': ()}", &[7]);
        assert_eq!(read_npy(&scalar).unwrap(), Tensor { shape: vec![], values: vec![7.0] });
    }

    /// True and False are 1 and 0, and no bytes that a scale could stand behind.
    #[test]
    fn truth_is_a_number() {
        let of =
            |descr: &str| npy_of(&format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (2,)}}"), &[1, 0]);
        let (tensor, element) = read_typed_npy(&of("|b1"), 0).unwrap();
        assert_eq!((tensor.values, element), (vec![1.0, 0.0], Element::Bool));
        assert_eq!(read_typed_npy(&of("|u1"), 0).unwrap().1, Element::U8);
    }

    /// What is packed small may not be held a thousand times as large.
    #[test]
    fn numbers_of_a_packed_array_are_bounded_before_they_are_held() {
        let len = MAX_UNPACKED_LEN_BYTES as usize / 8 + 1;
        let dictionary = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({len},)}}");
        let bytes = npy_of(&dictionary, &vec![0; len]);
        assert!(matches!(read_typed_npy(&bytes, 1000), Err(TensorFileError::Budget { .. })));
    }

    #[test]
    fn hostile_headers_are_refused_by_name() {
        let good = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}";
        for (from, to, words) in [
            ("(1,)", "(2,)", "4 bytes of elements, the shape (2,) makes 8"),
            ("(1,)", "(18446744073709551615, 18446744073709551615)", "more than there can be"),
            ("(1,)", "(99999999999999999999,)", "no number in range"),
            ("(1,)", "(-1,)", "no number in range"),
            ("(1,)", &format!("({})", "1,".repeat(33)), "more than 32 dimensions"),
            ("(1,)", "(1,", "no number in range"),
            ("(1,)", "(1 1)", "expected `)`"),
            ("(1,)", "1", "expected `(`"),
            ("<f4", "<c8", "type <c8"),
            ("<f4", "|O", "type |O"),
            ("<f4", "=f4", "type =f4"),
            ("'<f4'", "[('a', '<f4')]", "type of several fields"),
            ("False", "0", "True or False"),
            ("'shape'", "'descr'", "expected `'`"),
            ("fortran_order", "order", "none of descr"),
            ("}", "} x", "behind the dictionary"),
            ("'descr': '<f4', ", "", "lacks `descr`"),
            ("{", "", "expected `{`"),
        ] {
            let message = read_npy(&npy_of(&good.replacen(from, to, 1), &[0; 4])).unwrap_err().to_string();
            assert!(message.contains(words), "{words}: {message}");
        }
        let whole = npy_of(good, &[0; 4]);
        for end in 0..whole.len() {
            assert!(read_npy(&whole[..end]).is_err(), "{end}");
        }
        let mut long = whole.clone();
        long[8] = 0xFF;
        long[9] = 0xFF;
        assert!(read_npy(&long).unwrap_err().to_string().contains("a header of 65535 bytes"));
        long[6] = 9;
        assert!(read_npy(&long).unwrap_err().to_string().contains("version 9.0"));
    }
}
