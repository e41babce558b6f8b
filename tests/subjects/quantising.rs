//! From checkpoints to integers: the trainer's own bytes, and values that do not fit.

use tamis_quant::arch::Architecture;
use tamis_quant::float::example;
use tamis_quant::import::{read_bare, read_bytes};
use tamis_quant::pack::{PackError, Provenance, pack, to_bare, unpack};
use tamis_quant::positions::{Position, records};
use tamis_quant::program::{Clip, Operation};
use tamis_quant::proof::prove;
use tamis_quant::quantise::{QuantiseError, quantise};
use tamis_quant::quantised::QuantNet;
use tamis_quant::run::Runner;
use tamis_runtime::format::Model;
use tamis_runtime::kernels::tiers;
use tests::tolerances::QUANTISED_SQNR_DB;
use tests::trials::Fixtures;
use tests::{architecture, architecture_text, bare_net, own, packed};

#[test]
fn noggin_quantises_to_its_trainers_bytes_and_only_under_its_own_description(folder: Fixtures) {
    let raw = std::fs::read(folder.join("nnue/noggin/raw.bin")).unwrap();
    let wanted = std::fs::read(folder.join("nnue/noggin/quantised.bin")).unwrap();
    let text = architecture_text("noggin");
    let quantised = |text: &str| {
        let arch = Architecture::from_toml(text, "test").unwrap();
        to_bare(&quantise(&read_bytes(&raw, &arch, "raw.bin").unwrap().net).unwrap()).unwrap()
    };
    assert!(quantised(&text) == wanted);
    for (from, to) in [
        ("scale = 255", "scale = 255\nrounding = \"truncate\""),
        ("scale = 255", "scale = 254"),
        ("scale = 64", "scale = 63"),
        ("scale = 16320", "scale = 64"),
        ("[[layer]]", "[file]\ntail = \"zeros\"\n[[layer]]"),
    ] {
        let base = text.replace("rounding = \"nearest\"\n", "").replace("[file]\ntail = \"bullet\"\n", "");
        assert!(quantised(&base) == wanted, "the defaults are bullet's");
        assert!(base.contains(from), "{from}");
        assert!(quantised(&base.replacen(from, to, 1)) != wanted, "{to}");
    }
}

#[test]
fn every_bare_file_comes_back_byte_for_byte(folder: Fixtures) {
    for (name, file) in [
        ("noggin", "noggin/quantised.bin"),
        ("cwtch", "cwtch/quantised.bin"),
        ("matthriscu", "matthriscu/nnue.bin"),
        ("akimbo-buckets", "akimbo/net-27.12.23.bin"),
        ("akimbo-mirrored", "akimbo/net-12.01.24-epoch17.bin"),
        ("akimbo-layers", "akimbo/morelayers-8-crelu-16-crelu-epoch17.bin"),
        ("alexandria", "alexandria/nn-72900856.net"),
        ("stormphrax", "stormphrax/net013.nnue"),
    ] {
        let path = folder.join("nnue").join(file);
        let net = bare_net(&path, &architecture(name));
        let bytes = packed(&net);
        assert!(bytes.as_ref().len().is_multiple_of(64), "{name}");
        let back = unpack(&Model::parse(bytes.as_ref()).unwrap()).unwrap();
        assert!(back == net, "{name}");
        assert!(to_bare(&back).unwrap() == std::fs::read(&path).unwrap(), "{name}");
    }
}

/// bullet's test networks have no quantised form of their own: ours is run on every tier and stays near the reals.
#[test]
fn bullets_test_networks_run_quantised(folder: Fixtures) {
    let folder = folder.join("nnue/bullet");
    let batch = std::fs::read(folder.join("batch.bf")).unwrap();
    let positions: Vec<Position> = records(&batch).unwrap().step_by(100).map(|position| position.unwrap()).collect();
    for name in ["bullet-test1", "bullet-test2", "bullet-test3"] {
        let arch = architecture(name);
        let file = format!("{}.wgts", name.trim_start_matches("bullet-"));
        let checkpoint = read_bytes(&std::fs::read(folder.join(&file)).unwrap(), &arch, &file).unwrap();
        let net = quantise(&checkpoint.net).unwrap();
        let bytes = packed(&net);
        let model = Model::parse(bytes.as_ref()).unwrap();
        let float = checkpoint.net.to_f64();
        let mut outputs: Vec<Vec<f64>> = Vec::new();
        for tier in tiers() {
            let mut runner = Runner::new(model, tier);
            let values = positions
                .iter()
                .map(|position| runner.evaluate(&example(&arch, position).unwrap()).unwrap().to_reals(1.0)[0]);
            outputs.push(values.collect());
        }
        assert_eq!(outputs[0], outputs[1], "{name}");
        let truth: Vec<f64> =
            positions.iter().map(|position| float.evaluate(&example(&arch, position).unwrap()).unwrap()[0]).collect();
        let stats = tamis_quant::verify::stats::compare(&outputs[0], &truth);
        note!("{name}: {stats:?}");
        assert!(stats.sqnr_db.unwrap() > QUANTISED_SQNR_DB, "{name}: {stats:?}");
    }
}

#[test]
fn values_that_do_not_fit_are_named() {
    let arch = architecture("reference");
    let bytes = std::fs::read(own("reference/nnue.weights.bin")).unwrap();
    let mut net = read_bytes(&bytes, &arch, "nnue.weights.bin").unwrap().net;
    net.layers[0].weights.values[128 * 5 + 7] = 130.0;
    let error = quantise(&net).unwrap_err();
    let QuantiseError::OutOfRange { tensor, index, output, input, limit, .. } = &error else { panic!("{error}") };
    assert_eq!((tensor.as_str(), *index, *output, *input), ("l0w", 647, 7, 5));
    assert!((limit - 32767.5 / 255.0).abs() < 1e-9);
    net.layers[0].weights.values[128 * 5 + 7] = f32::NAN;
    assert!(matches!(quantise(&net).unwrap_err(), QuantiseError::NotFinite { index: 647, .. }));
}

/// The packer's own refusals, each of something that a description can say: none is left to the loader.
#[test]
fn what_the_runtime_has_no_operation_for_is_refused_by_name() {
    let tiny = std::fs::read_to_string(own("vectors/tiny.toml")).unwrap();
    let pairs = |shift| format!("activation = \"pairwise-crelu\"\nproduct_shift = {shift}");
    let screlu = "activation = \"screlu\"";
    let (head, bias) = ("name = \"l1w\"\ntype = \"i16\"", "name = \"l1b\"\ntype = \"i16\"\nscale = 16320");
    let (i8_head, i8_bias) = (head.replace("i16", "i8"), bias.replace("i16", "i8"));
    let f32_bias = "name = \"l1b\"\ntype = \"f32\"";
    let named = "name = \"l1\"\noutputs = 1\nweights = \"king_table\"";
    for (changes, words) in [
        (vec![("scale = 400", "scale = 1073741825")], "layer `l1`: an output scale of 1073741825"),
        (vec![(bias, i8_bias.as_str())], "layer `l1`: an i8 bias in an integer head"),
        (vec![(screlu, "activation = \"dual-crelu\"")], "layer `l1`: i16 weights behind dual-crelu"),
        (
            vec![(screlu, pairs(7).as_str()), (head, &i8_head), (bias, f32_bias)],
            "layer `l0`: a product of 255·255 >> 7",
        ),
        (
            vec![
                ("kind = \"features\"\nsize = 4", "kind = \"chess\""),
                ("name = \"l1\"\noutputs = 1", named),
                ("name = \"l1w\"", "name = \"king_table\""),
            ],
            "would be called `king_table`",
        ),
    ] {
        let text = changes.iter().fold(tiny.clone(), |text, (from, to)| {
            assert!(text.contains(from), "{from}");
            text.replacen(from, to, 1)
        });
        let net = of_zeros(&text);
        let packed = net.lower().map_err(PackError::from);
        let packed = packed.and_then(|program| pack(&program, &prove(&program), &Provenance::default()));
        let error = packed.unwrap_err();
        assert!(matches!(error, PackError::Unsupported { .. } | PackError::NameTaken { .. }), "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
}

/// The network of a description whose integers are all 0.
fn of_zeros(description: &str) -> QuantNet {
    let arch = Architecture::from_toml(description, "zeros").unwrap();
    let zeros = vec![0; arch.bare_payload_end_bytes() as usize];
    let tail = arch.file.tail.letters().iter().cycle().take(arch.bare_len_bytes() as usize - zeros.len());
    let bare: Vec<u8> = zeros.iter().chain(tail).copied().collect();
    QuantNet::from_bare(read_bare(&bare, &arch).unwrap()).unwrap()
}

/// The description that the guide shows makes the operations that it tells of.
#[test]
fn the_guides_integers_to_the_end_are_what_it_says() {
    let guide = include_str!("../../quant/DESCRIPTIONS.md");
    let (_, section) = guide.split_once("### Integers to the end").unwrap();
    let (_, block) = section.split_once("```toml\n").unwrap();
    let (layers, _) = block.split_once("```").unwrap();
    let text = format!("schema = 1\nname = 'tail'\n[input]\nkind = 'chess'\n[output]\nscale = 400\n{layers}");
    let program = of_zeros(&text).lower().unwrap();
    let words: Vec<&str> = program.nodes.iter().map(|node| node.op.word()).collect();
    assert_eq!(words, ["clip-u8", "affine", "affine-i32", "rescale"]);
    let Operation::ClipU8 { max, shift, .. } = program.nodes[0].op else { unreachable!() };
    assert_eq!((max >> shift, shift), (127, 5));
    let Operation::AffineI32 { clip, max, shift, .. } = program.nodes[2].op else { unreachable!() };
    assert_eq!((clip, max, shift), (Clip::Crelu, 128, 6));
    let Operation::Rescale { factor, divisor, .. } = program.nodes[3].op else { unreachable!() };
    assert_eq!((factor, divisor), (400, 256 * 128));

    // Scales that no integer of 1 explains, and a shift that leads elsewhere.
    for (from, to, words) in [
        ("scale = 32768 ", "scale = 32769 ", "layer `l2`: a bias of scale 32769 behind weights of scale 256"),
        ("activation_shift = 6", "activation_shift = 9", "layer `l1`: sums of scale 8192, shifted right by 9"),
        ("activation = \"crelu\"", "activation = \"crelu\"\nskip = 1", "a skip between layers of integers"),
        ("type = \"i32\"\nscale = 32768", "type = \"f32\"", "layer `l2`: reals behind integers"),
    ] {
        assert!(text.contains(from), "{from}");
        let refused = of_zeros(&text.replacen(from, to, 1)).lower().unwrap_err().to_string();
        assert!(refused.contains(words), "{refused}");
    }
}
