//! A network: checked, bound to a tier, shared by all threads.

use crate::failure::{Failure, Message};
use crate::guard::{guard, guard_with};
use crate::load::Load;
use crate::memory::{self, Handle, Place};
use crate::status::Status;
use crate::tier;
use bytemuck::{Pod, Zeroable};
use core::ffi::{c_char, c_void};
use core::ptr;
use tamis_runtime::engine::{AnyNetwork, LoadError};

/// Bytes that a network's handle takes at most; static memory of this length serves every network. The file is not
/// among them.
pub const TAMIS_NET_SIZE: usize = 8192;

const _: () = assert!(size_of::<Net>() <= TAMIS_NET_SIZE);

/// A network. Reading is all that calls do with it, so any number of threads use it at once.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Net {
    magic: u64,
    /// The file stays where it is, as the caller promises: that is what `'static` stands for.
    pub(crate) network: AnyNetwork<'static>,
}

// SAFETY: repr(C), 64-aligned, `magic` first; `tamis_net_load` writes the only values.
unsafe impl Handle for Net {
    const MAGIC: u64 = memory::magic(*b"nt\x08\xa5");
}

/// What a program compiles in about its network, and host-tools inspect prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Zeroable, Pod)]
#[repr(C)]
pub struct Shape {
    /// Width of one accumulator.
    pub hidden: u32,
    /// TAMIS_FEATURES_CHESS, or TAMIS_FEATURES_MERGED where both kings share a plane; with _MIRRORED where the board is
    /// turned while the own king stands on files e to h; TAMIS_FEATURES_NO_KINGS where kings are no features;
    /// TAMIS_FEATURES_THREATS and TAMIS_FEATURES_THREATS_AND_PAIRS where relations between pieces are features too.
    pub feature_set: u32,
    /// Number of features: 768 for each king bucket, 704 with merged king planes, 640 without; and the relations.
    pub features: u32,
    /// Output buckets; 1 for a network without.
    pub output_buckets: u32,
    /// Numbers that come out: 1, or 3 for win, draw and loss.
    pub outputs: u32,
}

impl Shape {
    fn of(network: &AnyNetwork<'_>) -> Self {
        let input = network.plan().model().input();
        Self {
            hidden: input.hidden,
            feature_set: input.feature_set,
            features: input.size,
            output_buckets: input.bucket_count,
            outputs: u32::try_from(network.outputs()).unwrap_or(u32::MAX),
        }
    }

    /// That the file's shape is the one that a program was built for.
    fn check(&self, expected: &Self) -> Result<(), LoadError> {
        for ((what, found), (_, expected)) in self.fields().into_iter().zip(expected.fields()) {
            if found != expected {
                return Err(LoadError::Differs { what, found: found as usize, expected: expected as usize });
            }
        }
        Ok(())
    }

    fn fields(&self) -> [(&'static str, u32); 5] {
        [
            ("width of an accumulator", self.hidden),
            (
                "feature set (1 chess, 2 mirrored, 3 merged kings, 4 merged mirrored, 5 no kings, 6 and 7 threats)",
                self.feature_set,
            ),
            ("number of features", self.features),
            ("output buckets", self.output_buckets),
            ("outputs", self.outputs),
        ]
    }
}

/// Bytes that tamis_net_load needs, at most TAMIS_NET_SIZE.
#[unsafe(no_mangle)]
pub extern "C" fn tamis_net_size() -> usize {
    size_of::<Net>()
}

/// Checks a file and makes a network of it: one pass over the file, no copy.
///
/// memory: at a multiple of 64, tamis_net_size() bytes or more. file: a container at a multiple of 64, which stays
/// there while the network is in use. expected: NULL for any network, or what the program was built for; another
/// network ends in TAMIS_DIFFERS, and the message names the first difference. tier: NULL for the fastest, or a name
/// that tamis_tier_name gives. net: gets the handle. message: NULL, or gets the reason of a failure as text of at most
/// message_len bytes, the zero at its end included.
///
/// On failure, whatever its reason, the memory and net are as they were, so that a network that they hold goes on: a
/// program may load another file over it. The states of the old network are then refreshed with the new one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tamis_net_load(
    memory: *mut c_void,
    memory_len: usize,
    file: *const c_void,
    file_len: usize,
    expected: *const Shape,
    tier: *const c_char,
    net: *mut *const Net,
    message: *mut c_char,
    message_len: usize,
) -> Status {
    let message = Message::new(message, message_len);
    let load = Load { memory, memory_len, file, file_len, tier, handle: net, message };
    let make = |file: &'static [u8], tier| {
        let network = AnyNetwork::load_on(file, tier)?;
        // SAFETY: NULL, for which there is nothing to read, or a shape, as the caller promises.
        let expected = unsafe { memory::numbers(expected, usize::from(!expected.is_null())) }?;
        expected.iter().try_for_each(|expected| Shape::of(&network).check(expected))?;
        Ok(Net { magic: Net::MAGIC, network })
    };
    // SAFETY: the caller's pointers.
    unsafe { load.run(make) }
}

/// What the network is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tamis_net_shape(net: *const Net, shape: *mut Shape) -> Status {
    guard(|| {
        // SAFETY: a handle and a place, as the caller promises.
        let net = unsafe { memory::shared(net) }?;
        let shape = Place::new(shape)?;
        // SAFETY: the same.
        unsafe { shape.put(Shape::of(&net.network)) };
        Ok(())
    })
}

/// TAMIS_OK if the network is what the program was built for, or TAMIS_DIFFERS, and in the message the first
/// difference.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tamis_net_expect(
    net: *const Net,
    expected: *const Shape,
    message: *mut c_char,
    message_len: usize,
) -> Status {
    let compare = || -> Result<(), Failure> {
        // SAFETY: a handle, as the caller promises.
        let net = unsafe { memory::shared(net) }?;
        if expected.is_null() {
            return Err(Status::NullPointer.into());
        }
        // SAFETY: a shape, as the caller promises.
        let expected = unsafe { memory::numbers(expected, 1) }?;
        Ok(expected.iter().try_for_each(|expected| Shape::of(&net.network).check(expected))?)
    };
    // SAFETY: the message's bytes are writable, as the caller promises.
    unsafe { guard_with(Message::new(message, message_len), compare) }
}

/// Entries of a state's cache that the network can use: places of a king that fill an accumulator differently. 0 if it
/// is no handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tamis_net_keys(net: *const Net) -> usize {
    // SAFETY: a handle, as the caller promises.
    unsafe { memory::shared(net) }.map_or(0, |net| net.network.keys())
}

/// 1 if the outputs are real numbers, 0 if they are integers or it is no handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tamis_net_is_real(net: *const Net) -> u32 {
    // SAFETY: a handle, as the caller promises.
    unsafe { memory::shared(net) }.map_or(0, |net| net.network.is_real().into())
}

/// The checksum of its file. 0 if it is no handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tamis_net_checksum(net: *const Net) -> u64 {
    // SAFETY: a handle, as the caller promises.
    unsafe { memory::shared(net) }.map_or(0, |net| net.network.plan().identity().checksum())
}

/// The name of the tier that runs the network; NULL if it is no handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tamis_net_tier(net: *const Net) -> *const c_char {
    // SAFETY: a handle, as the caller promises.
    unsafe { memory::shared(net) }.map_or(ptr::null(), |net| tier::name_of(net.network.plan().kernels()).as_ptr())
}
