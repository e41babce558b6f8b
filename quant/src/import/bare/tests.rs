use super::{BareValues, read_bare};
use crate::arch::{Architecture, ElementType, Tail};
use crate::import::ImportError;

/// 3 features -> 2, one type each: i8 weights transposed, i16 bias; then 2 -> 1 in i32 and f32.
const MIXED: &str = "schema = 1\nname = \"x\"\n\
    input = { kind = \"features\", size = 3, max_active = 2, perspectives = 1 }\n\
    file = { header_len_bytes = 4, header_magic = \"HD\", tail = \"zeros\" }\n\
    [[layer]]\nname = \"a\"\noutputs = 2\nactivation = \"relu\"\n[[layer]]\nname = \"b\"\noutputs = 1\n\
    [[tensor]]\nname = \"aw\"\ntype = \"i8\"\nscale = 2\ntransposed = true\n\
    [[tensor]]\nname = \"ab\"\ntype = \"i16\"\nscale = 100\n\
    [[tensor]]\nname = \"bw\"\ntype = \"i32\"\nscale = 1\n\
    [[tensor]]\nname = \"bb\"\ntype = \"f32\"\n";

fn arch() -> Architecture {
    Architecture::from_toml(MIXED, "x").unwrap()
}

fn file() -> Vec<u8> {
    let mut bytes = b"HD\x01\x02".to_vec();
    bytes.extend([1i8, 2, 3, -4, -5, -128].map(i8::cast_unsigned));
    bytes.extend([-300i16, 25].iter().flat_map(|value| value.to_le_bytes()));
    bytes.extend([i32::MIN, i32::MAX].iter().flat_map(|value| value.to_le_bytes()));
    bytes.extend(0.5f32.to_le_bytes());
    bytes.resize(64, 0);
    bytes
}

#[test]
fn values_come_out_in_bullets_order() {
    let net = read_bare(&file(), &arch()).unwrap();
    assert_eq!(net.header, b"HD\x01\x02");
    let shapes: Vec<_> = net.tensors.iter().map(|tensor| (tensor.name.as_str(), tensor.out, tensor.inp)).collect();
    assert_eq!(shapes, [("aw", 2, 3), ("ab", 2, 1), ("bw", 1, 2), ("bb", 1, 1)]);
    assert_eq!(net.tensors[0].values, BareValues::Int(vec![1, -4, 2, -5, 3, -128]));
    assert_eq!(net.tensors[1].values, BareValues::Int(vec![-300, 25]));
    assert_eq!(net.tensors[2].values, BareValues::Int(vec![i32::MIN, i32::MAX]));
    assert_eq!(net.tensors[3].values, BareValues::F32(vec![0.5]));

    let real = net.dequantise().unwrap();
    assert_eq!(real.layers[0].weights.column(1), [1.0, -2.5]);
    assert_eq!(real.layers[0].bias, [-3.0, 0.25]);
    assert_eq!(real.layers[1].weights.values, [-2_147_483_648.0, 2_147_483_647.0]);
}

#[test]
fn a_file_of_another_length_is_refused() {
    for len in [1, 26, 63, 65, 128] {
        assert!(matches!(read_bare(&vec![0; len], &arch()), Err(ImportError::Length { .. })), "{len}");
    }
    assert!(matches!(read_bare(&[], &arch()), Err(ImportError::Empty)));
}

#[test]
fn headers_and_tails_are_what_the_description_says() {
    let mut wrong = file();
    wrong[1] = b'\n';
    let message = read_bare(&wrong, &arch()).unwrap_err().to_string();
    assert_eq!(message, "the header starts with \"H\\\\n\", the description says \"HD\"");

    let mut wrong = file();
    wrong[63] = 1;
    let message = read_bare(&wrong, &arch()).unwrap_err().to_string();
    assert!(message.starts_with("bytes 26 to 64 after the last tensor are \"\\x00\\x00"), "{message}");
    assert!(message.contains("the description says zeros"), "{message}");

    let mut bullet = arch();
    bullet.file.tail = Tail::Bullet;
    let message = read_bare(&file(), &bullet).unwrap_err().to_string();
    assert!(message.contains("are zeros, the description says bullet"), "{message}");

    let mut bytes = file()[..26].to_vec();
    bytes.extend(b"bullet".iter().cycle().take(38));
    read_bare(&bytes, &bullet).unwrap();
    assert!(read_bare(&bytes, &arch()).unwrap_err().to_string().contains("are `bullet` letters"));

    let mut none = arch();
    none.file.tail = Tail::None;
    read_bare(&bytes[..26], &none).unwrap();
}

#[test]
fn floats_are_finite_and_integers_need_scales() {
    let mut bytes = file();
    bytes[22..26].copy_from_slice(&f32::NAN.to_le_bytes());
    assert!(matches!(read_bare(&bytes, &arch()), Err(ImportError::NonFinite { .. })));

    let mut unscaled = arch();
    unscaled.tensors[2].scale = None;
    let error = read_bare(&file(), &unscaled).unwrap().dequantise().unwrap_err();
    assert!(matches!(&error, ImportError::NoScale { tensor, element: "i32" } if tensor == "bw"), "{error}");
    assert_eq!(unscaled.tensors[2].r#type, ElementType::I32);
}
