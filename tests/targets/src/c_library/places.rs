//! Memory of a C program's, and the calls that are made on it.
//!
//! A C program promises things that the library cannot check (see its documentation): a value here keeps them, as it
//! owns the memory that a handle points into, and the file that was loaded, so that whoever uses it may call in any
//! order. What a program can get wrong and the library finds is said by [`Spoilt`].

use super::text::Text;
use core::ffi::{CStr, c_void};
use core::ptr;
use tamis::{Net, Output, Shape, State, Status};
use tamis_quant::run::AlignedBytes;
use tamis_runtime::Input;

/// What a program gets wrong about memory or a handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spoilt {
    Nothing,
    Null,
    Misaligned,
    Short,
}

impl Spoilt {
    pub fn of(byte: u8) -> Self {
        match byte % 16 {
            0 => Self::Null,
            1 => Self::Misaligned,
            2 => Self::Short,
            _ => Self::Nothing,
        }
    }

    fn of_memory(self, start: *mut u8, len: usize) -> (*mut c_void, usize) {
        match self {
            Self::Nothing => (start.cast(), len),
            Self::Null => (ptr::null_mut(), len),
            Self::Misaligned => (start.wrapping_add(8).cast(), len - 8),
            Self::Short => (start.cast(), len - 1),
        }
    }

    fn of_handle<T>(self, handle: *mut T) -> *mut T {
        match self {
            Self::Null => ptr::null_mut(),
            Self::Misaligned => handle.wrapping_byte_add(8),
            Self::Nothing | Self::Short => handle,
        }
    }

    /// How a call ends that was given such memory.
    pub fn memory_status(self) -> Option<Status> {
        match self {
            Self::Nothing => None,
            Self::Null => Some(Status::NullPointer),
            Self::Misaligned => Some(Status::Misaligned),
            Self::Short => Some(Status::MemoryTooShort),
        }
    }

    /// How a call ends that was given such a handle.
    pub fn handle_status(self) -> Option<Status> {
        match self {
            Self::Nothing | Self::Short => None,
            Self::Null => Some(Status::NullPointer),
            Self::Misaligned => Some(Status::NotAHandle),
        }
    }
}

/// Memory that the library is handed, at one address for as long as this value is there.
#[derive(Debug)]
struct Memory {
    bytes: AlignedBytes,
    start: *mut u8,
    len: usize,
}

impl Memory {
    fn zeroed(len: usize) -> Self {
        let mut bytes = AlignedBytes::zeroed(len);
        let (start, len) = (bytes.as_mut().as_mut_ptr(), bytes.as_ref().len());
        Self { bytes, start, len }
    }
}

/// Memory for a network, and the file that was loaded into it.
#[derive(Debug)]
pub struct NetPlace {
    memory: Memory,
    file: Option<AlignedBytes>,
}

impl NetPlace {
    /// Without a network: a handle to it is none.
    pub fn empty() -> Self {
        Self { memory: Memory::zeroed(tamis::tamis_net_size()), file: None }
    }

    pub fn handle(&self, spoilt: Spoilt) -> *const Net {
        spoilt.of_handle(self.memory.start.cast::<Net>())
    }

    /// Loads a file over what is there. A failure leaves the memory as it was.
    pub fn load(
        &mut self,
        file: AlignedBytes,
        file_len: usize,
        expected: Option<&Shape>,
        tier: Option<&CStr>,
        spoilt: Spoilt,
        text: &mut Text,
    ) -> Status {
        let (memory, len) = spoilt.of_memory(self.memory.start, self.memory.len);
        let before = self.memory.bytes.as_ref().to_vec();
        let mut handle = ptr::dangling::<Net>();
        let (start, file_len) = (file.as_ref().as_ptr(), file_len.min(file.as_ref().len()));
        let expected = expected.map_or(ptr::null(), ptr::from_ref);
        let tier = tier.map_or(ptr::null(), CStr::as_ptr);
        let (message, message_len) = (text.start(), text.len());
        // SAFETY: the memory is this value's and nobody refers to it; the file has as many bytes and is kept where it
        // is while a handle to it is; the rest are local values and text that ends in a zero.
        let status = unsafe {
            let file = start.cast();
            tamis::tamis_net_load(memory, len, file, file_len, expected, tier, &mut handle, message, message_len)
        };
        if status == Status::Ok {
            assert!(handle == self.handle(Spoilt::Nothing), "a handle elsewhere than its memory");
            self.file = Some(file);
        } else {
            let is_as_before = handle == ptr::dangling() && self.memory.bytes.as_ref() == before;
            assert!(is_as_before, "a load that failed: {status:?}");
        }
        status
    }

    pub fn shape(&self, spoilt: Spoilt) -> (Status, Shape) {
        let mut shape = Shape { hidden: 1, feature_set: 2, features: 3, output_buckets: 4, outputs: 5 };
        // SAFETY: a handle or memory without one, and a local value.
        let status = unsafe { tamis::tamis_net_shape(self.handle(spoilt), &mut shape) };
        (status, shape)
    }

    pub fn expect(&self, expected: &Shape, text: &mut Text) -> Status {
        // SAFETY: as above, and as many bytes for text as are said.
        unsafe { tamis::tamis_net_expect(self.handle(Spoilt::Nothing), expected, text.start(), text.len()) }
    }

    /// The keys of its cache, whether its outputs are real, its checksum, and the name of its tier.
    pub fn facts(&self) -> (usize, u32, u64, Option<&'static CStr>) {
        let net = self.handle(Spoilt::Nothing);
        // SAFETY: a handle or memory without one; a name is the library's, and ends in a zero.
        unsafe {
            let name = tamis::tamis_net_tier(net);
            let name = (!name.is_null()).then(|| CStr::from_ptr(name));
            (tamis::tamis_net_keys(net), tamis::tamis_net_is_real(net), tamis::tamis_net_checksum(net), name)
        }
    }

    /// The bytes that a state of it takes; 0 where it is none.
    pub fn state_size(&self, plies: usize, keys: usize) -> usize {
        // SAFETY: a handle or memory without one.
        unsafe { tamis::tamis_state_size(self.handle(Spoilt::Nothing), plies, keys) }
    }
}

/// Memory for a state; calls are refused before one is created.
#[derive(Debug)]
pub struct StatePlace(Memory);

impl StatePlace {
    pub fn empty() -> Self {
        Self(Memory::zeroed(256))
    }

    fn handle(&self) -> *mut State {
        self.0.start.cast()
    }

    /// Makes a state in new memory, which takes the place of the old one unless it fails.
    pub fn create(&mut self, net: &NetPlace, plies: usize, keys: usize, spoilt: Spoilt, text: &mut Text) -> Status {
        let place = Memory::zeroed(net.state_size(plies, keys).max(256));
        let (memory, len) = spoilt.of_memory(place.start, place.len);
        let mut handle = ptr::dangling_mut::<State>();
        let net = net.handle(Spoilt::Nothing);
        let (message, message_len) = (text.start(), text.len());
        // SAFETY: memory that nobody else refers to, a handle or memory without one, and local values.
        let status =
            unsafe { tamis::tamis_state_create(memory, len, net, plies, keys, &mut handle, message, message_len) };
        if status == Status::Ok {
            assert!(handle == place.start.cast(), "a handle elsewhere than its memory");
            self.0 = place;
        } else {
            assert!(handle.is_null(), "a handle of a state that failed");
        }
        status
    }

    /// Goes on in a copy of the memory, as a program does that keeps states in an array that grows.
    pub fn copy(&mut self) {
        let copy = Memory::zeroed(self.0.len);
        // SAFETY: both are as long, and are two; some bytes may have no value, so they are copied as such.
        unsafe {
            let (from, to) = (self.0.start.cast::<core::mem::MaybeUninit<u8>>(), copy.start.cast());
            ptr::copy_nonoverlapping(from, to, copy.len);
        }
        self.0 = copy;
    }

    pub fn refresh(&mut self, net: *const Net, pieces: Option<&[u16]>, count: usize) -> Status {
        let start = pieces.map_or(ptr::null(), <[u16]>::as_ptr);
        assert!(pieces.is_none_or(|pieces| pieces.len() >= count), "more pieces than there are");
        // SAFETY: a handle or memory without one, a network's as `NetPlace` gives it, and as many numbers or NULL.
        unsafe { tamis::tamis_state_refresh(self.handle(), net, start, count) }
    }

    pub fn push(&mut self, net: *const Net, added: &[u16], removed: &[u16]) -> Status {
        let ([added, removed], counts) = ([added.as_ptr(), removed.as_ptr()], [added.len(), removed.len()]);
        // SAFETY: as above.
        unsafe { tamis::tamis_state_push(self.handle(), net, added, counts[0], removed, counts[1]) }
    }

    pub fn push_null(&mut self) -> Status {
        // SAFETY: a handle or memory without one.
        unsafe { tamis::tamis_state_push_null(self.handle()) }
    }

    pub fn pop(&mut self) -> Status {
        // SAFETY: as above.
        unsafe { tamis::tamis_state_pop(self.handle()) }
    }

    pub fn goto(&mut self, ply: usize) -> Status {
        // SAFETY: as above.
        unsafe { tamis::tamis_state_goto(self.handle(), ply) }
    }

    pub fn height(&mut self) -> usize {
        // SAFETY: as above.
        unsafe { tamis::tamis_state_height(self.handle()) }
    }

    pub fn message(&self, text: &mut Text) -> Status {
        // SAFETY: as above, and as many bytes for text as are said.
        unsafe { tamis::tamis_state_message(self.handle(), text.start(), text.len()) }
    }

    /// The score of the last position, of a bucket where one is given; `score` stays as it is where it fails.
    pub fn evaluate(&mut self, net: *const Net, colour: u32, bucket: Option<u32>, score: &mut i32) -> Status {
        // SAFETY: handles or memory without one, and a local value.
        unsafe {
            match bucket {
                Some(bucket) => tamis::tamis_state_evaluate_bucket(self.handle(), net, colour, bucket, score),
                None => tamis::tamis_state_evaluate(self.handle(), net, colour, score),
            }
        }
    }

    /// All outputs, as many as `values` has room for, and how many there are.
    pub fn outputs(&mut self, net: *const Net, colour: u32, values: &mut [i32]) -> (Status, usize) {
        let mut count = usize::MAX;
        let (start, room) = (values.as_mut_ptr(), values.len());
        // SAFETY: handles or memory without one, `room` values, and a local one.
        let status = unsafe { tamis::tamis_state_outputs(self.handle(), net, colour, start, room, &mut count) };
        (status, count)
    }

    /// The same of real numbers.
    pub fn outputs_f32(&mut self, net: *const Net, colour: u32, values: &mut [f32]) -> (Status, usize) {
        let mut count = usize::MAX;
        let (start, room) = (values.as_mut_ptr(), values.len());
        // SAFETY: as above.
        let status = unsafe { tamis::tamis_state_outputs_f32(self.handle(), net, colour, start, room, &mut count) };
        (status, count)
    }

    /// Some outputs, one for each of `rows`.
    pub fn output_rows(&mut self, net: *const Net, colour: u32, rows: &[u32], values: &mut [i32]) -> Status {
        assert_eq!(rows.len(), values.len());
        let (start, values) = (rows.as_ptr(), values.as_mut_ptr());
        // SAFETY: handles or memory without one, and as many values as rows.
        unsafe { tamis::tamis_state_output_rows(self.handle(), net, colour, start, rows.len(), values) }
    }
}

/// Runs a model of a file in one call after another: load, describe, run; the output's bytes.
pub fn run_model(file: &AlignedBytes, tier: &CStr, input: Input<'_>, bucket: usize) -> Result<Vec<u8>, Status> {
    let place = Memory::zeroed(tamis::tamis_model_size());
    let mut model = ptr::null();
    let bytes = file.as_ref();
    // SAFETY: memory of this function's, which outlives the handle, as the file does; local values.
    let status = unsafe {
        let (memory, file) = (place.start.cast(), bytes.as_ptr().cast());
        let (message, tier) = (ptr::null_mut(), tier.as_ptr());
        tamis::tamis_model_load(memory, place.len, file, bytes.len(), tier, &mut model, message, 0)
    };
    if status != Status::Ok {
        return Err(status);
    }
    let mut shape = core::mem::MaybeUninit::uninit();
    // SAFETY: a handle, and room for a shape, which is written where the call succeeds.
    let shape = unsafe {
        assert_eq!(tamis::tamis_model_describe(model, shape.as_mut_ptr()), Status::Ok);
        shape.assume_init()
    };
    let workspace = Memory::zeroed(shape.workspace_len as usize);
    let mut output = Output { integers: ptr::null(), reals: ptr::null(), count: 0 };
    let (memory, len, out) = (workspace.start.cast::<c_void>(), workspace.len, &mut output);
    // SAFETY: a handle, a workspace of this function's, and as many numbers as each slice has.
    let status = unsafe {
        match input {
            Input::Accumulators(own, other) => {
                let (first, second) = (own.as_ptr(), other.as_ptr());
                let lens = [own.len(), other.len()];
                tamis::tamis_model_run_accumulators(model, first, lens[0], second, lens[1], bucket, memory, len, out)
            }
            Input::U8(x) => tamis::tamis_model_run_u8(model, x.as_ptr(), x.len(), bucket, memory, len, out),
            Input::I8(x) => tamis::tamis_model_run_i8(model, x.as_ptr(), x.len(), bucket, memory, len, out),
            Input::F32(x) => tamis::tamis_model_run_f32(model, x.as_ptr(), x.len(), bucket, memory, len, out),
            Input::Sparse { features, values } => {
                let (first, second) = (features.as_ptr(), values.as_ptr());
                let lens = [features.len(), values.len()];
                tamis::tamis_model_run_sparse(model, first, lens[0], second, lens[1], bucket, memory, len, out)
            }
            other => panic!("no function for {other:?}"),
        }
    };
    if status != Status::Ok {
        return Err(status);
    }
    assert!(output.count == shape.outputs as usize && output.integers.is_null() == (shape.is_real == 1));
    let start = if shape.is_real == 1 { output.reals.cast() } else { output.integers.cast::<u8>() };
    // SAFETY: `count` numbers of four bytes in the workspace, which is still there.
    Ok(unsafe { core::slice::from_raw_parts(start, 4 * output.count) }.to_vec())
}
