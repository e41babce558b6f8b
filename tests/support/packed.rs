//! Containers whose integers were given: packed, run on the scalar tier, and held to the integer model.

use tamis_quant::integer::IntegerModel;
use tamis_quant::pack::{Provenance, pack};
use tamis_quant::program::{Element, GraphInput, Program, ProgramInput};
use tamis_quant::proof::prove;
use tamis_quant::run::{AlignedBytes, Runner};
use tamis_runtime::format::Model;
use tamis_runtime::kernels;

/// The bytes of a program's container, and whether it is proved.
pub fn container(program: &Program) -> (AlignedBytes, bool) {
    let proof = prove(program);
    (AlignedBytes::copy_of(&pack(program, &proof, &Provenance::default()).unwrap()), proof.holds())
}

/// Stored numbers as a program takes them.
pub fn stored_input(program: &Program, stored: impl Iterator<Item = f64>) -> GraphInput {
    match program.input {
        ProgramInput::Dense { element: Element::U8, .. } => GraphInput::U8(stored.map(|x| x as u8).collect()),
        ProgramInput::Dense { element: Element::I8, .. } => GraphInput::I8(stored.map(|x| x as i8).collect()),
        other => panic!("an input of {other:?}"),
    }
}

/// A container on the scalar tier, and its program.
pub struct Packed<'m> {
    runner: Runner<'m>,
    program: &'m Program,
}

impl<'m> Packed<'m> {
    /// Of a container's bytes.
    pub fn new(bytes: &'m AlignedBytes, program: &'m Program) -> Self {
        let model = Model::parse(bytes.as_ref()).unwrap();
        Self { runner: Runner::new(model, kernels::by_name("scalar").unwrap()), program }
    }

    /// The integers that come out: i32, or those that the last operation turns into reals. With `held` the integer
    /// model has to give them, too.
    pub fn integers(&mut self, input: &GraphInput, held: bool) -> Vec<i32> {
        let last = self.program.nodes.len();
        let at = last - usize::from(self.program.element(last) == Element::F32);
        let (element, mut stored) = (self.program.element(at), Vec::new());
        let observe = |value: usize, bytes: &[u8]| {
            if value == at {
                stored = match element {
                    Element::U8 => bytes.iter().map(|byte| i32::from(*byte)).collect(),
                    Element::I8 => bytes.iter().map(|byte| i32::from(byte.cast_signed())).collect(),
                    _ => bytes.as_chunks().0.iter().map(|bytes| i32::from_le_bytes(*bytes)).collect(),
                };
            }
        };
        self.runner.evaluate_input(input, observe).unwrap();
        if held {
            let model = IntegerModel::new(self.program).trace_input(input);
            assert_eq!(model[at].integers(), stored, "{}: the integer model", self.program.name);
        }
        stored
    }

    /// The outputs as reals.
    pub fn reals(&mut self, input: &GraphInput) -> Vec<f64> {
        let unit = f64::from(self.program.output_unit());
        self.runner.evaluate_input(input, |_, _| ()).unwrap().to_reals(unit)
    }
}
