//! The three questions on real networks, with the published figures.

use std::path::Path;
use tamis_quant::import::{Checkpoint, read_bytes};
use tamis_quant::positions::{Position, records};
use tamis_quant::proof::{Quantity, prove};
use tamis_quant::quantise::quantise;
use tamis_quant::quantised::QuantNet;
use tamis_quant::verify::{Case, Gates, Report, Truth};
use tamis_runtime::format::Model;
use tests::tolerances::{PRINTED_ONE_DECIMAL, PRINTED_TWO_DECIMALS};
use tests::trained::bare;
use tests::trials::Fixtures;
use tests::{architecture_text, narrow, packed};

fn batch(folder: &Path) -> Vec<Position> {
    let bytes = std::fs::read(folder.join("nnue/bullet/batch.bf")).unwrap();
    records(&bytes).unwrap().map(|position| position.unwrap()).collect()
}

fn checkpoint(path: &Path, description: &str) -> Checkpoint {
    let arch = tamis_quant::arch::Architecture::from_toml(description, "test").unwrap();
    read_bytes(&std::fs::read(path).unwrap(), &arch, path.file_name().unwrap().to_str().unwrap()).unwrap()
}

fn report(net: &QuantNet, checkpoint: &Checkpoint, positions: &[Position]) -> Report {
    let bytes = packed(net);
    let truth = Truth { checkpoint: Some(checkpoint), reference: None, positions };
    let case = Case::of_layers(Model::parse(bytes.as_ref()).unwrap(), &truth).unwrap();
    case.verify(&Gates::default(), &mut |_, _| ()).unwrap()
}

#[test]
fn noggin_has_its_published_error_and_causes(folder: Fixtures) {
    let checkpoint = checkpoint(&folder.join("nnue/noggin/raw.bin"), &architecture_text("noggin"));
    let net = quantise(&checkpoint.net).unwrap();
    let positions = batch(&folder);
    assert_eq!(positions.len(), 16_273);
    let report = report(&net, &checkpoint, &positions);
    let total = &report.accuracy.total;
    assert!((total.mean - -5.16).abs() < PRINTED_TWO_DECIMALS, "mean {}", total.mean);
    assert!((total.sd - 6.02).abs() < PRINTED_TWO_DECIMALS, "sd {}", total.sd);
    assert!((total.max - 34.2).abs() < PRINTED_ONE_DECIMAL, "max {}", total.max);
    for cause in &report.accuracy.causes {
        note!("{} {:?}", cause.cause, cause.alone);
    }
    note!("{:?}", report.accuracy.interaction);
    let mean = |name: &str| report.accuracy.causes.iter().find(|cause| cause.cause == name).unwrap().alone.mean;
    assert!((mean("rounding of l1w") - -5.2).abs() < PRINTED_ONE_DECIMAL);
    assert!(mean("truncating divisions").abs() < 0.1);
    let causes: f64 = report.accuracy.causes.iter().map(|cause| cause.alone.mean).sum();
    let interaction = report.accuracy.interaction.as_ref().unwrap().mean;
    assert!((causes + interaction - total.mean).abs() < 1e-9);
    assert!(
        report.runtime.equal && report.proof.holds && report.mistakes.is_empty() && report.passed,
        "{:#?}",
        report.mistakes
    );
    let dot = report.proof.bounds.iter().find(|bound| bound.quantity == "sum").unwrap();
    assert_eq!(format!("{:.3}", dot.fraction), "0.064");
}

#[test]
fn bounds_of_the_engines_networks(folder: Fixtures) {
    for (name, low, high, holds) in [
        ("akimbo-buckets", 0.17, 0.28, true),
        ("alexandria", 1.79, 3.06, false),
        ("stormphrax", 0.0, 1.0, true),
        ("matthriscu", 0.0, 1.0, true),
        ("akimbo-mirrored", 0.0, 1.0, true),
        ("akimbo-layers", 0.0, 1.0, true),
        ("cwtch", 1.0, 1e9, false),
    ] {
        let program = bare(&folder, name).lower().unwrap();
        assert!(prove(&program).holds(), "{name}");
        // With sums of 32 bits.
        let proof = prove(&narrow(program));
        for check in &proof.checks {
            note!("{name} {} {} row {} {:.4}", check.tensor, check.quantity, check.row, check.fraction());
        }
        for violation in &proof.violations {
            note!("{violation}");
        }
        assert_eq!(proof.holds(), holds, "{name}");
        let sums = proof.checks.iter().filter(|check| check.quantity == Quantity::Sum);
        assert!(sums.clone().all(|check| check.fraction() > low - 0.005 && check.fraction() < high + 0.005), "{name}");
    }
}
