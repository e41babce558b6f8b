use super::{MAX_TENSORS, entries, read_weights};
use crate::arch::Architecture;
use crate::import::ImportError;

/// A chess network of one perspective, two king buckets, one output and a factoriser.
const FACTORISED: &str = "schema = 1\nname = \"x\"\n\
    input = { kind = \"chess\", perspectives = 1, mirrored = true, king_buckets = [0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, \
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1] }\n\
    [[layer]]\nname = \"a\"\noutputs = 2\nfactoriser = \"af\"\n\
    [[tensor]]\nname = \"aw\"\ntype = \"i16\"\nscale = 255\n[[tensor]]\nname = \"ab\"\ntype = \"i16\"\nscale = 255\n";

fn arch() -> Architecture {
    Architecture::from_toml(FACTORISED, "x").unwrap()
}

fn tensor(name: &str, width: usize, values: &[f32]) -> Vec<u8> {
    let mut bytes = format!("{name}\n").into_bytes();
    bytes.extend(&(values.len() as u64).to_le_bytes()[..width]);
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

fn whole(width: usize) -> Vec<u8> {
    let weights: Vec<f32> = (0..2 * 2 * 768).map(|value| value as f32).collect();
    let factoriser: Vec<f32> = (0..2 * 768).map(|value| 0.25 + (value % 2) as f32).collect();
    [tensor("af", width, &factoriser), tensor("ab", width, &[0.0, -1.0]), tensor("aw", width, &weights)].concat()
}

#[test]
fn both_widths_are_read_by_name_and_the_factoriser_is_merged() {
    for width in [4, 8] {
        let net = read_weights(&whole(width), &arch()).unwrap();
        assert_eq!(net.shape_mismatch(), None);
        assert_eq!(net.layers[0].bias, [0.0, -1.0]);
        let weights = &net.layers[0].weights;
        for feature in [0usize, 1, 767, 768, 1535] {
            let first = (2 * feature) as f32;
            assert_eq!(weights.column(feature), [first + 0.25, first + 1.0 + 1.25], "feature {feature}");
        }
    }
}

#[test]
fn zeros_do_not_confuse_the_widths() {
    for width in [4, 8] {
        let bytes = [tensor("ab", width, &[0.0; 2]), tensor("aw", width, &[0.0; 2]), tensor("x", width, &[])].concat();
        let found = entries(&bytes).unwrap();
        let lens: Vec<_> = found.iter().map(|entry| (entry.name, entry.values.len())).collect();
        assert_eq!(lens, [("ab", 8), ("aw", 8), ("x", 0)], "{width}");
    }
}

#[test]
fn a_file_cut_anywhere_is_refused() {
    for width in [4, 8] {
        let whole = [tensor("ab", width, &[1.0, 2.0]), tensor("aw", width, &[3.0])].concat();
        let boundary = tensor("ab", width, &[1.0, 2.0]).len();
        // Four bytes short, one tensor of the wide form is a whole one of the narrow form; a network has two or more.
        let excepted = [boundary, if width == 8 { boundary - 4 } else { boundary }];
        for len in (1..whole.len()).filter(|len| !excepted.contains(len)) {
            assert!(matches!(entries(&whole[..len]), Err(ImportError::Weights { .. })), "{len} of {width}");
        }
    }
}

#[test]
fn hostile_counts_and_names_are_refused_without_memory() {
    for bytes in [
        &b"a\n\xff\xff\xff\xff\xff\xff\xff\xff"[..],
        b"a\n\xff\xff\xff\xff\xff\xff\xff\x3f",
        b"a\n\0\0\0\0\0\0\0\x40",
        b"\n\0\0\0\0\0\0\0\0",
        b"a b\n\0\0\0\0\0\0\0\0",
        b"\xc3\xa9\n\0\0\0\0\0\0\0\0",
        b"no line feed",
        &[b'a'; 200],
    ] {
        assert!(matches!(entries(bytes), Err(ImportError::Weights { .. })), "{bytes:?}");
    }
    let many = b"a\n\0\0\0\0\0\0\0\0".repeat(MAX_TENSORS + 1);
    assert!(matches!(entries(&many), Err(ImportError::Weights { .. })));
    let message = entries(b"ab\n\x03\0\0\0\0\0\0\0\0\0\0\0").unwrap_err().to_string();
    assert_eq!(message, "weights.bin: byte 0, tensor 0: `ab` should have 3 values, and 1 follow; is the file cut off?");
}

#[test]
fn tensors_are_exactly_the_descriptions() {
    let refused = |parts: &[Vec<u8>]| read_weights(&parts.concat(), &arch()).unwrap_err();
    let (weights, factoriser) = (tensor("aw", 8, &[0.0; 3072]), tensor("af", 8, &[0.0; 1536]));
    let bias = tensor("ab", 8, &[0.0; 2]);

    let error = refused(&[bias.clone(), bias.clone()]);
    assert!(matches!(error, ImportError::DuplicateTensor { first_bytes: 0, second_bytes: 19, .. }), "{error}");
    let error = refused(std::slice::from_ref(&bias));
    assert_eq!(error.to_string(), "weights.bin: `aw`, `af` missing, the file has `ab`");
    let more = tensor("extra", 8, &[]);
    let error = refused(&[weights.clone(), factoriser.clone(), bias.clone(), more]);
    assert!(matches!(&error, ImportError::UnknownTensors { names } if names == &["extra"]), "{error}");

    let error = refused(&[tensor("aw", 8, &[0.0; 4 * 768]), factoriser.clone(), tensor("ab", 8, &[0.0; 3])]);
    assert!(error.to_string().contains("`ab` has 3 values, the description makes 2 (out 2, in 1)"), "{error}");
    let error = refused(&[tensor("aw", 8, &[0.0; 6 * 768]), factoriser.clone(), bias.clone()]);
    assert!(error.to_string().contains("look like a factoriser inside the tensor"), "{error}");
    let error = refused(&[tensor("aw", 8, &[0.0; 8 * 768]), factoriser, bias.clone()]);
    assert!(error.to_string().ends_with("; 3072 inputs or 4 outputs would fit"), "{error}");
    let error = refused(&[weights, tensor("af", 8, &[0.0; 2]), bias]);
    assert!(error.to_string().contains("tensor `af` has 2 values"), "{error}");
}

#[test]
fn numbers_are_finite_also_after_the_merge() {
    let with = |bias: f32, weight: f32, shared: f32| {
        let parts = [tensor("aw", 4, &[weight; 3072]), tensor("af", 4, &[shared; 1536]), tensor("ab", 4, &[0.0, bias])];
        read_weights(&parts.concat(), &arch())
    };
    with(0.0, f32::MAX, 0.0).unwrap();
    for (bias, weight, shared, expected) in [
        (f32::NAN, 0.0, 0.0, "tensor `ab`, index 1 (output 1, input 0): NaN is not"),
        (0.0, f32::INFINITY, 0.0, "tensor `aw`, index 0 (output 0, input 0): inf is not"),
        (0.0, 0.0, f32::NEG_INFINITY, "tensor `af`, index 0 (output 0, input 0): -inf is not"),
        (0.0, f32::MAX, f32::MAX, "tensor `aw + af`, index 0 (output 0, input 0): inf is not"),
    ] {
        let message = with(bias, weight, shared).unwrap_err().to_string();
        assert!(message.starts_with(expected), "{message}");
    }
}
