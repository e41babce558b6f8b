//! The wire format of protocol buffers over a slice: five functions, nothing copied, nothing allocated.
//!
//! A message is a row of fields, each a key, `number << 3 | wire type`, and a value. Groups, wire types 3 and 4, are
//! refused. Repeated numbers may be packed into one field or stand one a field; both are read.

use super::error::OnnxError;

/// The bytes of a message, and where they begin in the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Message<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) offset_bytes: usize,
}

/// A value as it stands on the wire.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wire<'a> {
    Varint(u64),
    Fixed64(u64),
    Bytes(&'a [u8]),
    Fixed32(u32),
}

/// One field of a message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field<'a> {
    pub(super) number: u32,
    pub(super) wire: Wire<'a>,
    /// Where the value begins in the file.
    offset_bytes: usize,
}

fn fault(offset_bytes: usize, what: &'static str) -> OnnxError {
    OnnxError::Wire { field: String::new(), offset_bytes, what }
}

impl<'a> Message<'a> {
    /// Its fields in their order; the first fault ends them.
    pub(super) fn fields(self) -> Fields<'a> {
        Fields { message: self, at: 0 }
    }
}

/// The fields of a message.
pub(super) struct Fields<'a> {
    message: Message<'a>,
    at: usize,
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>, OnnxError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.message.bytes.len() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.at = self.message.bytes.len();
        }
        Some(field)
    }
}

impl<'a> Fields<'a> {
    fn field(&mut self) -> Result<Field<'a>, OnnxError> {
        let start = self.message.offset_bytes + self.at;
        let key = self.varint()?;
        let number = u32::try_from(key >> 3).ok().filter(|number| (1..1 << 29).contains(number));
        let number = number.ok_or_else(|| fault(start, "the number of a field is 0 or beyond 2^29"))?;
        let mut offset_bytes = self.message.offset_bytes + self.at;
        let wire = match key & 7 {
            0 => Wire::Varint(self.varint()?),
            1 => Wire::Fixed64(u64::from_le_bytes(self.array()?)),
            2 => {
                let len = self.varint()?;
                offset_bytes = self.message.offset_bytes + self.at;
                let len = usize::try_from(len).map_err(|_| fault(start, "a length is beyond the file"))?;
                Wire::Bytes(self.take(len)?)
            }
            5 => Wire::Fixed32(u32::from_le_bytes(self.array()?)),
            3 | 4 => return Err(fault(start, "a group, which no version of ONNX has")),
            _ => return Err(fault(start, "wire types are 0, 1, 2 and 5")),
        };
        Ok(Field { number, wire, offset_bytes })
    }

    fn varint(&mut self) -> Result<u64, OnnxError> {
        let start = self.message.offset_bytes + self.at;
        let (value, len) = varint(&self.message.bytes[self.at..]).map_err(|what| fault(start, what))?;
        self.at += len;
        Ok(value)
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], OnnxError> {
        let rest = &self.message.bytes[self.at..];
        let Some(taken) = rest.get(..len) else {
            return Err(fault(self.message.offset_bytes + self.at, "a value ends behind what holds it"));
        };
        self.at += len;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], OnnxError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }
}

/// A number in groups of seven bits, the lowest first, and its length in bytes.
fn varint(bytes: &[u8]) -> Result<(u64, usize), &'static str> {
    let mut value = 0u64;
    for (index, byte) in bytes.iter().enumerate().take(10) {
        if index == 9 && *byte > 1 {
            return Err("a number has more than 64 bits");
        }
        value |= u64::from(byte & 0x7F) << (7 * index);
        if *byte < 0x80 {
            return Ok((value, index + 1));
        }
    }
    Err(if bytes.len() < 10 { "a number ends behind what holds it" } else { "a number has more than 10 bytes" })
}

impl<'a> Field<'a> {
    pub(super) fn fault(&self, what: &'static str) -> OnnxError {
        fault(self.offset_bytes, what)
    }

    pub(super) fn int(&self) -> Result<i64, OnnxError> {
        match self.wire {
            // Negative numbers are written as those of 64 bits that have the same bits.
            Wire::Varint(value) => Ok(value.cast_signed()),
            _ => Err(self.fault("expected a number")),
        }
    }

    pub(super) fn float(&self) -> Result<f32, OnnxError> {
        match self.wire {
            Wire::Fixed32(bits) => Ok(f32::from_bits(bits)),
            _ => Err(self.fault("expected a number of 32 bits")),
        }
    }

    pub(super) fn bytes(&self) -> Result<&'a [u8], OnnxError> {
        match self.wire {
            Wire::Bytes(bytes) => Ok(bytes),
            _ => Err(self.fault("expected bytes")),
        }
    }

    pub(super) fn text(&self) -> Result<&'a str, OnnxError> {
        std::str::from_utf8(self.bytes()?).map_err(|_| self.fault("a text is not UTF-8"))
    }

    pub(super) fn message(&self) -> Result<Message<'a>, OnnxError> {
        match self.wire {
            Wire::Bytes(bytes) => Ok(Message { bytes, offset_bytes: self.offset_bytes }),
            _ => Err(self.fault("expected a message")),
        }
    }

    /// Calls `each` with every number of a field that may be packed.
    pub(super) fn ints(&self, mut each: impl FnMut(i64)) -> Result<(), OnnxError> {
        let Wire::Bytes(mut bytes) = self.wire else {
            each(self.int()?);
            return Ok(());
        };
        while !bytes.is_empty() {
            let (value, len) = varint(bytes).map_err(|what| self.fault(what))?;
            each(value.cast_signed());
            bytes = &bytes[len..];
        }
        Ok(())
    }

    /// The same for numbers of 32 bits.
    pub(super) fn floats(&self, mut each: impl FnMut(f32)) -> Result<(), OnnxError> {
        let Wire::Bytes(bytes) = self.wire else {
            each(self.float()?);
            return Ok(());
        };
        let (chunks, rest) = bytes.as_chunks::<4>();
        chunks.iter().for_each(|chunk| each(f32::from_le_bytes(*chunk)));
        if rest.is_empty() { Ok(()) } else { Err(self.fault("packed numbers of 32 bits take 4 bytes each")) }
    }

    /// The same for numbers of 64 bits.
    pub(super) fn doubles(&self, mut each: impl FnMut(f64)) -> Result<(), OnnxError> {
        match self.wire {
            Wire::Fixed64(bits) => each(f64::from_bits(bits)),
            Wire::Bytes(bytes) if bytes.len().is_multiple_of(8) => {
                bytes.as_chunks::<8>().0.iter().for_each(|chunk| each(f64::from_le_bytes(*chunk)));
            }
            _ => return Err(self.fault("packed numbers of 64 bits take 8 bytes each")),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Vec<Field<'_>>, OnnxError> {
        Message { bytes, offset_bytes: 100 }.fields().collect()
    }

    #[test]
    fn fields_are_read_to_the_last_byte() {
        let fields = read(b"\x08\x96\x01\x12\x02ab\x1d\0\0\x80\x3f").unwrap();
        assert_eq!(fields[0].int().unwrap(), 150);
        assert_eq!(fields[1].text().unwrap(), "ab");
        assert_eq!(fields[2].float().unwrap(), 1.0);
        let mut packed = Vec::new();
        read(b"\x0a\x0b\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01").unwrap()[0].ints(|int| packed.push(int)).unwrap();
        assert_eq!(packed, [1, -1]);
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for bytes in [
            &b"\x08"[..],
            b"\x12\x05abc",
            b"\x0b\x0c",
            b"\x00\x00",
            b"\x0f\x00",
            b"\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00",
            b"\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02",
            b"\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        ] {
            assert!(matches!(read(bytes), Err(OnnxError::Wire { .. })), "{}", bytes.escape_ascii());
        }
    }
}
