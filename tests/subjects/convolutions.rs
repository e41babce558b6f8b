//! Networks with convolutions, quantised: how close they stay to full precision, and that the runtime does what the
//! integer model does.

use tamis_quant::graph::Sample;
use tamis_quant::program::{Element, ProgramNode};
use tamis_quant::proof::prove;
use tamis_quant::quantise::graph::{GraphQuantError, Options, SixteenBudget, quantise_graph, quantise_reported};
use tests::graphs::Random;
use tests::maps::random_maps;
use tests::networks::{NETWORKS, closeness, is_the_graph_without_rounding, network, runs_everywhere};
use tests::note;
use tests::tolerances::{MAPS_CLOSENESS, MAPS_SIXTEEN_SQNR_DB, MAPS_WORKSPACE_LEN_BYTES};
use tests::trials::Fixtures;

/// MLPerf Tiny's networks from their float files, calibrated on what lies beside them.
#[test]
fn public_networks_stay_close_to_full_precision(folder: Fixtures) {
    for (name, real, encoding) in NETWORKS {
        let network = network(&folder, name, real);
        let options = network.options(encoding);
        let start = std::time::Instant::now();
        let program = quantise_graph(&network.graph, &network.calibration, &options).unwrap();
        let seconds = start.elapsed().as_secs_f64();
        assert!(prove(&program).holds(), "{name}");
        let workspace = runs_everywhere(&program, &network.inputs[..3]);
        let found = closeness(&network.graph, &program, &network.inputs);
        note!("{name}: {found:?}, {workspace:?}, {seconds:.1} s");
        let (_, most) = MAPS_WORKSPACE_LEN_BYTES.iter().find(|(of, _)| *of == name).unwrap();
        assert!(workspace.beside_outputs <= *most, "{name}: {workspace:?}");
        let (_, least, least_clear) = MAPS_CLOSENESS.iter().find(|(of, ..)| *of == name).unwrap();
        assert!(found.sqnr_db >= *least, "{name}: {found:?}");
        assert!(found.clear_agree as f64 >= least_clear / 100.0 * found.clear as f64, "{name}: {found:?}");
    }
}

/// Units that channels have of their own are all taken, where the report splits an error by its causes: with none of
/// the roundings left it is the float network.
#[test]
fn without_rounding_a_network_is_what_it_was(folder: Fixtures) {
    let (name, real, encoding) = NETWORKS.into_iter().find(|(name, ..)| *name == "ic").unwrap();
    let network = network(&folder, name, real);
    let program = quantise_graph(&network.graph, &network.calibration, &network.options(encoding)).unwrap();
    is_the_graph_without_rounding(&network.graph, &program, &network.inputs[..10]);
}

/// Three maps in 16 bits that measuring has found.
#[test]
fn maps_in_16_bits_are_found_by_measuring(folder: Fixtures) {
    let (name, real, encoding) = NETWORKS[0];
    let network = network(&folder, name, real);
    let budget = SixteenBudget { maps: 3, workspace_len_bytes: None, macs_percent: None };
    let of = |budget: SixteenBudget| {
        let options = Options { sixteen_budget: Some(budget), ..network.options(encoding) };
        quantise_reported(&network.graph, &network.calibration, &options, &|_, _| ()).unwrap()
    };
    let found = of(budget);
    assert!(found.sixteen.len() <= 3 && found.sixteen.iter().all(|map| map.gain_db > 0.0), "{:?}", found.sixteen);
    let is_wide = |node: &&ProgramNode| node.value.element == Element::I16 && node.value.shape.pixels() > 1;
    assert_eq!(found.program.nodes.iter().filter(is_wide).count(), found.sixteen.len());
    let workspace = runs_everywhere(&found.program, &network.inputs[..3]);
    let close = closeness(&network.graph, &found.program, &network.inputs);
    note!("{name}: {close:?}, {workspace:?}, {:?}", found.sixteen);
    assert!(close.sqnr_db >= MAPS_SIXTEEN_SQNR_DB, "{close:?}");
    // A map of 16 bits needs more than the maps of bytes did.
    let tight = of(SixteenBudget { workspace_len_bytes: Some(16_000), ..budget });
    assert!(tight.sixteen.is_empty() || runs_everywhere(&tight.program, &[]).all <= 16_000, "{:?}", tight.sixteen);
}

/// Graphs of every operation on maps, of odd sizes.
#[test]
fn random_graphs_run_as_the_integer_model_does() {
    let mut random = Random(20);
    let (mut done, mut tried) = (0, 0);
    while done < 300 {
        let graph = random_maps(&mut random);
        tried += 1;
        let samples: Vec<Sample> = (0..4).map(|_| tests::graphs::sample(&mut random, graph.input, false)).collect();
        match quantise_graph(&graph, &samples, &Options::default()) {
            Ok(program) => {
                runs_everywhere(&program, &samples);
                done += 1;
            }
            Err(
                GraphQuantError::Unsupported { .. }
                | GraphQuantError::Overflow { .. }
                | GraphQuantError::NotCalibrated { .. },
            ) => {}
            Err(error) => panic!("{error}"),
        }
    }
    note!("{done} of {tried} graphs were quantised");
}
