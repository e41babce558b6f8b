//! What a graph's container says twice, in its records and among the tensors that only the packer reads: unpacking
//! believes it where both agree.

use tamis_quant::pack::{PackError, Provenance, pack, unpack_graph};
use tamis_quant::program::Program;
use tamis_quant::proof::prove;
use tamis_quant::quantise::graph::{Options, quantise_graph};
use tamis_quant::run::AlignedBytes;
use tamis_runtime::format::Model;
use tests::draft::set_checksum;
use tests::graphs::{Random, dense, sample};

fn small_program() -> Program {
    let random = &mut Random(5);
    let graph = dense(random);
    let samples: Vec<_> = (0..20).map(|_| sample(random, graph.input, false)).collect();
    quantise_graph(&graph, &samples, &Options::default()).unwrap()
}

/// What unpacking says of a program's container with another number in the first place of a tensor.
fn with_another(program: &Program, tensor: &str, place: impl Fn(&mut [u8])) -> PackError {
    let packed = pack(program, &prove(program), &Provenance::default()).unwrap();
    let mut bytes = AlignedBytes::copy_of(&packed);
    let model = Model::parse(bytes.as_ref()).unwrap();
    let mut names = model.metadata().unwrap().tensor_names.lines();
    let index = names.position(|name| name == tensor).unwrap() as u32;
    let at = model.tensor(index).unwrap().record.offset_bytes as usize;
    place(&mut bytes.as_mut()[at..at + 4]);
    set_checksum(bytes.as_mut());
    unpack_graph(&Model::parse(bytes.as_ref()).unwrap()).unwrap_err()
}

/// What a graph is unpacked into can be packed again, so that a second zero point is not believed.
#[test]
fn a_zero_point_that_stands_twice_is_the_same_both_times() {
    let program = small_program();
    let error = with_another(&program, "graph.values", |place| place[0] ^= 0x40);
    let (found, expected) = (program.nodes[0].value.zero ^ 0x40, program.nodes[0].value.zero);
    let node = program.nodes[0].name.clone();
    assert_eq!(error, PackError::ZeroPoint { node, found, expected });
}

/// Nor a unit that is none, or one of the output that its record contradicts.
#[test]
fn units_of_a_container_are_positive_and_the_outputs_is_its_records() {
    let program = small_program();
    let with_unit = |node: &str, found: f32| {
        with_another(&program, &format!("{node}.unit"), |place| place.copy_from_slice(&found.to_le_bytes()))
    };
    let node = program.nodes[0].name.clone();
    for found in [0.0, -1.0] {
        let (node, expected) = (node.clone(), "a positive number".to_owned());
        assert_eq!(with_unit(&node, found), PackError::Unit { node, found, expected });
    }
    let node = program.nodes.last().unwrap().name.clone();
    let expected = format!("{} as in the input record", program.output_unit());
    assert_eq!(with_unit(&node, 77.0), PackError::Unit { node, found: 77.0, expected });
}
