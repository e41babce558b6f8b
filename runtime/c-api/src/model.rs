//! Any model: features that the program numbers itself, for other games; dense and sparse inputs.

use crate::failure::{Failure, Message};
use crate::guard::guard;
use crate::load::Load;
use crate::memory::{self, Handle, Place};
use crate::status::Status;
use core::ffi::{c_char, c_void};
use core::ptr;
use tamis_runtime::raw::element;
use tamis_runtime::{Input, Plan};

/// Bytes that a model's handle takes at most; static memory of this length serves every model. The file is not among
/// them.
pub const TAMIS_MODEL_SIZE: usize = 8192;

const _: () = assert!(size_of::<Model>() <= TAMIS_MODEL_SIZE);

/// A model. Calls read it, so any number of threads use it at once.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Model {
    magic: u64,
    plan: Plan<'static>,
}

// SAFETY: repr(C), 64-aligned, `magic` first; `tamis_model_load` writes the only values.
unsafe impl Handle for Model {
    const MAGIC: u64 = u64::from_le_bytes(*b"tamis\0md");
}

/// What a model takes and gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct ModelShape {
    /// TAMIS_INPUT_FEATURES, TAMIS_INPUT_DENSE or TAMIS_INPUT_SPARSE.
    pub input: u32,
    /// Number of features, or length of a dense input.
    pub size: u32,
    /// TAMIS_ELEMENT_... of a dense input, TAMIS_ELEMENT_I16 of a sparse one with values, 0 of one without and of
    /// features.
    pub element: u32,
    /// The most features active at once: of features in one perspective.
    pub max_active: u32,
    /// Width of one accumulator; 0 without features.
    pub hidden: u32,
    /// 1 or 2 accumulators; 0 without features.
    pub perspectives: u32,
    /// Output buckets; 1 for a model without.
    pub output_buckets: u32,
    /// Numbers that come out.
    pub outputs: u32,
    /// 1 if they are real numbers.
    pub is_real: u32,
    /// Bytes of the workspace that a run needs, at a multiple of 64.
    pub workspace_len: u32,
}

impl ModelShape {
    fn of(plan: &Plan<'_>) -> Self {
        let (model, input) = (plan.model(), plan.model().input());
        let output = model.values().get(input.output as usize);
        Self {
            input: input.kind,
            size: input.size,
            element: input.element,
            max_active: input.max_active,
            hidden: input.hidden,
            perspectives: input.perspectives,
            output_buckets: input.bucket_count,
            outputs: output.map_or(0, |value| value.len),
            is_real: output.is_some_and(|value| value.element() == element::F32).into(),
            workspace_len: u32::try_from(model.workspace_len_bytes()).unwrap_or(u32::MAX),
        }
    }
}

/// What a run gives: one of the pointers is NULL. The numbers lie in the workspace, until it is used again.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Output {
    /// Integer outputs.
    pub integers: *const i32,
    /// Real outputs.
    pub reals: *const f32,
    /// How many.
    pub count: usize,
}

/// Bytes that tamis_model_load needs, at most TAMIS_MODEL_SIZE.
#[unsafe(no_mangle)]
pub extern "C" fn tamis_model_size() -> usize {
    size_of::<Model>()
}

/// Checks a file and makes a model of it; as tamis_net_load, for any container.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tamis_model_load(
    memory: *mut c_void,
    memory_len: usize,
    file: *const c_void,
    file_len: usize,
    tier: *const c_char,
    model: *mut *const Model,
    message: *mut c_char,
    message_len: usize,
) -> Status {
    let message = Message::new(message, message_len);
    let load = Load { memory, memory_len, file, file_len, tier, handle: model, message };
    let make = |file: &'static [u8], tier| {
        Ok(Model { magic: Model::MAGIC, plan: Plan::new(tamis_runtime::format::Model::parse(file)?, tier) })
    };
    // SAFETY: the caller's pointers.
    unsafe { load.run(make) }
}

/// What the model takes and gives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tamis_model_describe(model: *const Model, shape: *mut ModelShape) -> Status {
    guard(|| {
        // SAFETY: a handle, as the caller promises.
        let model = unsafe { memory::shared(model) }?;
        let shape = Place::new(shape)?;
        // SAFETY: writable, as the caller promises.
        unsafe { shape.put(ModelShape::of(&model.plan)) };
        Ok(())
    })
}

/// Fills an accumulator from nothing with the rows of features, which are distinct. len: the model's hidden.
///
/// On failure the accumulator may hold anything.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tamis_model_refresh(
    model: *const Model,
    accumulator: *mut i16,
    len: usize,
    features: *const u32,
    features_count: usize,
) -> Status {
    guard(|| {
        // SAFETY: a handle, as the caller promises.
        let model = unsafe { memory::shared(model) }?;
        // SAFETY: as many numbers, as the caller promises.
        let features = unsafe { memory::numbers(features, features_count) }?;
        // SAFETY: as many numbers, nobody else's, as the caller promises.
        let accumulator = unsafe { memory::numbers_mut(accumulator, len) }?;
        Ok(model.plan.refresh(accumulator, features)?)
    })
}

/// Changes an accumulator: that of another position, source, plus the rows that come, less the rows that go. Both are
/// of the same length, the model's hidden, and do not overlap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tamis_model_update(
    model: *const Model,
    accumulator: *mut i16,
    source: *const i16,
    len: usize,
    added: *const u32,
    added_count: usize,
    removed: *const u32,
    removed_count: usize,
) -> Status {
    guard(|| {
        // SAFETY: a handle, as the caller promises.
        let model = unsafe { memory::shared(model) }?;
        // SAFETY: as many numbers, as the caller promises.
        let (source, added) = unsafe { (memory::numbers(source, len)?, memory::numbers(added, added_count)?) };
        // SAFETY: the same.
        let removed = unsafe { memory::numbers(removed, removed_count) }?;
        // SAFETY: as many numbers, nobody else's, as the caller promises.
        let accumulator = unsafe { memory::numbers_mut(accumulator, len) }?;
        Ok(model.plan.update(accumulator, source, added, removed)?)
    })
}

/// Evaluates a model of features from its accumulators: of the side to move, and of the other side, NULL with length 0
/// for a model of one perspective. workspace: at a multiple of 64, as long as the shape says; it has been written
/// before, if only with zeros.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tamis_model_run_accumulators(
    model: *const Model,
    own: *const i16,
    own_len: usize,
    other: *const i16,
    other_len: usize,
    bucket: usize,
    workspace: *mut c_void,
    workspace_len: usize,
    output: *mut Output,
) -> Status {
    // SAFETY: the caller's pointers.
    unsafe {
        run(model, bucket, workspace, workspace_len, output, || {
            Ok(Input::Accumulators(memory::numbers(own, own_len)?, memory::numbers(other, other_len)?))
        })
    }
}

/// The same for some of the outputs only, in the order of rows: those of a policy head that a position's moves ask for.
/// What lies before the last layer is computed once, and of that layer these rows alone. TAMIS_OTHER_KIND if the model
/// does not end in a layer with nothing behind it but what is done with each of its sums by itself.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tamis_model_run_accumulators_rows(
    model: *const Model,
    own: *const i16,
    own_len: usize,
    other: *const i16,
    other_len: usize,
    bucket: usize,
    rows: *const u32,
    rows_count: usize,
    workspace: *mut c_void,
    workspace_len: usize,
    output: *mut Output,
) -> Status {
    // SAFETY: the caller's pointers.
    unsafe {
        with_workspace(model, workspace, workspace_len, output, |plan, workspace| {
            let input = Input::Accumulators(memory::numbers(own, own_len)?, memory::numbers(other, other_len)?);
            Ok(plan.run_rows(input, bucket, memory::numbers(rows, rows_count)?, workspace)?)
        })
    }
}

/// Evaluates a model that takes bytes without a sign. len: the model's size. workspace, output: as above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tamis_model_run_u8(
    model: *const Model,
    input: *const u8,
    len: usize,
    bucket: usize,
    workspace: *mut c_void,
    workspace_len: usize,
    output: *mut Output,
) -> Status {
    // SAFETY: the caller's pointers.
    unsafe { run(model, bucket, workspace, workspace_len, output, || Ok(Input::U8(memory::numbers(input, len)?))) }
}

/// Evaluates a model that takes signed bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tamis_model_run_i8(
    model: *const Model,
    input: *const i8,
    len: usize,
    bucket: usize,
    workspace: *mut c_void,
    workspace_len: usize,
    output: *mut Output,
) -> Status {
    // SAFETY: the caller's pointers.
    unsafe { run(model, bucket, workspace, workspace_len, output, || Ok(Input::I8(memory::numbers(input, len)?))) }
}

/// Evaluates a model that takes real numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tamis_model_run_f32(
    model: *const Model,
    input: *const f32,
    len: usize,
    bucket: usize,
    workspace: *mut c_void,
    workspace_len: usize,
    output: *mut Output,
) -> Status {
    // SAFETY: the caller's pointers.
    unsafe { run(model, bucket, workspace, workspace_len, output, || Ok(Input::F32(memory::numbers(input, len)?))) }
}

/// Evaluates a model of sparse inputs: the features that are not 0, in ascending order, and as many values, or NULL
/// with values_count 0 for a model without.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tamis_model_run_sparse(
    model: *const Model,
    features: *const u32,
    features_count: usize,
    values: *const i16,
    values_count: usize,
    bucket: usize,
    workspace: *mut c_void,
    workspace_len: usize,
    output: *mut Output,
) -> Status {
    // SAFETY: the caller's pointers.
    unsafe {
        run(model, bucket, workspace, workspace_len, output, || {
            let features = memory::numbers(features, features_count)?;
            Ok(Input::Sparse { features, values: memory::numbers(values, values_count)? })
        })
    }
}

/// # Safety
/// As for the functions above, and for what `input` reads.
unsafe fn run<'i>(
    model: *const Model,
    bucket: usize,
    workspace: *mut c_void,
    workspace_len: usize,
    output: *mut Output,
    input: impl FnOnce() -> Result<Input<'i>, Status>,
) -> Status {
    // SAFETY: the caller's pointers.
    unsafe {
        with_workspace(model, workspace, workspace_len, output, |plan, workspace| {
            Ok(plan.run(input()?, bucket, workspace)?)
        })
    }
}

/// # Safety
/// As for the functions above.
unsafe fn with_workspace(
    model: *const Model,
    workspace: *mut c_void,
    workspace_len: usize,
    output: *mut Output,
    run: impl for<'w> FnOnce(&Plan<'static>, &'w mut [u8]) -> Result<tamis_runtime::Output<'w>, Failure>,
) -> Status {
    guard(|| -> Result<(), Failure> {
        // SAFETY: a handle, as the caller promises.
        let model = unsafe { memory::shared(model) }?;
        let output = Place::new(output)?;
        memory::check_room(workspace, workspace_len, model.plan.model().workspace_len_bytes())?;
        // SAFETY: as many bytes, written before and nobody else's, as the caller promises.
        let workspace = unsafe { memory::numbers_mut(workspace.cast::<u8>(), workspace_len) }?;
        let found = match run(&model.plan, workspace)? {
            tamis_runtime::Output::I32(values) => {
                Output { integers: values.as_ptr(), reals: ptr::null(), count: values.len() }
            }
            tamis_runtime::Output::F32(values) => {
                Output { integers: ptr::null(), reals: values.as_ptr(), count: values.len() }
            }
            // An element that this version of the interface has no place for.
            _ => return Err(Status::OtherKind.into()),
        };
        // SAFETY: writable, as the caller promises.
        unsafe { output.put(found) };
        Ok(())
    })
}
