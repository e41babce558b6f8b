//! Mistakes of a description, named: on noggin and on akimbo's bucketed network, whichever side has the mistake.

use std::path::{Path, PathBuf};
use tamis_quant::arch::Architecture;
use tamis_quant::float::example;
use tamis_quant::import::{Checkpoint, read_bytes};
use tamis_quant::positions::{Position, records};
use tamis_quant::quantise::quantise;
use tamis_quant::quantised::QuantNet;
use tamis_quant::verify::mistakes::{Mistake, MistakeKind};
use tamis_quant::verify::{Case, Gates, Reference, Report, Truth};
use tamis_runtime::format::Model;
use tests::trained::{BARE, bare_path};
use tests::trials::Fixtures;
use tests::{architecture_text, bare_net, packed};

/// A network with its description and the float checkpoint that it came from.
struct Subject {
    text: String,
    bare: PathBuf,
    raw: Vec<u8>,
    positions: Vec<Position>,
}

impl Subject {
    fn noggin(folder: &Path) -> Self {
        let raw = std::fs::read(folder.join("nnue/noggin/raw.bin")).unwrap();
        Self::new("noggin", bare_path(folder, "noggin"), Some(raw), folder)
    }

    /// The engine's repository keeps no float checkpoint; the dequantised integers serve, in the order of raw.bin.
    fn akimbo(folder: &Path) -> Self {
        Self::new("akimbo-buckets", bare_path(folder, "akimbo-buckets"), None, folder)
    }

    fn new(name: &str, bare: PathBuf, raw: Option<Vec<u8>>, folder: &Path) -> Self {
        let text = architecture_text(name);
        let batch = std::fs::read(folder.join("nnue/bullet/batch.bf")).unwrap();
        let positions = records(&batch).unwrap().step_by(12).map(|position| position.unwrap()).collect();
        let raw = raw.unwrap_or_else(|| {
            let arch = Architecture::from_toml(&text, name).unwrap();
            let net = bare_net(&bare, &arch);
            let reals = arch.tensors.iter().flat_map(|spec| net.tensor(&spec.name).unwrap().to_reals());
            reals.flat_map(|real| (real as f32).to_le_bytes()).collect()
        });
        Self { text, bare, raw, positions }
    }

    fn changed(&self, from: &str, to: &str) -> String {
        assert!(self.text.contains(from), "{from} in {}", self.text);
        self.text.replacen(from, to, 1)
    }

    fn checkpoint(&self, text: &str) -> Checkpoint {
        read_bytes(&self.raw, &Architecture::from_toml(text, "test").unwrap(), "raw.bin").unwrap()
    }

    fn packed_bare(&self, text: &str) -> QuantNet {
        bare_net(&self.bare, &Architecture::from_toml(text, "test").unwrap())
    }

    fn mistakes(&self, net: &QuantNet, checkpoint: &Checkpoint) -> Vec<Mistake> {
        self.report(net, checkpoint).mistakes
    }

    /// Those, and what the evidence only suggests.
    fn named(&self, net: &QuantNet, checkpoint: &Checkpoint) -> Vec<Mistake> {
        let report = self.report(net, checkpoint);
        [report.mistakes, report.remarks].concat()
    }

    fn report(&self, net: &QuantNet, checkpoint: &Checkpoint) -> Report {
        let bytes = packed(net);
        let truth = Truth { checkpoint: Some(checkpoint), reference: None, positions: &self.positions };
        let case = Case::of_layers(Model::parse(bytes.as_ref()).unwrap(), &truth).unwrap();
        case.verify(&Gates::default(), &mut |_, _| ()).unwrap()
    }

    /// The mistake is named if the file was made with the wrong description, if the wrong one is given to verify, and,
    /// where `shared` says so, if both have it.
    fn names(&self, kind: MistakeKind, from: &str, to: &str, shared: bool) {
        let wrong = self.changed(from, to);
        let (right_checkpoint, wrong_checkpoint) = (self.checkpoint(&self.text), self.checkpoint(&wrong));
        let mut cases = vec![
            ("file packed wrong", self.packed_bare(&wrong), &right_checkpoint),
            ("wrong description given", self.packed_bare(&self.text), &wrong_checkpoint),
        ];
        if let Ok(net) = quantise(&wrong_checkpoint.net) {
            cases.push(("file quantised wrong", net, &right_checkpoint));
        }
        if shared {
            cases.push(("both wrong", self.packed_bare(&wrong), &wrong_checkpoint));
        }
        for (case, net, checkpoint) in cases {
            // With the same mistake on both sides scores are all that is left, and may not decide it.
            let is_shared = case == "both wrong";
            let mistakes = if is_shared { self.named(&net, checkpoint) } else { self.mistakes(&net, checkpoint) };
            for mistake in &mistakes {
                note!("{to}: {case}: {mistake:?}");
            }
            assert!(
                mistakes.iter().any(|mistake| mistake.kind == kind),
                "{to}: {case}: {kind:?} not among {mistakes:#?}"
            );
        }
    }
}

fn subjects(fixtures: &Path) -> [Subject; 2] {
    [Subject::noggin(fixtures), Subject::akimbo(fixtures)]
}

#[test]
fn right_descriptions_have_none(fixtures: Fixtures) {
    let subjects = subjects(&fixtures);
    for subject in subjects {
        let checkpoint = subject.checkpoint(&subject.text);
        for net in [subject.packed_bare(&subject.text), quantise(&checkpoint.net).unwrap()] {
            assert_eq!(subject.mistakes(&net, &checkpoint), [], "{}", subject.text);
        }
    }
}

/// No change of a right description may fit the positions' scores better, whose ever they are: a factor between them
/// and the network, or a slightly better fit, fails no gate.
#[test]
fn scores_accuse_no_right_description(folder: Fixtures) {
    for (name, _) in BARE {
        let mut subject = Subject::new(name, bare_path(&folder, name), None, &folder);
        let checkpoint = subject.checkpoint(&subject.text);
        let net = subject.packed_bare(&subject.text);
        let all = std::mem::take(&mut subject.positions);
        // Evenly taken, and the first of the file, which are of few games; in another unit, as another engine's are.
        let mut halved = all[..400].to_vec();
        halved.iter_mut().for_each(|position| position.score = position.score.map(|score| score / 2));
        let evenly = all.iter().step_by(3).cloned().collect();
        for (taken, positions) in [("evenly", evenly), ("first", halved)] {
            subject.positions = positions;
            assert_eq!(subject.mistakes(&net, &checkpoint), [], "{name}, {taken}");
        }
    }
}

#[test]
fn wrong_activations(fixtures: Fixtures) {
    let [noggin, akimbo] = subjects(&fixtures);
    for subject in [noggin, akimbo] {
        subject.names(MistakeKind::Activation, "activation = \"screlu\"", "activation = \"crelu\"", true);
    }
}

#[test]
fn perspectives_swapped(fixtures: Fixtures) {
    let subjects = subjects(&fixtures);
    for subject in subjects {
        subject.names(
            MistakeKind::PerspectivesSwapped,
            "kind = \"chess\"",
            "kind = \"chess\"\nother_first = true",
            true,
        );
    }
}

#[test]
fn wrong_king_buckets(fixtures: Fixtures) {
    let subjects = subjects(&fixtures);
    for subject in subjects {
        subject.names(MistakeKind::KingBuckets, "kind = \"chess\"", "kind = \"chess\"\nmirrored = true", true);
    }
}

#[test]
fn qb_for_qa_qb(fixtures: Fixtures) {
    let [noggin, akimbo] = subjects(&fixtures);
    noggin.names(MistakeKind::Scale, "scale = 16320", "scale = 64", true);
    akimbo.names(MistakeKind::Scale, "scale = 11584", "scale = 64", true);
}

#[test]
fn truncation_for_rounding(fixtures: Fixtures) {
    let [noggin, _] = subjects(&fixtures);
    let checkpoint = noggin.checkpoint(&noggin.text);
    let truncating = noggin.text.replace("rounding = \"nearest\"", "rounding = \"truncate\"");
    let truncating = if truncating == noggin.text {
        noggin.text.replace("scale = 255", "scale = 255\nrounding = \"truncate\"")
    } else {
        truncating
    };
    let net = quantise(&noggin.checkpoint(&truncating).net).unwrap();
    let mistakes = noggin.mistakes(&net, &checkpoint);
    assert!(mistakes.iter().any(|mistake| mistake.kind == MistakeKind::Rounding), "{mistakes:#?}");
    let mistakes = noggin.mistakes(&noggin.packed_bare(&noggin.text), &noggin.checkpoint(&truncating));
    assert!(mistakes.iter().any(|mistake| mistake.kind == MistakeKind::Rounding), "{mistakes:#?}");
}

#[test]
fn transposed_output_weights(fixtures: Fixtures) {
    let [_, akimbo] = subjects(&fixtures);
    akimbo.names_transposed();
}

impl Subject {
    fn names_transposed(&self) {
        let wrong = self.text.replacen("transposed = true", "transposed = false", 1);
        for (net, checkpoint) in [
            (self.packed_bare(&wrong), self.checkpoint(&self.text)),
            (self.packed_bare(&wrong), self.checkpoint(&wrong)),
            (self.packed_bare(&self.text), self.checkpoint(&wrong)),
        ] {
            let mistakes = self.mistakes(&net, &checkpoint);
            note!("{mistakes:#?}");
            assert!(mistakes.iter().any(|mistake| mistake.kind == MistakeKind::TransposedWeights), "{mistakes:#?}");
        }
    }
}

#[test]
fn buckets_in_another_order(fixtures: Fixtures) {
    let [_, akimbo] = subjects(&fixtures);
    let reversed: Vec<u8> = (0..33u8).map(|pieces| 7 - pieces.saturating_sub(2) / 4).collect();
    akimbo.names(MistakeKind::BucketOrder, "count = 8", &format!("count = 8\nby_piece_count = {reversed:?}"), true);
    // The same rows in another order inside the file.
    let mut net = akimbo.packed_bare(&akimbo.text);
    for name in ["l1w", "l1b"] {
        let tensor = net.tensor_mut(name).unwrap();
        let outputs = tensor.outputs;
        if let tamis_quant::program::Values::Int(values) = &mut tensor.values {
            values.chunks_mut(outputs).for_each(|column| column.rotate_left(1));
        }
    }
    let mistakes = akimbo.mistakes(&net, &akimbo.checkpoint(&akimbo.text));
    assert!(mistakes.iter().any(|mistake| mistake.kind == MistakeKind::BucketOrder), "{mistakes:#?}");
}

#[test]
fn a_factoriser_that_was_not_merged(fixtures: Fixtures) {
    let [noggin, _] = subjects(&fixtures);
    let arch = Architecture::from_toml(&noggin.text, "noggin").unwrap();
    // weights.bin of a network trained with a factoriser: a part of every row lies in l0f.
    let plain = noggin.checkpoint(&noggin.text).net;
    let mut file = Vec::new();
    let mut tensor = |name: &str, values: &mut dyn Iterator<Item = f32>| {
        let values: Vec<f32> = values.collect();
        file.extend_from_slice(name.as_bytes());
        file.push(b'\n');
        file.extend_from_slice(&(values.len() as u64).to_le_bytes());
        file.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    };
    let share = |index: usize| ((index * 7919 % 401) as f32 - 200.0) / 4096.0;
    tensor("l0f", &mut (0..768 * 64).map(share));
    for (index, layer) in plain.layers.iter().enumerate() {
        let merged = layer.weights.values.iter().enumerate();
        tensor(
            &arch.weights_name(index),
            &mut merged.map(|(at, value)| if index == 0 { value - share(at) } else { *value }),
        );
        tensor(&arch.bias_name(index), &mut layer.bias.iter().copied());
    }
    let with = noggin.changed("name = \"l0\"", "name = \"l0\"\nfactoriser = \"l0f\"");
    let right = read_bytes(&file, &Architecture::from_toml(&with, "test").unwrap(), "weights.bin").unwrap();
    // What a raw.bin of that training holds: l0w without the factoriser.
    let mut unmerged = right.net.clone();
    let factoriser = right.factoriser.clone().unwrap();
    for (weight, share) in unmerged.layers[0].weights.values.iter_mut().zip(factoriser.values.iter().cycle()) {
        *weight -= share;
    }
    unmerged.arch = arch;
    let mistakes = noggin.mistakes(&quantise(&unmerged).unwrap(), &right);
    note!("{mistakes:#?}");
    let tensor = |mistake: &&Mistake| mistake.kind == MistakeKind::Factoriser && mistake.text.contains("not merged");
    assert!(mistakes.iter().any(|mistake| tensor(&mistake)), "{mistakes:#?}");
}

/// A table that no flip explains, with nothing but a framework's outputs: the squares are found.
#[test]
fn a_wrong_king_bucket_table_is_recovered(folder: Fixtures) {
    let subject = Subject::new("cwtch", folder.join("nnue/cwtch/quantised.bin"), None, &folder);
    let right = subject.packed_bare(&subject.text);
    let mut wrong = right.clone();
    // Rank 2 says 1 where the network was trained with 2, on files a and b and their mirror images.
    let mut table = right.arch.king_table();
    for square in [8, 9, 14, 15] {
        assert_eq!(table[square], 2);
        table[square] = 1;
    }
    wrong.arch.input.king_buckets = Some(table.to_vec());
    let float = right.to_reals();
    let scale = f64::from(right.arch.output.scale);
    let mut reference =
        Reference { positions: subject.positions.clone(), outputs_per_example: 1, ..Reference::default() };
    for position in &reference.positions {
        reference.outputs.push(float.evaluate(&example(&right.arch, position).unwrap()).unwrap()[0] / scale);
    }
    let bytes = packed(&wrong);
    let truth = Truth { checkpoint: None, reference: Some(&reference), positions: &[] };
    let case = Case::of_layers(Model::parse(bytes.as_ref()).unwrap(), &truth).unwrap();
    let report = case.verify(&Gates::default(), &mut |_, _| ()).unwrap();
    let [mistake] = report.mistakes.as_slice() else { panic!("{:#?}", report.mistakes) };
    assert_eq!(mistake.kind, MistakeKind::KingBuckets);
    for square in ["a2: 2", "b2: 2", "g2: 2", "h2: 2"] {
        assert!(mistake.text.contains(square), "{}", mistake.text);
    }
}

/// A dequantised checkpoint holds no rounding: a truncated network is not accused of it.
#[test]
fn truncated_integers_are_no_mistake(fixtures: Fixtures) {
    let [noggin, akimbo] = subjects(&fixtures);
    for subject in [noggin, akimbo] {
        let truncating = subject.text.replace("rounding = \"nearest\"", "rounding = \"truncate\"");
        assert_ne!(truncating, subject.text);
        let arch = Architecture::from_toml(&truncating, "test").unwrap();
        let bare = std::fs::read(&subject.bare).unwrap();
        let checkpoint = read_bytes(&bare, &arch, "quantised.bin").unwrap();
        assert!(checkpoint.is_dequantised());
        assert_eq!(subject.mistakes(&subject.packed_bare(&truncating), &checkpoint), []);
    }
}

/// QA 255 for 181 in file and description alike: only the scores can tell, and a factor between a network and
/// somebody's scores is worth a remark.
#[test]
fn a_shared_wrong_qa_is_remarked(fixtures: Fixtures) {
    let [_, akimbo] = subjects(&fixtures);
    let wrong = akimbo.text.replace("scale = 181", "scale = 255").replace("scale = 11584", "scale = 16320");
    let arch = Architecture::from_toml(&wrong, "test").unwrap();
    let checkpoint = read_bytes(&std::fs::read(&akimbo.bare).unwrap(), &arch, "quantised.bin").unwrap();
    let report = akimbo.report(&akimbo.packed_bare(&wrong), &checkpoint);
    assert_eq!(report.mistakes, []);
    assert!(report.remarks.iter().any(|remark| remark.kind == MistakeKind::Scale), "{:#?}", report.remarks);
}
