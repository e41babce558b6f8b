//! What stands around the tensors in a bare file: a header that has the length and the start it claims.

use super::{Refusal, size_range};
use crate::arch::error::{Cause, Place};
use crate::arch::types::{Architecture, BareFile};

const MAX_HEADER_LEN_BYTES: usize = 1 << 16;

impl Architecture {
    pub(super) fn check_file(&self) -> Result<(), Refusal> {
        let file = &self.file;
        let at = |key| move |cause| (Place::Table("file", key), cause);
        let header = |key, why| (Place::Table("file", key), Cause::Header { why });
        size_range(file.header_len_bytes, 0, MAX_HEADER_LEN_BYTES).map_err(at("header_len_bytes"))?;
        if let Some(magic) = &file.header_magic {
            if magic.is_empty() || !magic.is_ascii() {
                return Err(header("header_magic", "must be ASCII and not empty".to_owned()));
            }
            if magic.len() > file.header_len_bytes {
                let (found, len) = (magic.len(), file.header_len_bytes);
                return Err(header("header_magic", format!("{found} characters do not fit a header of {len} bytes")));
            }
        }
        if let Some(hex) = &file.header_hex {
            let expected = file.header_len_bytes;
            let Some(bytes) = file.header_bytes() else {
                let why = format!(
                    "must be {} hexadecimal digits for a header of {expected} bytes, found {} characters",
                    2 * expected,
                    hex.chars().count()
                );
                return Err(header("header_hex", why));
            };
            if file.header_magic.as_ref().is_some_and(|magic| !bytes.starts_with(magic.as_bytes())) {
                return Err(header("header_hex", "does not start with `header_magic`".to_owned()));
            }
        }
        Ok(())
    }
}

impl BareFile {
    /// The header of `header_hex`, if there is one of exactly `header_len_bytes` bytes. A checked description without
    /// a header at all gives none.
    #[must_use]
    pub fn header_bytes(&self) -> Option<Vec<u8>> {
        let digits = self.header_hex.as_ref()?.as_bytes();
        if digits.len().checked_sub(self.header_len_bytes)? != self.header_len_bytes {
            return None;
        }
        let digit = |byte: u8| char::from(byte).to_digit(16);
        digits.chunks_exact(2).map(|pair| u8::try_from(digit(pair[0])? * 16 + digit(pair[1])?).ok()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SMALL, refused};
    use crate::arch::Architecture;

    #[test]
    fn headers_are_what_they_claim() {
        let with = |lines: &str| refused(&format!("{SMALL}[file]\n{lines}"));
        assert!(with("header_magic = \"CBNF\"").contains("4 characters do not fit a header of 0 bytes"));
        assert!(with("header_len_bytes = 4\nheader_magic = \"\"").contains("not empty"));
        assert!(with("header_len_bytes = 4\nheader_magic = \"é\"").contains("must be ASCII"));
        assert!(with("header_len_bytes = 65537").contains("65537 is outside 0 to 65536"));
        assert!(with("header_len_bytes = 2\nheader_hex = \"0\"").contains("4 hexadecimal digits for a header of 2"));
        assert!(with("header_len_bytes = 2\nheader_hex = \"00zz\"").contains("4 hexadecimal digits"));
        assert!(with("header_len_bytes = 2\nheader_hex = \"000000\"").contains("4 hexadecimal digits"));
        let message = with("header_len_bytes = 2\nheader_magic = \"A\"\nheader_hex = \"4241\"");
        assert!(message.contains("does not start with `header_magic`"), "{message}");
    }

    #[test]
    fn a_header_comes_out_of_its_digits() {
        let text = format!("{SMALL}[file]\nheader_len_bytes = 3\nheader_magic = \"A\"\nheader_hex = \"4100fF\"");
        let architecture = Architecture::from_toml(&text, "x").unwrap();
        assert_eq!(architecture.file.header_bytes(), Some(vec![0x41, 0x00, 0xff]));
    }
}
