//! What the loader refuses, and that what it accepts runs: single flipped bits, files cut off or too long, other
//! versions, memory that is not aligned, and mutations of a file's records whose checksum is right.

#[path = "loader/mutated.rs"]
mod mutated; // records that are changed

use tamis_quant::run::AlignedBytes;
use tamis_runtime::format::{Model, ParseError};
use tamis_runtime::raw::{NONE, OpRecord, element, input_kind, op};
use tests::draft::{Draft, set_checksum};
use tests::exercise::exercise;
use tests::{own, sample_models};

fn tiny() -> AlignedBytes {
    AlignedBytes::copy_of(&std::fs::read(own("vectors/tiny.bin")).unwrap())
}

/// The example and the small ones of the sample models.
fn small() -> Vec<AlignedBytes> {
    let mut all = vec![tiny()];
    all.extend(sample_models::small().into_iter().map(|sample| sample.bytes));
    all
}

#[test]
fn any_single_flipped_bit_is_refused() {
    for mut bytes in small() {
        assert!(Model::parse(bytes.as_ref()).is_ok());
        for bit in 0..bytes.as_ref().len() * 8 {
            bytes.as_mut()[bit / 8] ^= 1 << (bit % 8);
            assert!(Model::parse(bytes.as_ref()).is_err(), "bit {bit}");
            bytes.as_mut()[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

/// The flipped bit of a file whose checksum is right is refused, or is a weight or a word for people and then harmless.
#[test]
fn any_flipped_bit_with_its_checksum_repaired_is_refused_or_runs() {
    let mut bytes = tiny();
    let original = tiny();
    let mut accepted = 0;
    for bit in 0..bytes.as_ref().len() * 8 {
        bytes.as_mut()[bit / 8] ^= 1 << (bit % 8);
        set_checksum(bytes.as_mut());
        accepted += usize::from(exercise(bytes.as_ref()));
        bytes.as_mut().copy_from_slice(original.as_ref());
    }
    // All bits of the 30 bytes of weights and of the metadata section, and none of the gaps.
    let weights = 8 * 30;
    let metadata = 8 * 0x24B;
    assert!(accepted > weights + metadata, "{accepted}");
    assert!(accepted < weights + metadata + 8 * 64, "{accepted}");
}

#[test]
fn gaps_are_zero() {
    let padding = |at: usize| {
        let mut bytes = tiny();
        assert_eq!(bytes.as_ref()[at], 0);
        bytes.as_mut()[at] = 7;
        set_checksum(bytes.as_mut());
        Model::parse(bytes.as_ref()).map(|_| ()).unwrap_err()
    };
    // Behind the tables, behind three tensors, behind the metadata section.
    for at in [0x1D0, 0x1FF, 0x210, 0x244, 0x2C2, 0x54B, 0x57F] {
        assert_eq!(padding(at), ParseError::Padding { offset_bytes: at, found: 7 });
    }
}

/// Of every tensor of every kind, every byte that no element covers: behind the columns of a row, and the rows and
/// columns that fill up groups of four.
#[test]
fn padding_within_tensors_is_zero() {
    let mut layouts = Vec::new();
    for mut sample in sample_models::small() {
        let mut gaps = Vec::new();
        let model = Model::parse(sample.bytes.as_ref()).unwrap();
        for (index, record) in model.tensors().iter().enumerate() {
            let tensor = model.tensor(index as u32).unwrap();
            let (banks, size) = (record.banks as usize, tensor.element_len_bytes());
            let mut covered = vec![false; tensor.data.len()];
            let bank_len = covered.len() / size / banks;
            for (bank, row, col) in (0..banks).flat_map(|bank| {
                (0..record.rows as usize)
                    .flat_map(move |row| (0..record.cols as usize).map(move |col| (bank, row, col)))
            }) {
                let at = (bank * bank_len + tensor.layout.offset(tensor.stride(), row, col)) * size;
                covered[at..at + size].fill(true);
            }
            let before = gaps.len();
            gaps.extend((0..covered.len()).filter(|at| !covered[*at]).map(|at| record.offset_bytes as usize + at));
            if gaps.len() > before {
                layouts.push((record.layout, banks > 1));
            }
        }
        for at in gaps {
            let bytes = sample.bytes.as_mut();
            assert_eq!(bytes[at], 0, "{}", sample.name);
            for found in [1, 0x80] {
                bytes[at] = found;
                set_checksum(bytes);
                let error = Model::parse(bytes).unwrap_err();
                assert_eq!(error, ParseError::Padding { offset_bytes: at, found }, "{}", sample.name);
            }
            bytes[at] = 0;
        }
    }
    for kind in [(1, false), (1, true), (2, false), (2, true), (3, false), (3, true)] {
        assert!(layouts.contains(&kind), "no padding in a tensor of layout {} with banks: {}", kind.0, kind.1);
    }
}

/// Accumulators and lists of features are no map and stand for no reals with an offset.
#[test]
fn accumulators_and_lists_have_no_zero_point() {
    let mut kinds = [0; 4];
    for sample in sample_models::small() {
        let mut draft = Draft::read(sample.bytes.as_ref());
        let kind = draft.input.kind;
        draft.values[0].zero = 1;
        let found = Model::parse(draft.bytes().as_ref()).map(|_| ());
        if kind != input_kind::DENSE {
            let expected = "0, or a zero point that the value's element holds";
            assert_eq!(found, Err(ParseError::Field { place: "value.zero", index: 0, found: 1, expected }));
        }
        kinds[kind as usize] += 1;
    }
    assert!(kinds[1..].iter().all(|count| *count > 0), "{kinds:?}");
}

/// Every element of every tensor of reals.
#[test]
fn reals_are_finite() {
    let mut tried = 0;
    for mut sample in sample_models::small() {
        let model = Model::parse(sample.bytes.as_ref()).unwrap();
        let reals = model.tensors().iter().enumerate().filter(|(_, record)| u32::from(record.element) == element::F32);
        let reals: Vec<(usize, usize, usize)> =
            reals.map(|(index, record)| (index, record.offset_bytes as usize, record.len_bytes as usize / 4)).collect();
        for (index, start, len) in reals {
            for (at, value) in
                (0..len).flat_map(|at| [f32::NAN, f32::INFINITY, f32::NEG_INFINITY].map(|value| (at, value)))
            {
                let bytes = sample.bytes.as_mut();
                let place = start + 4 * at..start + 4 * at + 4;
                let before: [u8; 4] = bytes[place.clone()].try_into().unwrap();
                bytes[place.clone()].copy_from_slice(&value.to_le_bytes());
                set_checksum(bytes);
                let found = Model::parse(bytes).unwrap_err();
                let expected = "a finite number (found: the element's index)";
                let place_name = "tensor: an f32 element";
                assert_eq!(found, ParseError::Field { place: place_name, index, found: at as u64, expected });
                bytes[place].copy_from_slice(&before);
                tried += 1;
            }
        }
    }
    assert!(tried > 100, "{tried}");
}

#[test]
fn a_file_of_any_other_length_is_refused() {
    let whole = tiny();
    for len in 0..whole.as_ref().len() {
        let cut = &whole.as_ref()[..len];
        match Model::parse(cut) {
            Err(ParseError::TooShort { found, expected: 128 }) => assert!(found == len && len < 128),
            Err(ParseError::Length { found, expected: 1408 }) => assert!(found == len && len >= 128),
            other => panic!("{len} bytes: {other:?}"),
        }
        // The same with a length and a checksum that fit: something else is missing then.
        let mut cut = AlignedBytes::copy_of(cut);
        if len >= 128 {
            cut.as_mut()[20..24].copy_from_slice(&(len as u32).to_le_bytes());
            set_checksum(cut.as_mut());
            assert!(Model::parse(cut.as_ref()).is_err(), "{len} bytes");
        }
    }
    for more in 1..=192 {
        let mut long = AlignedBytes::zeroed(whole.as_ref().len() + more);
        long.as_mut()[..whole.as_ref().len()].copy_from_slice(whole.as_ref());
        let len = long.as_ref().len();
        assert_eq!(Model::parse(long.as_ref()).unwrap_err(), ParseError::Length { found: len, expected: 1408 });
        long.as_mut()[20..24].copy_from_slice(&(len as u32).to_le_bytes());
        set_checksum(long.as_mut());
        let error = Model::parse(long.as_ref()).unwrap_err();
        assert!(matches!(error, ParseError::Field { place: "header.len_bytes", .. }), "{more} more: {error}");
    }
}

#[test]
fn misaligned_memory_is_refused() {
    let whole = tiny();
    let len = whole.as_ref().len();
    let mut memory = AlignedBytes::zeroed(len + 64);
    for remainder in 1..64 {
        memory.as_mut()[remainder..remainder + len].copy_from_slice(whole.as_ref());
        let found = Model::parse(&memory.as_ref()[remainder..remainder + len]).unwrap_err();
        assert_eq!(found, ParseError::Misaligned { remainder });
    }
}

#[test]
fn other_files_and_later_versions_are_refused() {
    let with = |at: usize, word: u32| {
        let mut bytes = tiny();
        bytes.as_mut()[at..at + 4].copy_from_slice(&word.to_le_bytes());
        set_checksum(bytes.as_mut());
        Model::parse(bytes.as_ref()).map(|_| ()).unwrap_err()
    };
    assert!(matches!(with(0, 0), ParseError::NotAContainer { .. }));
    assert!(matches!(with(4, 0x0A0A_5349), ParseError::NotAContainer { .. }), "a line ending mangled");
    assert_eq!(with(8, 0x0D0C_0B0A), ParseError::ByteOrder { found: 0x0D0C_0B0A });
    for version in [0, 2, u32::MAX] {
        assert_eq!(with(12, version), ParseError::Version { found: version, expected: 1 });
    }
    for bit in 0..32 {
        assert_eq!(with(16, 1 << bit), ParseError::RequiredFlags { found: 1 << bit });
    }
    let bare = AlignedBytes::copy_of(&std::fs::read(own("vectors/tiny.bare.bin")).unwrap());
    let error = Model::parse(bare.as_ref()).unwrap_err();
    assert!(error.to_string().contains("must be packed first"), "{error}");
}

/// Codes that version 1 does not define are refused wherever they stand.
#[test]
fn unknown_kinds_are_refused() {
    // Offsets of tiny.bin: input kind, feature set, tensor element and layout, value element, operation kinds,
    // activation.
    for (at, known) in [(0x40, 1), (0x58, 0), (0xA0, 3), (0xA2, 1), (0x130, 4), (0x150, 1), (0x190, 2), (0x17C, 4)] {
        for code in 0..=255u8 {
            let mut bytes = tiny();
            assert_eq!(bytes.as_ref()[at], known);
            bytes.as_mut()[at] = code;
            set_checksum(bytes.as_mut());
            let accepted = Model::parse(bytes.as_ref()).is_ok();
            // CReLU may stand where SCReLU does, and rounded products for others: another network, but a network.
            let is_another = [(0x17C, 3), (0x150, 35)].contains(&(at, code));
            assert_eq!(accepted, code == known || is_another, "byte {at:#x}: {code}");
        }
    }
}

/// A file that says things which no file may say, each with everything else right.
#[test]
fn contradictions_are_refused() {
    let draft = Draft::read(tiny().as_ref());
    let refused = |place: &str, change: &dyn Fn(&mut Draft)| {
        let mut changed = draft.clone();
        change(&mut changed);
        match Model::parse(changed.bytes().as_ref()) {
            Err(ParseError::Field { place: found, .. }) => assert_eq!(found, place),
            other => panic!("{place}: {other:?}"),
        }
    };
    refused("tensor.banks", &|draft| {
        // No bank at all: nothing to divide by.
        draft.input.bucket_count = 0;
        draft.tensors[0].0.banks = 0;
        draft.tensors[0].1.clear();
    });
    refused("op.output", &|draft| draft.values[2].place = 0);
    refused("op.input", &|draft| {
        // Another sum in the place of the first, which is read after it.
        let (dot, head) = (draft.ops[0], draft.ops[1]);
        draft.values.insert(2, draft.values[1]);
        draft.ops = vec![dot, OpRecord { output: 2, ..dot }, OpRecord { output: 3, ..head }];
        draft.input.output = 3;
    });
    refused("input.king_table", &|draft| draft.input.king_table = 0);
    refused("input.size", &|draft| draft.input.size = 1 << 25);
    refused("input.order", &|draft| draft.input.order = 2);
    refused("header.workspace_len_bytes", &|draft| draft.values[1].len = 1 << 25);
    refused("value.len", &|draft| {
        // Bytes, so that the workspace alone would be allowed.
        draft.values[1].element = 1;
        draft.values[1].len = (1 << 24) + 1;
    });
    refused("header.op_count", &|draft| {
        let (op, value) = (draft.ops[1], draft.values[2]);
        for _ in 0..5000 {
            draft.ops.push(op);
            draft.values.push(value);
        }
    });
}

/// What runs over a map has the same tensors for every bucket.
#[test]
fn operations_on_maps_have_one_bank() {
    let sample = sample_models::small().into_iter().find(|sample| sample.name.starts_with("maps of bytes")).unwrap();
    let draft = Draft::read(sample.bytes.as_ref());
    let mut tried = 0;
    for made in draft.ops.iter().filter(|made| (op::CONVOLUTION..=op::RESIZE).contains(&made.kind)) {
        for index in [made.weights, made.bias, made.multipliers, made.shifts].into_iter().filter(|index| *index != NONE)
        {
            let mut changed = draft.clone();
            changed.input.bucket_count = 2;
            let (record, data) = &mut changed.tensors[index as usize];
            record.banks = 2;
            data.extend_from_within(..);
            match Model::parse(changed.bytes().as_ref()) {
                Err(ParseError::Field { place: "tensor.banks", found: 2, .. }) => tried += 1,
                other => panic!("{}: {other:?}", made.kind),
            }
        }
    }
    assert!(tried >= 4, "{tried} tensors");
}

/// The fuzz target's corpus is the example and the small ones of the sample models, so that it follows the format.
#[test]
fn the_fuzz_corpus_is_up_to_date() {
    let folder = own("fuzz/corpus/loader");
    let mut wanted = vec![("tiny".to_owned(), tiny())];
    let name = |name: &str| name.replace(", ", "-").replace(' ', "-");
    wanted.extend(sample_models::small().into_iter().map(|sample| (name(sample.name), sample.bytes)));
    let mut total = 0;
    for (name, bytes) in &wanted {
        let path = folder.join(name).with_extension("bin");
        if std::env::var_os("TAMIS_WRITE_VECTORS").is_some() {
            std::fs::write(&path, bytes.as_ref()).unwrap();
        }
        assert!(std::fs::read(&path).unwrap() == bytes.as_ref(), "{name}: write the corpus anew");
        total += bytes.as_ref().len();
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), wanted.len());
    assert!(total <= 8 << 14, "{total} bytes");
}
