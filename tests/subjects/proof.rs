//! The overflow proof on networks small enough to try everything, and its witnesses replayed.

use tamis_quant::arch::{Activation, Architecture, ElementType, HeadDivision};
use tamis_quant::pack::unpack;
use tamis_quant::program::{QuantTensor, Values};
use tamis_quant::proof::{Proof, Quantity, Witness, accumulator_ranges};
use tamis_quant::quantised::{QuantLayer, QuantNet};
use tamis_runtime::format::Model;
use tests::replay::{accumulate, contribution};
use tests::trials::Fixtures;
use tests::{architecture, bare_net, narrow};

/// 5 features, 3 of them active, 2 hidden units of one perspective, 1 output.
fn tiny(activation: &str, l0w: &[i32], l0b: &[i32], l1w: &[i32]) -> QuantNet {
    let text = format!(
        "schema = 1\nname = \"tiny\"\n[input]\nkind = \"features\"\nsize = 5\nmax_active = 3\nperspectives = \
         1\n[output]\nscale = 400\n\
         [[layer]]\nname = \"l0\"\noutputs = 2\nactivation = \"{activation}\"\n[[layer]]\nname = \"l1\"\noutputs = 1\n\
         [[tensor]]\nname = \"l0w\"\ntype = \"i16\"\nscale = 255\n[[tensor]]\nname = \"l0b\"\ntype = \"i16\"\nscale = \
         255\n\
         [[tensor]]\nname = \"l1w\"\ntype = \"i16\"\nscale = 64\n[[tensor]]\nname = \"l1b\"\ntype = \"i16\"\nscale = \
         16320\n"
    );
    let arch = Architecture::from_toml(&text, "tiny").unwrap();
    let tensor = |name: &str, outputs, inputs, values: &[i32]| {
        let spec = arch.tensor(name).unwrap();
        QuantTensor {
            name: name.to_owned(),
            element: spec.r#type,
            scale: spec.scale,
            banks: 1,
            outputs,
            inputs,
            values: Values::Int(values.to_vec()),
        }
    };
    let layers = vec![
        QuantLayer { weights: tensor("l0w", 2, 5, l0w), bias: tensor("l0b", 2, 1, l0b) },
        QuantLayer { weights: tensor("l1w", 1, 2, l1w), bias: tensor("l1b", 1, 1, &[100]) },
    ];
    QuantNet { arch, layers, psqt: None, bare_header: Vec::new(), permutation: None }
}

/// With sums of 32 bits, whether they fit or not.
fn prove(net: &QuantNet) -> Proof {
    tamis_quant::proof::prove(&narrow(net.lower().unwrap()))
}

/// Every list of at most three distinct features.
fn lists() -> impl Iterator<Item = Vec<u32>> {
    (0u32..32)
        .map(|set| (0..5).filter(|feature| set >> feature & 1 == 1).collect::<Vec<u32>>())
        .filter(|list| list.len() <= 3)
}

/// A generator of small integers.
fn random(state: &mut u64, range: i32) -> i32 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    ((*state >> 33) as i32) % (range + 1) * if *state >> 32 & 1 == 0 { 1 } else { -1 }
}

#[test]
fn the_accumulator_bound_is_what_brute_force_finds() {
    let mut state = 7;
    for _ in 0..200 {
        let l0w: Vec<i32> = (0..10).map(|_| random(&mut state, 20_000)).collect();
        let l0b: Vec<i32> = (0..2).map(|_| random(&mut state, 3_000)).collect();
        let net = tiny("screlu", &l0w, &l0b, &[1, -1]);
        let mut extremes = [(i64::MAX, i64::MIN); 2];
        for list in lists() {
            for (unit, value) in accumulate(&net, &list).into_iter().enumerate() {
                extremes[unit] = (extremes[unit].0.min(value), extremes[unit].1.max(value));
            }
        }
        assert_eq!(accumulator_ranges(&net.lower().unwrap()), extremes);
        let proof = prove(&net);
        let leaves = extremes.iter().any(|(low, high)| *low < -32768 || *high > 32767);
        assert_eq!(proof.fits("l0w", Quantity::Accumulator), !leaves);
        for violation in &proof.violations {
            if violation.check.quantity == Quantity::Accumulator {
                let Some(Witness::Features { lists: [list, _], value }) = &violation.witness else {
                    panic!("{violation}")
                };
                assert!(list.len() <= 3, "within max_active");
                assert_eq!(accumulate(&net, list)[violation.check.row], *value);
                assert!(*value > 32767 || *value < -32768, "{violation}");
            }
        }
    }
}

#[test]
fn the_sum_bound_of_a_clipped_net_is_its_activations_at_their_extremes() {
    let mut state = 11;
    for _ in 0..200 {
        let l1w: Vec<i32> = (0..2).map(|_| random(&mut state, 32_000)).collect();
        // Rows that clip and rows that stay below zero, so that brute force over lists reaches every corner.
        let net = tiny("screlu", &[300, 0, 0, 300, 0, 0, 0, 0, 0, 0], &[0, 0], &l1w);
        let (mut low, mut high) = (0, 0);
        for list in lists() {
            let value = contribution(&net, &accumulate(&net, &list), 0, 0);
            (low, high) = (low.min(value), high.max(value));
        }
        let proof = prove(&net);
        let check = proof.checks.iter().find(|check| check.quantity == Quantity::Sum).unwrap();
        assert_eq!((check.low, check.high), (low, high));
        let leaves = low < i64::from(i32::MIN) || high > i64::from(i32::MAX);
        assert_eq!(proof.fits("l1w", Quantity::Sum), !leaves);
        for violation in proof.violations.iter().filter(|violation| violation.check.quantity == Quantity::Sum) {
            let Some(Witness::Features { lists, value }) = &violation.witness else { panic!("{violation}") };
            assert_eq!(contribution(&net, &accumulate(&net, &lists[0]), 0, 0), *value);
            assert!(i32::try_from(*value).is_err());
        }
    }
}

/// Pairs, cut and rounded: the sum's bounds are what brute force finds where both halves reach their clip.
#[test]
fn the_sum_bound_of_pairs_is_what_brute_force_finds() {
    let mut state = 17;
    for is_rounded in [false, true] {
        for _ in 0..100 {
            let weight = random(&mut state, 127);
            // Each product is 0 on some lists, its greatest on one, and something between on others.
            let l0w = [200, 0, 0, 200, 90, 90, 0, 0, -1, -1];
            let mut net = tiny("screlu", &l0w, &[60, 57], &[weight, 0]);
            let first = &mut net.arch.layers[0];
            first.activation = Activation::PairwiseCrelu;
            (first.product_shift, first.product_rounded) = (Some(9), is_rounded);
            let narrow = QuantTensor {
                element: ElementType::I8,
                inputs: 1,
                values: Values::Int(vec![weight]),
                ..net.layers[1].weights.clone()
            };
            let spec = net.arch.tensors.iter_mut().find(|spec| spec.name == "l1w").unwrap();
            spec.r#type = ElementType::I8;
            let spec = net.arch.tensors.iter_mut().find(|spec| spec.name == "l1b").unwrap();
            (spec.r#type, spec.scale) = (ElementType::F32, None);
            net.layers[1].weights = narrow;
            net.layers[1].bias = QuantTensor {
                element: ElementType::F32,
                scale: None,
                values: Values::F32(vec![0.0]),
                ..net.layers[1].bias.clone()
            };
            let product = |list: &[u32]| {
                let acc = accumulate(&net, list);
                let product = acc[0].clamp(0, 255) * acc[1].clamp(0, 255);
                let half = if is_rounded { 256 } else { 0 };
                (product + half).div_euclid(512)
            };
            let products: Vec<i64> = lists().map(|list| product(&list)).collect();
            assert_eq!(products.iter().max(), Some(&127));
            let sums = products.iter().map(|product| product * i64::from(weight));
            let (low, high) = sums.fold((0, 0), |(low, high), sum| (low.min(sum), high.max(sum)));
            let proof = prove(&net);
            let check = proof.checks.iter().find(|check| check.quantity == Quantity::Sum).unwrap();
            assert_eq!((check.low, check.high), (low, high), "{weight} {is_rounded}");
            for list in lists() {
                let replayed = contribution(&net, &accumulate(&net, &list), 0, 0);
                assert_eq!(replayed, product(&list) * i64::from(weight), "{list:?}");
            }
        }
    }
}

/// The same with products that are rounded: a clip of 32512, so that two rows and a bias can leave i32.
fn rounded(l0w: &[i32], l1w: &[i32], bias: i32) -> QuantNet {
    let mut net = tiny("screlu", l0w, &[0, 0], l1w);
    net.arch.output.divide = HeadDivision::Rounded;
    for (name, scale) in [("l0w", 32_512), ("l0b", 32_512), ("l1w", 64), ("l1b", 2_064_512)] {
        let spec = net.arch.tensors.iter_mut().find(|spec| spec.name == name).unwrap();
        spec.scale = Some(scale);
        spec.r#type = if name == "l1b" { ElementType::I32 } else { ElementType::I16 };
        (net.tensor_mut(name).unwrap().scale, net.tensor_mut(name).unwrap().element) = (spec.scale, spec.r#type);
    }
    net.tensor_mut("l1b").unwrap().values = Values::Int(vec![bias]);
    net
}

/// Every partial sum of every list lies between the bounds, and the bounds are reached: each of both units is clipped
/// on some list and 0 on another.
#[test]
fn the_sum_bound_of_rounded_products_is_what_brute_force_finds() {
    let mut state = 13;
    let mut refused = 0;
    for _ in 0..400 {
        let l1w: Vec<i32> = (0..2).map(|_| random(&mut state, 32_767)).collect();
        let bias = random(&mut state, 2_000_000_000);
        let net = rounded(&[32_600, 0, 0, 32_600, 0, 0, 0, 0, -1, -1], &l1w, bias);
        let term = |value: i64, weight: i32| {
            let clipped = value.clamp(0, 32_512);
            (clipped * i64::from(weight) + (1 << 14)).div_euclid(1 << 15) * clipped
        };
        let sum = |list: &[u32]| -> i64 {
            accumulate(&net, list).into_iter().zip(&l1w).map(|(value, weight)| term(value, *weight)).sum()
        };
        let (low, high) = lists().map(|list| sum(&list)).fold((0, 0), |(low, high), sum| (low.min(sum), high.max(sum)));
        let (low, high) = (low + i64::from(bias.min(0)), high + i64::from(bias.max(0)));
        let proof = prove(&net);
        let check = proof.checks.iter().find(|check| check.quantity == Quantity::Sum).unwrap();
        assert_eq!((check.low, check.high), (low, high), "{l1w:?} {bias}");
        let leaves = low < i64::from(i32::MIN) || high > i64::from(i32::MAX);
        assert_eq!(proof.fits("l1w", Quantity::Sum), !leaves);
        for violation in &proof.violations {
            refused += 1;
            assert!(violation.to_string().contains("tensor `l1w`, row 0"), "{violation}");
            let value = match violation.witness.as_ref().unwrap() {
                Witness::Features { lists, value } => {
                    assert_eq!(sum(&lists[0]), *value);
                    *value
                }
                Witness::Activations { values, value } => {
                    let terms = values.iter().zip(&l1w).map(|(clipped, weight)| term((*clipped).into(), *weight));
                    assert_eq!(terms.sum::<i64>() + i64::from(bias), *value);
                    *value
                }
            };
            assert!(i32::try_from(value).is_err(), "{violation}");
        }
    }
    assert!((20..380).contains(&refused), "{refused} of 400 were refused");
}

#[test]
fn a_bound_that_no_list_reaches_has_a_witness_that_says_so() {
    // Both units reach their clip only on different features of the one slot: max_active is 3, so block it by weights.
    let net =
        tiny("screlu", &[-300, 300, 300, -300, -300, -300, -300, -300, -300, -300], &[-40, -40], &[32_000, 32_000]);
    let proof = prove(&net);
    let violation = proof.violations.iter().find(|violation| violation.check.quantity == Quantity::Sum).unwrap();
    let Some(Witness::Activations { values, value }) = &violation.witness else { panic!("{violation}") };
    let replayed: i64 = values.iter().zip([32_000i64, 32_000]).map(|(value, weight)| i64::from(*value) * weight).sum();
    assert_eq!(replayed, *value);
    assert!(i32::try_from(*value).is_err());
    assert!(violation.to_string().contains("no feature list was found"));
}

#[test]
fn a_doctored_net_is_refused_by_name() {
    let mut net = tiny("screlu", &[30_000, 0, 30_000, 0, 1, 0, 0, 0, 0, 0], &[0, 0], &[1, 1]);
    let text = prove(&net).violations[0].to_string();
    for part in ["tensor `l0w`", "row 0", "60001", "i16", "features [0, 1, 2]"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    net.tensor_mut("l0w").unwrap().values = Values::Int(vec![0; 10]);
    assert!(prove(&net).holds());
}

#[test]
fn witnesses_of_real_networks_leave_i32(folder: Fixtures) {
    for (name, file) in [("cwtch", "cwtch/quantised.bin"), ("alexandria", "alexandria/nn-72900856.net")] {
        let net = bare_net(&folder.join("nnue").join(file), &architecture(name));
        let proof = prove(&net);
        let [violation] = proof.violations.as_slice() else { panic!("{name}: {:?}", proof.violations) };
        match violation.witness.as_ref().unwrap() {
            Witness::Features { lists, value } => {
                assert_eq!(name, "cwtch");
                let width = net.arch.layers[0].outputs;
                let mut replayed = 0;
                for (perspective, list) in lists.iter().enumerate() {
                    assert!(
                        list.len() <= 32 && list.iter().all(|feature| feature / 768 == list[0] / 768),
                        "one king bucket"
                    );
                    let acc = accumulate(&net, list);
                    assert!(acc.iter().all(|value| i16::try_from(*value).is_ok()), "accumulators stay in i16");
                    replayed += contribution(&net, &acc, violation.check.row, perspective * width);
                }
                assert_eq!(replayed, *value);
                assert!(i32::try_from(replayed).is_err());
            }
            Witness::Activations { values, value } => {
                assert_eq!(name, "alexandria");
                let outputs = net.layers[1].weights.outputs;
                let weights = net.layers[1].weights.integers().iter().skip(violation.check.row).step_by(outputs);
                let replayed: i64 =
                    values.iter().zip(weights).map(|(value, weight)| i64::from(*value) * i64::from(*weight)).sum();
                assert_eq!(replayed, *value);
                assert!(i32::try_from(replayed).is_err());
            }
        }
    }
}

/// A layer that all output buckets share, behind one that has rows for each: a row that overflows is the tensor's own,
/// in the bucket that drives it furthest, and the witness reaches it.
#[test]
fn a_shared_layer_behind_a_bucketed_one_is_named_by_its_own_rows() {
    let sample = tests::sample_models::small().into_iter().find(|sample| sample.name == SHARED).unwrap();
    let net = unpack(&Model::parse(sample.bytes.as_ref()).unwrap()).unwrap();
    assert!(prove(&net).holds());
    for row in 0..7 {
        let mut net = net.clone();
        let bias = net.tensor_mut("l2b").unwrap();
        let mut values = bias.integers().to_vec();
        assert_eq!(values.len(), 7);
        values[row] = i32::MAX;
        bias.values = Values::Int(values);
        let proof = prove(&net);
        let [violation] = &proof.violations[..] else { panic!("{:?}", proof.violations) };
        assert_eq!((violation.check.tensor.as_str(), violation.check.row), ("l2w", row));
        assert!(violation.check.bucket.is_some() && violation.check.high > i64::from(i32::MAX));
        let Some(Witness::Activations { value, .. }) = &violation.witness else { panic!("{:?}", violation.witness) };
        assert_eq!(*value, violation.check.high, "row {row}");
    }
}

/// 9 outputs for each of three buckets, and 7 behind them for all.
const SHARED: &str = "bytes, and integers to the end";
