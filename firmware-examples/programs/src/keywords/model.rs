//! The network `keywords`, a part of the program.
//!
//! Written by `host-tools codegen` from `keywords.quantised.bin`, and not to be edited.
//! Checksum 53b0d29a73be9b1e, signature 986af9a48dc48dc3: what every tier and board computes.
//! The crate needs `tamis-runtime` and nothing else; a container that differs from the one that
//! this module was written for stops the build.

#![allow(dead_code, reason = "a program calls what it has a use for")]

use tamis_runtime::format::{Checked, Feature, Model, ParseError};
use tamis_runtime::kernels::{self, Tier};
use tamis_runtime::signature::{Buffers, signature};
use tamis_runtime::{Input, Operations, Plan, RunError, Workspace};

/// The container, at a multiple of 64: in flash, once.
#[rustfmt::skip] // however long the path is
pub static FILE: &[u8] = tamis_runtime::include_model!("../keywords.quantised.bin");

const _: () = assert!(
    match FILE.split_at(24).1.first_chunk() {
        Some(stored) => FILE.len() == LEN_BYTES && u64::from_le_bytes(*stored) == CHECKSUM,
        None => false,
    },
    "not the container that this module was written for: run host-tools codegen again"
);

/// What the network needs of the runtime's features: a build that leaves one out stops here.
pub const NEEDS: &[Feature] = &[Feature::Convolutions];

/// The container as `host-tools codegen` checked it.
pub const CHECKED: Checked = Checked::new(CHECKSUM, NEEDS);

/// The tier that the build's target names, in firmware without the kernels that the network does not
/// call: what no program holds on to is not linked.
#[rustfmt::skip] // a name a line
pub static KERNELS: Tier = kernels::of_target().without(&[
    "affine_u8",
    "affine_u7",
    "affine_u7_paired",
    "affine_u8_paired",
    "affine_u7_sparse",
    "affine_i8",
    "affine_i16",
    "affine_f32",
    "affine_f32_columns",
    "dequantise_f32",
    "activation_f32",
    "requantise_u8",
    "requantise_i8",
]);

/// The kinds of operations that the network has: firmware links no others.
#[rustfmt::skip] // a name a line
pub static OPERATIONS: Operations = Operations::of(&[
    "requantise",
    "affine-i16",
    "convolution",
    "pool",
]);

/// Length of the container.
pub const LEN_BYTES: usize = 35456;

/// The container's checksum.
pub const CHECKSUM: u64 = 0x53b0d29a73be9b1e;

/// What [`Network::signature`] gives on every tier and board.
pub const SIGNATURE: u64 = 0x986af9a48dc48dc3;

/// Rows of pixels that go in.
pub const INPUT_HEIGHT: usize = 49;

/// Pixels of a row.
pub const INPUT_WIDTH: usize = 10;

/// Numbers of a pixel.
pub const INPUT_CHANNELS: usize = 1;

/// Numbers that go in: row after row, in a row pixel after pixel.
pub const INPUT_LEN: usize = INPUT_HEIGHT * INPUT_WIDTH * INPUT_CHANNELS;

/// The real value of one unit of the input.
pub const INPUT_UNIT: f32 = 0.0625;

/// The integer that stands for the real 0 in the input.
pub const INPUT_ZERO: i32 = 0;

/// Output buckets.
pub const BUCKETS: usize = 1;

/// Numbers that come out.
pub const OUTPUT_LEN: usize = 12;

/// The real value of one unit of the output.
pub const OUTPUT_UNIT: f32 = 1.5258789e-5;

/// Scratch memory that an evaluation needs.
pub const WORKSPACE_LEN_BYTES: usize = 16000;

/// A number of the input.
pub type InputNumber = i8;

/// A number of the output.
pub type OutputNumber = i32;

/// Scratch memory of the size that an evaluation needs; what it holds before does not matter.
pub type Scratch = Workspace<WORKSPACE_LEN_BYTES>;

/// The network, checked: maps in, numbers out.
#[derive(Debug, Clone)]
pub struct Network {
    plan: Plan<'static>,
}

impl Network {
    /// Checks every byte of the container, and binds it to the tier that the build's target names.
    ///
    /// # Errors
    /// [`ParseError`] if memory does not hold what the build put there.
    pub fn open() -> Result<Self, ParseError> {
        Self::open_on(&KERNELS)
    }

    /// The same on another tier: `kernels::best()` asks the machine.
    ///
    /// # Errors
    /// As [`Network::open`].
    pub fn open_on(tier: &'static Tier) -> Result<Self, ParseError> {
        let plan = Plan::of(Model::parse(FILE)?, tier, &OPERATIONS);
        Ok(Self { plan })
    }

    /// [`Network::open`] of a container that `host-tools codegen` has checked: that its bytes are
    /// still the same is all that is looked at. A program that opens it by nothing else is smaller
    /// by most of the loader, 2 to 6 kB.
    ///
    /// # Errors
    /// [`ParseError`] if memory does not hold what the build put there.
    pub fn open_checked() -> Result<Self, ParseError> {
        Self::open_checked_on(&KERNELS)
    }

    /// The same on another tier.
    ///
    /// # Errors
    /// As [`Network::open_checked`].
    pub fn open_checked_on(tier: &'static Tier) -> Result<Self, ParseError> {
        let plan = Plan::of(Model::parse_checked(FILE, CHECKED)?, tier, &OPERATIONS);
        Ok(Self { plan })
    }

    /// The plan, for what this module leaves out.
    #[must_use]
    pub const fn plan(&self) -> &Plan<'static> {
        &self.plan
    }

    /// Evaluates one map.
    ///
    /// # Errors
    /// [`RunError`] if the arguments do not fit the network; their types see to it that they do.
    pub fn run<'w>(
        &self,
        input: &[InputNumber; INPUT_LEN],
        scratch: &'w mut Scratch,
    ) -> Result<&'w [OutputNumber; OUTPUT_LEN], RunError> {
        let output = self.plan.run(Input::I8(input), 0, scratch.as_mut())?;
        output.try_into()
    }

    /// Computes the signature, which is [`SIGNATURE`] where all is well; a map lies on the stack.
    ///
    /// # Errors
    /// None on a container that was checked.
    pub fn signature(&self, scratch: &mut Scratch) -> Result<u64, RunError> {
        let mut bytes = [0; INPUT_LEN];
        let buffers = Buffers {
            own: &mut [],
            other: &mut [],
            spare: &mut [],
            bytes: &mut bytes,
            words: &mut [],
            workspace: scratch.as_mut(),
        };
        signature(&self.plan, buffers)
    }
}

/// The network's input from reals: the nearest integer to `x / INPUT_UNIT`, halves away from 0,
/// plus `INPUT_ZERO`, or the nearest that an `i8` holds; a NaN counts as 0. What
/// `host-tools` makes of the same numbers.
#[must_use]
pub fn quantise_input(reals: &[f32; INPUT_LEN]) -> [i8; INPUT_LEN] {
    let mut input = [0; INPUT_LEN];
    for (integer, real) in input.iter_mut().zip(reals) {
        *integer = quantise(f64::from(*real));
    }
    input
}

/// The network's input from the bytes of a camera or a sensor, each of which stands for the real
/// `(byte - zero) * unit`: `--input-zero` and `--input-unit` of `host-tools`.
#[must_use]
pub fn quantise_bytes(bytes: &[u8; INPUT_LEN], unit: f32, zero: i32) -> [i8; INPUT_LEN] {
    let mut table = [0; 256];
    for (integer, byte) in table.iter_mut().zip(0u8..=255) {
        *integer = quantise((f64::from(byte) - f64::from(zero)) * f64::from(unit));
    }
    let mut input = [0; INPUT_LEN];
    for (integer, byte) in input.iter_mut().zip(bytes) {
        *integer = table[usize::from(*byte)];
    }
    input
}

/// One number of the input.
fn quantise(real: f64) -> i8 {
    let scaled = real / f64::from(INPUT_UNIT);
    // Toward 0, and as near as an i32 comes; 0 for a NaN.
    let whole = scaled as i32;
    let rest = scaled - f64::from(whole);
    let away = i32::from(rest >= 0.5) - i32::from(rest <= -0.5);
    let integer = whole.saturating_add(away).saturating_add(INPUT_ZERO);
    integer.clamp(i8::MIN as i32, i8::MAX as i32) as i8
}
