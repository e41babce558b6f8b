//! The logs that the firmware examples are expected to print, computed here: a board and a host must agree to the byte.
//!
//! `firmware-examples/run` compares the logs with what QEMU prints; this needs neither QEMU nor a compiler for the
//! target.

use safetensors::SafeTensors;
use std::fmt::Write;
use std::path::PathBuf;
use tamis_quant::arch::Architecture;
use tamis_quant::graph::Sample;
use tamis_quant::import::read_checkpoint;
use tamis_quant::pack::{Provenance, pack, unpack_graph};
use tamis_quant::positions::Position;
use tamis_quant::program::GraphInput;
use tamis_quant::proof::prove;
use tamis_quant::run::{AlignedBytes, Outputs, Runner, features_of};
use tamis_runtime::format::Model;
use tamis_runtime::kernels::scalar;
use tamis_runtime::{Input, Plan};
use tests::{architecture, lowered, own};

/// The numbers of `layers.rs`: the one file that both include.
#[path = "../../firmware-examples/programs/src/layers/data.rs"]
mod layers;

/// Scratch memory that `nnue.rs` sets aside.
const WORKSPACE: usize = 256;
/// What `nnue.rs` plays: the name of each move and the position after it.
const GAME: [(&str, &str); 7] = [
    ("start", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w"),
    ("e2e4", "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b"),
    ("d7d5", "rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w"),
    ("e4d5", "rnbqkbnr/ppp1pppp/8/3P4/8/8/PPPP1PPP/RNBQKBNR b"),
    ("g8f6", "rnbqkb1r/ppp1pppp/5n2/3P4/8/8/PPPP1PPP/RNBQKBNR w"),
    ("b1c3", "rnbqkb1r/ppp1pppp/5n2/3P4/8/2N5/PPPP1PPP/R1BQKBNR b"),
    ("f6d5", "rnbqkb1r/ppp1pppp/8/3n4/8/2N5/PPPP1PPP/R1BQKBNR w"),
];

fn program(file: &str) -> PathBuf {
    own("../firmware-examples/programs/src").join(file)
}

/// What `host-tools quantise` writes.
fn container(checkpoint: &str, arch: &Architecture) -> AlignedBytes {
    let checkpoint = read_checkpoint(&own("reference").join(checkpoint), arch).unwrap();
    let origin = Provenance { source: checkpoint.source, source_hash: checkpoint.bytes_hash };
    let program = lowered(&checkpoint.net);
    AlignedBytes::copy_of(&pack(&program, &prove(&program), &origin).unwrap())
}

/// The integer outputs for one input.
fn run(runner: &mut Runner<'_>, input: &GraphInput) -> Vec<i32> {
    match runner.evaluate_input(input, |_, _| ()).unwrap() {
        Outputs::I32(values) => values,
        Outputs::F32(_) => panic!("both networks have integer heads"),
    }
}

fn finish(log: &mut String, runner: &mut Runner<'_>) {
    writeln!(log, "signature {:016x}", runner.signature().unwrap()).unwrap();
}

fn expected(file: &str) -> String {
    std::fs::read_to_string(program(file)).unwrap()
}

#[test]
fn the_embedded_container_is_current() {
    let kept = std::fs::read(program("digits.quantised.bin")).unwrap();
    let made = container("digits.weights.bin", &architecture("digits"));
    assert!(made.as_ref() == kept, "firmware-examples/run --bless writes the container anew");
}

#[test]
fn the_embedded_images_are_the_first_of_each_digit() {
    let file = std::fs::read(own("reference/digits.reference.safetensors")).unwrap();
    let tensors = SafeTensors::deserialize(&file).unwrap();
    let labels = tensors.tensor("labels").unwrap();
    let inputs = tensors.tensor("inputs").unwrap();
    let (pixels, _) = inputs.data().as_chunks::<4>();
    let mut images = Vec::new();
    for digit in 0..10 {
        let sample = labels.data().iter().position(|label| *label == digit).unwrap();
        let image = &pixels[64 * sample..64 * (sample + 1)];
        images.extend(image.iter().map(|pixel| (f32::from_le_bytes(*pixel) * 16.0) as u8));
    }
    assert_eq!(images, std::fs::read(program("digits.images.bin")).unwrap());
}

#[test]
fn the_generated_modules_are_what_host_tools_writes() {
    for name in ["digits", "keywords"] {
        let folder = tempfile::tempdir().unwrap();
        let container = format!("{name}.quantised.bin");
        let (file, module) = (folder.path().join(&container), folder.path().join(name).join("model.rs"));
        std::fs::create_dir(module.parent().unwrap()).unwrap();
        std::fs::copy(program(&container), &file).unwrap();
        let mut host_tools = std::process::Command::new(super::cli::binary());
        let output = host_tools.arg("codegen").arg(&file).arg("-o").arg(&module).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let kept = expected(&format!("{name}/model.rs"));
        assert!(std::fs::read_to_string(module).unwrap() == kept, "firmware-examples/run --bless writes it anew");
    }
}

/// The spectrograms are the first test samples of their words, and the log what the host computes of the container.
#[test]
fn keywords_prints_what_the_host_computes() {
    let file = std::fs::read(own("reference/keywords.reference.safetensors")).unwrap();
    let tensors = SafeTensors::deserialize(&file).unwrap();
    let (labels, inputs) = (tensors.tensor("labels").unwrap(), tensors.tensor("inputs").unwrap());
    let kept = std::fs::read(program("keywords.quantised.bin")).unwrap();
    let bytes = AlignedBytes::copy_of(&kept);
    let model = Model::parse(bytes.as_ref()).unwrap();
    let mut runner = Runner::new(model, &scalar::KERNELS);
    let mut log = format!(
        "keywords: {} bytes, 49 frames of 10 coefficients, workspace {} bytes\n",
        kept.len(),
        model.workspace_len_bytes()
    );
    let mut embedded = Vec::new();
    for word in [0, 1, 5, 11] {
        let sample = labels.data().iter().position(|label| *label == word).unwrap();
        let spectrogram = &inputs.data()[490 * sample..490 * (sample + 1)];
        embedded.extend_from_slice(spectrogram);
        let input = GraphInput::I8(spectrogram.iter().map(|byte| byte.cast_signed()).collect());
        let logits = run(&mut runner, &input);
        let best = logits.iter().enumerate().max_by_key(|(_, logit)| **logit).unwrap().0;
        writeln!(log, "word {word} is taken for {best}: {logits:?}").unwrap();
    }
    finish(&mut log, &mut runner);
    assert_eq!(log, expected("keywords.out"));
    assert_eq!(embedded, std::fs::read(program("keywords.inputs.bin")).unwrap());
}

#[test]
fn digits_prints_what_the_host_computes() {
    let bytes = container("digits.weights.bin", &architecture("digits"));
    let model = Model::parse(bytes.as_ref()).unwrap();
    let input = unpack_graph(&model).unwrap().input;
    let mut runner = Runner::new(model, &scalar::KERNELS);
    let mut log =
        format!("digits: {} bytes, 64 inputs, workspace {} bytes\n", bytes.as_ref().len(), model.workspace_len_bytes());
    for (digit, image) in std::fs::read(program("digits.images.bin")).unwrap().chunks(64).enumerate() {
        let sample = Sample::Dense(image.iter().map(|pixel| f64::from(*pixel) / 16.0).collect());
        let logits = run(&mut runner, &input.quantise(&sample).unwrap());
        let best = logits.iter().enumerate().max_by_key(|(_, logit)| **logit).unwrap().0;
        assert_eq!(best, digit, "the first image of each digit is one that the network gets right");
        writeln!(log, "a {digit} is classified as {best}: {logits:?}").unwrap();
    }
    finish(&mut log, &mut runner);
    assert_eq!(log, expected("digits.out"));
}

/// A container that is copied to so many bytes past a multiple of 64, damaged there, and refused.
fn refusal(whole: &[u8], shift: usize, len: usize, damage: impl FnOnce(&mut [u8])) -> String {
    let mut memory = AlignedBytes::zeroed(whole.len() + 64);
    let file = &mut memory.as_mut()[shift..shift + len];
    file.copy_from_slice(&whole[..len]);
    damage(file);
    Model::parse(file).unwrap_err().to_string()
}

#[test]
fn bad_model_prints_the_words_of_the_errors() {
    let bytes = container("digits.weights.bin", &architecture("digits"));
    let (whole, len) = (bytes.as_ref(), bytes.as_ref().len());
    let model = Model::parse(whole).unwrap();
    let (checksum, scratch_len) = (model.header().checksum(), model.workspace_len_bytes());
    let plan = Plan::new(model, &scalar::KERNELS);
    let called = |input: Input<'_>, bucket: usize, shift: usize, len: usize| {
        let mut scratch = AlignedBytes::zeroed(scratch_len + 64);
        plan.run(input, bucket, &mut scratch.as_mut()[shift..shift + len]).unwrap_err().to_string()
    };
    let no_bucket = |file: &mut [u8]| {
        file[64 + 20] ^= 1;
        let sum = tamis_runtime::raw::checksum(file);
        file[24..32].copy_from_slice(&sum.to_le_bytes());
    };
    let log = [
        ("sound", format!("model {checksum:016x}, {len} bytes, workspace {scratch_len} bytes")),
        ("a bit flipped in the weights", refusal(whole, 0, len, |file| file[len / 2] ^= 0x10)),
        ("another version", refusal(whole, 0, len, |file| file[12] ^= 0x08)),
        ("no container", refusal(whole, 0, len, |file| file[0] ^= 0xF6)),
        ("truncated", refusal(whole, 0, len - 64, |_| {})),
        ("nothing", refusal(whole, 0, 0, |_| {})),
        ("no bucket, and the checksum made anew", refusal(whole, 0, len, no_bucket)),
        ("4 bytes past its place", refusal(whole, 4, len, |_| {})),
        ("a short workspace", called(Input::U8(&[0; 64]), 0, 0, scratch_len / 2)),
        ("a workspace 4 bytes past its place", called(Input::U8(&[0; 64]), 0, 4, scratch_len)),
        ("a short input", called(Input::U8(&[0; 63]), 0, 0, scratch_len)),
        ("an input of another element", called(Input::I8(&[0; 64]), 0, 0, scratch_len)),
        ("a bucket that the network does not have", called(Input::U8(&[0; 64]), 1, 0, scratch_len)),
    ];
    let log: String = log.iter().map(|(name, said)| format!("{name}: {said}\n")).collect();
    assert_eq!(log, expected("bad_model.out"));
}

#[test]
fn nnue_prints_what_the_host_computes() {
    let arch = architecture("reference");
    let bytes = container("nnue.weights.bin", &arch);
    let model = Model::parse(bytes.as_ref()).unwrap();
    let mut runner = Runner::new(model, &scalar::KERNELS);
    let mut log = format!(
        "nnue: {} bytes, 768 features, 8 buckets, workspace {} of {WORKSPACE} bytes\n",
        bytes.as_ref().len(),
        model.workspace_len_bytes()
    );
    for (name, fen) in GAME {
        let (lists, bucket) = features_of(&model, &Position::from_fen(fen).unwrap()).unwrap();
        let input = GraphInput::Features { lists, bucket };
        writeln!(log, "{name}: {}", run(&mut runner, &input)[0]).unwrap();
    }
    finish(&mut log, &mut runner);
    assert_eq!(log, expected("nnue.out"));
}

/// Every layer of `layers.rs` by the sums that FORMAT.md writes down, without a kernel.
#[test]
fn layers_prints_what_the_formula_says() {
    use layers::{BIAS, INPUTS_I8, INPUTS_U7, LAYERS, Layer, MULTIPLIERS, SHIFTS};
    use tamis_runtime::raw::Layout;

    fn hash(layer: &Layer, low: i64, input: impl Fn(usize) -> i64) -> u32 {
        (0..layer.rows).fold(0x811C_9DC5_u32, |hash, row| {
            let products = (0..layer.cols)
                .map(|col| input(col) * i64::from(layer.weights[Layout::K4.offset(layer.stride(), row, col)]));
            let sum = i64::from(BIAS[row]) + products.sum::<i64>();
            assert_eq!(i64::from(sum as i32), sum, "the layer does not overflow");
            let half = 1i128 << (SHIFTS[row] - 1);
            let rounded = (i128::from(sum) * i128::from(MULTIPLIERS[row]) + half) >> SHIFTS[row];
            let output = rounded.clamp(low.into(), 127) as u8;
            (hash ^ u32::from(output)).wrapping_mul(0x0100_0193)
        })
    }
    let mut log = String::new();
    for layer in &LAYERS {
        let signed = hash(layer, -128, |col| INPUTS_I8[col].into());
        let small = hash(layer, 0, |col| INPUTS_U7[col].into());
        writeln!(log, "{}x{}: i8 {signed:08x}, u7 {small:08x}", layer.cols, layer.rows).unwrap();
    }
    assert_eq!(log, expected("layers.out"));
}
