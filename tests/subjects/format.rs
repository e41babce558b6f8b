//! FORMAT.md and the runtime say the same: a second reader, written from the specification alone, gives the same
//! checksum, the same values and the same signature; the specification's example is the file that the packer writes.

use bytemuck::cast_slice;
use std::collections::BTreeSet;
use std::fmt::Write;
use tamis_quant::import::fnv1a_64;
use tamis_quant::pack::{Provenance, pack, to_bare, unpack};
use tamis_quant::proof::prove;
use tamis_quant::run::{AlignedBytes, Runner};
use tamis_runtime::format::Model;
use tamis_runtime::kernels::{self, tiers};
use tamis_runtime::raw::chess::{OPPONENT, Perspective};
use tamis_runtime::raw::{InputRecord, checksum, element, input_kind};
use tamis_runtime::{Input, Plan};
use tests::sample_models::{self, Random};
use tests::second_reader::{self, Container, Given};
use tests::{bare_net, own};

fn tiny() -> AlignedBytes {
    AlignedBytes::copy_of(&std::fs::read(own("vectors/tiny.bin")).unwrap())
}

/// Everything that a test can run: the example and the sample models.
fn containers() -> Vec<(&'static str, AlignedBytes)> {
    let mut all = vec![("tiny", tiny())];
    all.extend(sample_models::all().into_iter().map(|sample| (sample.name, sample.bytes)));
    all
}

#[test]
fn the_example_is_what_the_packer_writes() {
    let arch = tamis_quant::arch::Architecture::from_toml(
        &std::fs::read_to_string(own("vectors/tiny.toml")).unwrap(),
        "tiny.toml",
    );
    let bare = std::fs::read(own("vectors/tiny.bare.bin")).unwrap();
    let net = bare_net(&own("vectors/tiny.bare.bin"), &arch.unwrap());
    let provenance = Provenance { source: "quantised.bin".to_owned(), source_hash: fnv1a_64(&bare) };
    let program = net.lower().unwrap();
    let written = pack(&program, &prove(&program), &provenance).unwrap();
    if std::env::var_os("TAMIS_WRITE_VECTORS").is_some() {
        std::fs::write(own("vectors/tiny.bin"), &written).unwrap();
    }
    assert_eq!(written, tiny().as_ref());
    let unpacked = unpack(&Model::parse(tiny().as_ref()).unwrap()).unwrap();
    assert_eq!(to_bare(&unpacked).unwrap(), bare);
}

#[test]
fn the_specification_shows_the_example_byte_for_byte() {
    let text = std::fs::read_to_string(own("../runtime/FORMAT.md")).unwrap();
    let mut shown = Vec::new();
    for line in text.lines().filter(|line| line.len() > 9 && line.as_bytes()[8] == b' ') {
        let Ok(at) = usize::from_str_radix(&line[..8], 16) else { continue };
        // A star line, or none, leaves zeros.
        shown.resize(at, 0);
        let digits: String = line[9..].chars().take_while(|letter| *letter != '|').collect();
        shown.extend(digits.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()));
    }
    shown.resize(shown.len().next_multiple_of(64), 0);
    assert_eq!(shown, tiny().as_ref());
}

#[test]
fn the_example_evaluates_as_worked_by_hand() {
    let file = tiny();
    let net = Container::read(file.as_ref()).unwrap();
    let (own, other) = (net.accumulate(&[0, 1]), net.accumulate(&[2, 3]));
    assert_eq!((own.as_slice(), other.as_slice()), ([165, 7].as_slice(), [-35, 317].as_slice()));
    let values = net.evaluate(&Given::Accumulators(own, other), 0);
    assert_eq!(
        values[1..],
        [second_reader::Numbers::Integers(vec![-2_261_032]), second_reader::Numbers::Integers(vec![-187])]
    );
    let text = std::fs::read_to_string(tests::own("../runtime/FORMAT.md")).unwrap();
    for stated in [checksum(file.as_ref()), net.signature()] {
        assert!(text.contains(&format!("`0x{stated:016X}`")), "FORMAT.md does not say {stated:#018X}");
    }
}

#[test]
fn the_sample_models_has_every_operation() {
    let (mut kinds, mut activations) = (BTreeSet::new(), BTreeSet::new());
    for (_, bytes) in containers() {
        for (kind, activation) in Container::read(bytes.as_ref()).unwrap().kinds() {
            kinds.insert(kind);
            activations.insert(activation);
        }
    }
    assert!(kinds.into_iter().eq(1..=37));
    assert!(activations.into_iter().eq(0..=19));
}

#[test]
fn both_readers_read_the_same() {
    for (name, bytes) in containers() {
        let bytes = bytes.as_ref();
        assert_eq!(second_reader::checksum(bytes), checksum(bytes), "{name}");
        let net = Container::read(bytes).unwrap();
        let metadata = Model::parse(bytes).unwrap().metadata().unwrap();
        assert_eq!(net.metadata.name, metadata.name);
        assert_eq!(net.metadata.description, metadata.description);
        assert_eq!(net.metadata.tensor_names, metadata.tensor_names);
        assert_eq!(net.metadata.source, metadata.source);
        assert_eq!(net.metadata.source_hash, metadata.source_hash);
        assert_eq!(net.metadata.bare_header, metadata.bare_header);
    }
}

#[test]
fn every_value_is_the_same_on_every_tier() {
    for (name, bytes) in containers() {
        let model = Model::parse(bytes.as_ref()).unwrap();
        let net = Container::read(bytes.as_ref()).unwrap();
        let mut random = Random(3);
        for sample in 0..24 {
            let bucket = sample % model.input().bucket_count as usize;
            let given = draw(&net, &model, &mut random, sample);
            let expected: Vec<Vec<u8>> = net
                .evaluate(&given, bucket)
                .iter()
                .enumerate()
                .skip(1)
                .map(|(index, value)| value.bytes(net.element_of_value(index)))
                .collect();
            for tier in tiers() {
                let mut found = Vec::new();
                let mut workspace = AlignedBytes::zeroed(model.workspace_len_bytes());
                let dense = match &given {
                    Given::Dense(x) => x.iter().map(|x| *x as u8).collect(),
                    _ => Vec::new(),
                };
                let (features, values) = match &given {
                    Given::Sparse(list) => list.iter().copied().unzip(),
                    _ => (Vec::new(), Vec::new()),
                };
                let has_values = model.input().element == element::I16;
                let input = match &given {
                    Given::Sparse(_) => {
                        Input::Sparse { features: &features, values: if has_values { &values } else { &[] } }
                    }
                    Given::Reals(x) => Input::F32(x),
                    Given::Accumulators(own, other) => Input::Accumulators(own, other),
                    Given::Dense(_) if model.input().element == element::I8 => Input::I8(cast_slice(&dense)),
                    Given::Dense(_) => Input::U8(&dense),
                };
                Plan::new(model, tier)
                    .run_traced(input, bucket, workspace.as_mut(), |index, value| {
                        found.push(canonical(net.element_of_value(index), value));
                    })
                    .unwrap();
                assert_eq!(found, expected, "{name}, sample {sample}, tier {}", tier.name);
            }
        }
    }
}

/// A value's bytes with every NaN the same.
fn canonical(of: u32, value: &[u8]) -> Vec<u8> {
    match of {
        element::F32 => {
            let reals = value.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
            second_reader::Numbers::Reals(reals.collect()).bytes(of)
        }
        _ => value.to_vec(),
    }
}

/// Accumulators of random features, checked against the runtime's, or any accumulators; vectors of any bytes.
fn draw(net: &Container, model: &Model<'_>, random: &mut Random, sample: usize) -> Given {
    let input = model.input();
    if input.kind == input_kind::SPARSE {
        return Given::Sparse(active(input, random, sample));
    }
    if input.element == element::F32 {
        // Ordinary numbers, and any bits: infinities and NaNs among them.
        let one = |any: u64| {
            if sample.is_multiple_of(2) { (any >> 40) as f32 / 4e6 - 2.0 } else { f32::from_bits(any as u32) }
        };
        return Given::Reals((0..input.size).map(|_| one(random.draw())).collect());
    }
    if input.kind == input_kind::DENSE {
        let one = |any: u64| if input.element == element::I8 { i64::from(any as i8) } else { i64::from(any as u8) };
        return Given::Dense((0..input.size).map(|_| one(random.draw())).collect());
    }
    let mut accumulator = || {
        if sample % 2 == 1 {
            return (0..input.hidden).map(|_| random.draw() as i16).collect();
        }
        let count = random.draw() % u64::from(input.max_active);
        let features: Vec<u32> = (0..count).map(|_| (random.draw() % u64::from(input.size)) as u32).collect();
        let expected = net.accumulate(&features);
        for tier in tiers() {
            let mut found = vec![0; input.hidden as usize];
            Plan::new(*model, tier).refresh(&mut found, &features).unwrap();
            assert_eq!(found, expected, "{}", tier.name);
        }
        expected
    };
    Given::Accumulators(accumulator(), accumulator())
}

/// Every other time any values, the ends of i16 among them; now and then none, now and then as many as may be.
fn active(input: &InputRecord, random: &mut Random, sample: usize) -> Vec<(u32, i16)> {
    let limit = u64::from(input.max_active.min(input.size));
    let count = match sample % 4 {
        _ if input.exact == 1 => limit,
        2 => 0,
        3 => limit,
        _ => random.draw() % (limit + 1),
    };
    let mut features = BTreeSet::new();
    while (features.len() as u64) < count {
        features.insert((random.draw() % u64::from(input.size)) as u32);
    }
    let mut value = || match (input.element, sample % 2, random.draw()) {
        (0, ..) => 1,
        (_, 0, any) => (any % 200) as i16 - 100,
        (_, _, any) => [i16::MIN, i16::MAX, any as i16][(any >> 20) as usize % 3],
    };
    features.into_iter().map(|feature| (feature, value())).collect()
}

#[test]
fn every_tier_prints_the_specified_signature() {
    let mut seen = BTreeSet::new();
    for (name, bytes) in containers() {
        let expected = Container::read(bytes.as_ref()).unwrap().signature();
        assert!(seen.insert(expected), "{name}: two networks with one signature");
        let model = Model::parse(bytes.as_ref()).unwrap();
        for tier in tiers() {
            assert_eq!(Runner::new(model, tier).signature(), Ok(expected), "{name}, tier {}", tier.name);
        }
    }
}

/// `signatures.txt`: what a reader in another language compares with.
#[test]
fn the_listed_signatures_are_right() {
    let folder = own("fuzz/corpus/loader");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut listed = String::from("checksum         signature        file\n");
    for path in paths {
        let bytes = std::fs::read(&path).unwrap();
        let net = Container::read(&bytes).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        writeln!(listed, "{:016x} {:016x} {name}", second_reader::checksum(&bytes), net.signature()).unwrap();
    }
    let path = own("vectors/signatures.txt");
    if std::env::var_os("TAMIS_WRITE_VECTORS").is_some() {
        std::fs::write(&path, &listed).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), listed);
}

#[test]
fn chess_features_and_buckets_are_the_specified_ones() {
    let chess = sample_models::all().into_iter().filter(|sample| sample.name.starts_with("chess"));
    for sample in chess {
        let model = Model::parse(sample.bytes.as_ref()).unwrap();
        let net = Container::read(sample.bytes.as_ref()).unwrap();
        let view = Plan::new(model, kernels::best()).chess_view().unwrap();
        let kinds = if view.has_king_features() { 6 } else { 5 };
        for king in 0..64 {
            for square in 0..64 {
                for kind in 0..kinds {
                    for opponents in [false, true] {
                        let piece = kind | if opponents { OPPONENT } else { 0 };
                        for (perspective, other) in [(Perspective::SideToMove, false), (Perspective::Other, true)] {
                            let found = view.feature(perspective, piece, square, king);
                            let (kind, square, king) = (kind.into(), square.into(), king.into());
                            let expected = second_reader::feature(&net, other, kind, opponents, square, king);
                            assert_eq!(found, expected);
                        }
                    }
                }
            }
        }
        for pieces in 0..=32 {
            let expected = u32::from(model.bucket_table().unwrap()[pieces]);
            assert_eq!(second_reader::bucket_of_piece_count(&net, pieces), expected);
        }
    }
}
