//! Files of the Stockfish family: what is read is written as it was, and what is wrong with a file is named.

use tamis_quant::error_kind::ErrorKind;
use tamis_quant::stockfish::{
    Division, Encoding, FeatureSet, Head, Net, NnueError, Place, Shape, is_nnue, read, to_bytes,
};
use tests::sample_models::Random;
use tests::stockfish::{made_up, shape};

use Encoding::{Leb128, Raw};
use FeatureSet::{HalfKaV2, HalfKaV2Hm, HalfKp};

const SQUARES: Head = Head::Pairwise { squares: true };
const NO_SQUARES: Head = Head::Pairwise { squares: false };

const fn clipped(first: usize) -> Head {
    Head::Clipped { first }
}

/// The smallest network that has everything: stacks, PSQT, compressed blocks, a skipping neuron.
fn small(encoding: Encoding) -> Net {
    made_up(shape(HalfKaV2Hm, 32, SQUARES), encoding, 7)
}

/// Offsets in the file of [`small`]: of the transformer's hash and of every stack's.
fn hash_offsets(net: &Net, bytes: &[u8]) -> (usize, Vec<usize>) {
    let transformer = 12 + net.description.len();
    let stack_len = 4 + 16 * (4 + 32) + 32 * (4 + 32) + 4 + 32;
    (transformer, (1..=8).rev().map(|back| bytes.len() - back * stack_len).collect())
}

#[test]
fn every_form_comes_back_byte_for_byte() {
    // The form and width of every release from 12 to 17.1, and the narrowest.
    let forms = [
        (shape(HalfKp, 256, clipped(32)), Raw),
        (shape(HalfKaV2, 512, clipped(16)), Raw),
        (shape(HalfKaV2Hm, 1024, clipped(8)), Raw),
        (shape(HalfKaV2Hm, 1024, NO_SQUARES), Raw),
        (shape(HalfKaV2Hm, 1024, SQUARES), Raw),
        (shape(HalfKaV2Hm, 1536, SQUARES), Leb128),
        (shape(HalfKaV2Hm, 2560, SQUARES), Leb128),
        (shape(HalfKaV2Hm, 3072, SQUARES), Leb128),
        (shape(HalfKaV2Hm, 128, SQUARES), Leb128),
        (shape(HalfKp, 32, clipped(32)), Leb128),
        (shape(HalfKaV2, 32, NO_SQUARES), Raw),
        (shape(HalfKaV2Hm, 32, clipped(16)), Raw),
    ];
    for (shape, encoding) in forms {
        let net = made_up(shape, encoding, shape.width as u64);
        let bytes = to_bytes(&net);
        assert!(is_nnue(&bytes));
        let again = read(&bytes).unwrap_or_else(|error| panic!("{shape}: {error}"));
        assert_eq!(again.shape, shape);
        assert!(again == net, "{shape}");
        // From Stockfish 17 on.
        let division = if shape.width == 3072 { Division::Twice } else { Division::Once };
        assert_eq!(again.division, division, "{shape}");
        drop(net);
        assert!(to_bytes(&again) == bytes, "{shape}");
    }
}

/// The rule is no part of a file: it comes from the architecture, whatever the network that was written had.
#[test]
fn a_file_does_not_say_how_its_value_is_divided() {
    let mut net = small(Raw);
    let bytes = to_bytes(&net);
    net.division = Division::Twice;
    assert!(to_bytes(&net) == bytes);
    assert_eq!(read(&bytes).unwrap().division, Division::Once);
}

#[test]
fn what_is_kept_beyond_the_weights() {
    let mut net = small(Raw);
    net.description = vec![0xFF, 0, b'\n'];
    net.transformer.weights.encoding = Leb128;
    let second = &mut net.stacks[7].second;
    let padded = second.row_len();
    second.weights[padded - 1] = 9; // beyond the 30 inputs
    let bytes = to_bytes(&net);
    assert!(read(&bytes).unwrap() == net);
}

#[test]
fn every_bit_of_every_hash_is_checked_and_named() {
    for encoding in [Raw, Leb128] {
        let net = small(encoding);
        let mut bytes = to_bytes(&net);
        let (transformer, stacks) = hash_offsets(&net, &bytes);
        for bit in 0..32 {
            let mut refused = |offset: usize| {
                bytes[offset + bit / 8] ^= 1 << (bit % 8);
                let error = read(&bytes).unwrap_err();
                bytes[offset + bit / 8] ^= 1 << (bit % 8);
                error
            };
            let error = refused(4);
            let named =
                matches!(error, NnueError::HeaderHash { shape, .. } if shape.header_hash() == net.shape.header_hash());
            assert!(named, "header, bit {bit}: {error}");
            let error = refused(transformer);
            let expected = net.shape.transformer_hash();
            let named = matches!(error, NnueError::TransformerHash { shape, found }
                if shape.transformer_hash() == expected && found == expected ^ 1 << bit);
            assert!(named, "transformer, bit {bit}: {error}");
            for (index, &offset) in stacks.iter().enumerate() {
                let error = refused(offset);
                let named = matches!(error, NnueError::StackHash { stack, offset_bytes, .. }
                    if stack == index && offset_bytes == offset);
                assert!(named, "stack {index}, bit {bit}: {error}");
            }
            assert!(matches!(refused(0), NnueError::Version { .. }), "version, bit {bit}");
        }
    }
}

#[test]
fn a_file_that_ends_early_or_late_is_refused() {
    for encoding in [Raw, Leb128] {
        let net = small(encoding);
        let bytes = to_bytes(&net);
        let (transformer, stacks) = hash_offsets(&net, &bytes);
        let borders = [0, 4, 8, 12, transformer, transformer + 4, transformer + 21, transformer + 25].into_iter();
        let borders =
            borders.chain(stacks.iter().flat_map(|&stack| [stack, stack + 4, stack + 4 + 64, stack + 4 + 576]));
        let random = std::iter::repeat_with({
            let mut random = Random(5);
            let len = bytes.len();
            move || random.draw() as usize % len
        });
        for border in borders.chain(random.take(60)).chain([bytes.len()]) {
            for len in [border.saturating_sub(1), border, border + 1].into_iter().filter(|&len| len < bytes.len()) {
                let error = read(&bytes[..len]).unwrap_err();
                let cut = matches!(error, NnueError::CutOff { .. } | NnueError::StacksLength { .. });
                assert!(cut && error.to_string().contains("cut off"), "{len}: {error}");
            }
        }
        let mut longer = bytes.clone();
        longer.push(0);
        let error = read(&longer).unwrap_err();
        assert!(matches!(error, NnueError::StacksLength { .. }), "{error}");
        assert!(error.to_string().contains("follow the last stack"), "{error}");
    }
}

/// A file with any bytes changed is refused, or read and written as it is.
#[test]
fn damage_anywhere_is_refused_or_kept() {
    let mut random = Random(11);
    let mut kept = 0;
    for encoding in [Raw, Leb128] {
        let net = small(encoding);
        let mut bytes = to_bytes(&net);
        let (_, stacks) = hash_offsets(&net, &bytes);
        for round in 0..150 {
            // Half of them where the structure is dense: the first bytes, and the stacks.
            let at = match round % 4 {
                0 => random.draw() as usize % 64,
                1 => stacks[0] + random.draw() as usize % (bytes.len() - stacks[0]),
                _ => random.draw() as usize % bytes.len(),
            };
            let before = bytes[at];
            bytes[at] = random.draw() as u8;
            if let Ok(net) = read(&bytes) {
                assert!(to_bytes(&net) == bytes, "byte {at}");
                kept += 1;
            }
            bytes[at] = before;
        }
    }
    assert!((50..300).contains(&kept), "{kept}");
}

#[test]
fn threat_inputs_are_recognised() {
    assert!(is_nnue(&0x6A44_8AFA_u32.to_le_bytes()));
    // Header and transformer hash of Stockfish 18's big network, and of 19's: their biases are missing.
    for words in [[0x7AF3_2F20_u32, 0xEC10_2EF2, 0, 0x8F23_44B8], [0x6A44_8AFA, 0xA85B_2205, 0, 0xCB68_5313]] {
        let error = read(&words.map(u32::to_le_bytes).concat()).unwrap_err();
        assert!(matches!(error, NnueError::CutOff { offset_bytes: 16, .. }), "{error}");
    }
    // SFNNv15 has 19's version and a hash of its own.
    let error = read(&[0x6A44_8AFA_u32, 0, 0, 0x6165_DDC9].map(u32::to_le_bytes).concat()).unwrap_err();
    assert!(error.to_string().contains("SFNNv15"), "{error}");
    assert_eq!(error.class(), ErrorKind::Unsupported);
}

#[test]
fn networks_of_other_families_are_recognised() {
    let class = |bytes: &[u8]| {
        let error = read(bytes).unwrap_err();
        (error.class(), error.to_string())
    };
    let (found, text) = class(b"CBNF and more");
    assert!(found == ErrorKind::Malformed && text.contains("another engine"), "{text}");
    // HalfKP of shogi: the hashes of chess, 125388 features.
    let chess = shape(HalfKp, 32, clipped(32));
    let mut shogi =
        [chess.features.version(), chess.header_hash(), 0, chess.transformer_hash()].map(u32::to_le_bytes).concat();
    let stack_len = 4 + 32 * (4 + 64) + 32 * (4 + 32) + 4 + 32;
    shogi.resize(16 + 2 * 32 * (1 + 125_388) + stack_len, 0);
    let (found, text) = class(&shogi);
    assert!(found == ErrorKind::Unsupported && text.contains("shogi") && text.contains("125388"), "{text}");
    // Features with merged kings and the older version.
    let half_ka = shape(HalfKaV2Hm, 32, SQUARES);
    let words = [0x7AF3_2F16, half_ka.header_hash(), 0, half_ka.transformer_hash()].map(u32::to_le_bytes).concat();
    let (_, text) = class(&words);
    assert!(text.contains("shogi"), "{text}");
    // Neither hash is known.
    let (found, text) = class(&[0x7AF3_2F20_u32, 1, 0, 2].map(u32::to_le_bytes).concat());
    assert!(found == ErrorKind::Unsupported && text.contains("0x00000001 (header) and 0x00000002"), "{text}");
    // Hashes that agree on layers that are not known.
    let mut bytes = to_bytes(&small(Raw));
    let (_, stacks) = hash_offsets(&small(Raw), &bytes);
    let other: u32 = 0x1234_5678;
    bytes[4..8].copy_from_slice(&(small(Raw).shape.transformer_hash() ^ other).to_le_bytes());
    bytes[stacks[0]..stacks[0] + 4].copy_from_slice(&other.to_le_bytes());
    let error = read(&bytes).unwrap_err();
    assert!(matches!(error, NnueError::UnknownStack { agrees: true, .. }), "{error}");
    assert_eq!(error.class(), ErrorKind::Unsupported);
}

/// Hashes and lengths that are the same for heads with and without squares: the weights tell.
#[test]
fn squares_are_told_by_the_columns_that_only_they_have() {
    let shape = |head| Shape { head, ..small(Raw).shape };
    assert_eq!(shape(SQUARES).header_hash(), shape(NO_SQUARES).header_hash());
    let mut net = made_up(shape(NO_SQUARES), Raw, 3);
    let len = to_bytes(&net).len();
    assert_eq!(len, to_bytes(&small(Raw)).len());
    let bytes = to_bytes(&net);
    assert_eq!(read(&bytes).unwrap().shape.head, NO_SQUARES);
    net.stacks[2].second.weights[20] = 1;
    let error = read(&to_bytes(&net)).unwrap_err();
    assert_eq!(error, NnueError::SquaresUnclear { found: 1, count: 8 * 32 * 15 });
}

#[test]
fn faults_of_compressed_blocks_are_named() {
    let net = small(Leb128);
    let bytes = to_bytes(&net);
    // The biases: 32 values of one byte each behind a magic and a length.
    let start = 12 + net.description.len() + 4 + 17 + 4;
    assert_eq!(bytes[start - 4..start], 32u32.to_le_bytes());
    let place = Place::TransformerBiases;
    let with = |len: u32, values: &[u8]| {
        let biases = [&len.to_le_bytes()[..], values].concat();
        read(&[&bytes[..start - 4], &biases, &bytes[start + 32..]].concat()).unwrap_err()
    };
    let values = |at: usize, spelled: &[u8]| [&vec![0; at][..], spelled, &vec![0; 31 - at]].concat();
    assert_eq!(with(31, &[0; 31]), NnueError::Leb128Short { place, count: 32, found: 31 });
    assert_eq!(with(33, &[0; 33]), NnueError::Leb128Left { place, count: 32, left: 1 });
    assert_eq!(with(32, &[0x80; 32]), NnueError::Range { place, index: 0, value: None, element: "i16" });
    assert_eq!(with(32, &values(31, &[0x80])), NnueError::Leb128CutOff { place, index: 31, count: 32 });
    let longer = with(33, &values(3, &[0x81, 0]));
    assert_eq!(longer, NnueError::Leb128Longer { place, index: 3, offset_bytes: start + 3 });
    let range = with(34, &values(5, &[0x80, 0x80, 2]));
    assert_eq!(range, NnueError::Range { place, index: 5, value: Some(32768), element: "i16" });
    assert_eq!(range.to_string(), "biases of the transformer, element 5: 32768 does not fit i16");
    assert!(matches!(with(u32::MAX, &[0; 32]), NnueError::CutOff { .. }));
    // A description longer than the file.
    let mut long = bytes.clone();
    long[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(matches!(
        read(&long).unwrap_err(),
        NnueError::CutOff { place: Place::Description, needed: 0xFFFF_FFFF, .. }
    ));
}
