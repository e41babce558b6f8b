//! `raw.bin`: the f32 tensors one after the other, in the description's order, without names, padding or factorisers.

use super::assemble::{assemble, floats};
use super::error::ImportError;
use super::explain::length_error;
use crate::arch::{Architecture, FileForm};
use crate::float::Net;

/// Reads the network of a description.
///
/// # Errors
/// [`ImportError::Length`] unless the file has exactly the description's length, [`ImportError::FactoriserNotInRaw`] if
/// the description has a factoriser (the file then lacks a part of the weights), [`ImportError::NonFinite`].
pub fn read_raw(bytes: &[u8], arch: &Architecture) -> Result<Net<f32>, ImportError> {
    check_len(bytes.len() as u64, arch)?;
    let spans = arch.spans(FileForm::Raw);
    assemble(arch, |name, _| {
        let span = spans.iter().find(|span| span.name == name);
        let span = span.unwrap_or_else(|| unreachable!("`{name}` has a span, as every tensor of a description"));
        // The file is as long as the spans, so each is there.
        Ok(floats(&bytes[span.range()]))
    })
}

/// Whether a file of this length can be read at all.
pub(super) fn check_len(len_bytes: u64, arch: &Architecture) -> Result<(), ImportError> {
    if let Some(factoriser) = arch.factoriser() {
        return Err(ImportError::FactoriserNotInRaw { factoriser: factoriser.to_owned() });
    }
    if len_bytes == 0 {
        return Err(ImportError::Empty);
    }
    if len_bytes == arch.raw_len_bytes() { Ok(()) } else { Err(length_error(arch, FileForm::Raw, len_bytes)) }
}

#[cfg(test)]
mod tests {
    use super::read_raw;
    use crate::arch::Architecture;
    use crate::import::ImportError;

    /// 2 -> 1, in the order bias, weights.
    const LINEAR: &str = "schema = 1\nname = \"x\"\ninput = { kind = \"dense\", size = 2, type = \"u7\", max = 1.0 }\n\
        [[layer]]\nname = \"a\"\noutputs = 2\n[[tensor]]\nname = \"ab\"\ntype = \"f32\"\n\
        [[tensor]]\nname = \"aw\"\ntype = \"f32\"\ntransposed = true\n";

    fn bytes(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    #[test]
    fn tensors_come_in_the_lists_order_and_never_transposed() {
        let arch = Architecture::from_toml(LINEAR, "x").unwrap();
        let net = read_raw(&bytes(&[10.0, 20.0, 1.0, 2.0, 3.0, 4.0]), &arch).unwrap();
        assert_eq!(net.layers[0].bias, [10.0, 20.0]);
        assert_eq!(net.layers[0].weights.column(1), [3.0, 4.0]);
        assert_eq!(net.shape_mismatch(), None);
    }

    #[test]
    fn other_lengths_and_numbers_are_refused() {
        let arch = Architecture::from_toml(LINEAR, "x").unwrap();
        assert!(matches!(read_raw(&[], &arch), Err(ImportError::Empty)));
        for len in [1, 23, 25, 28] {
            assert!(matches!(read_raw(&vec![0; len], &arch), Err(ImportError::Length { .. })), "{len}");
        }
        let message = read_raw(&bytes(&[0.0, 0.0, 0.0, 0.0, f32::NAN, 0.0]), &arch).unwrap_err().to_string();
        assert!(
            message.starts_with("tensor `aw`, index 2 (output 0, input 1): NaN is not a finite number"),
            "{message}"
        );
    }

    #[test]
    fn a_network_with_a_factoriser_needs_weights_bin() {
        let text = "schema = 1\nname = \"x\"\ninput = { kind = \"chess\", perspectives = 1 }\n\
            [[layer]]\nname = \"a\"\noutputs = 1\nfactoriser = \"f\"\n[[tensor]]\nname = \"aw\"\ntype = \"f32\"\n\
            [[tensor]]\nname = \"ab\"\ntype = \"f32\"\n";
        let arch = Architecture::from_toml(text, "x").unwrap();
        assert!(matches!(read_raw(&[0; 3076], &arch), Err(ImportError::FactoriserNotInRaw { .. })));
    }
}
