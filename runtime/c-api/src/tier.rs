//! The tiers, by name.

use crate::memory;
use crate::status::Status;
use core::ffi::{CStr, c_char};
use tamis_runtime::kernels::{self, Tier};
use tamis_runtime::testing::ALL_NAMES;

/// The runtime's [`ALL_NAMES`] as C reads them.
const NAMES: [&CStr; ALL_NAMES.len()] = [
    c"scalar",
    c"wide",
    c"blocked",
    c"dsp",
    c"mve",
    c"avx2",
    c"avxvnni",
    c"avx512bw",
    c"avx512",
    c"neon",
    c"neon+dotprod",
    c"simd128",
];

/// A tier's name as C reads it.
pub fn name_of(tier: &Tier) -> &'static CStr {
    NAMES.into_iter().find(|name| name.to_bytes() == tier.name.as_bytes()).unwrap_or(c"")
}

/// The tier with a name, the fastest for NULL.
///
/// # Safety
/// As [`memory::name`].
pub unsafe fn named(start: *const c_char) -> Result<&'static Tier, Status> {
    if start.is_null() {
        return Ok(kernels::best());
    }
    // SAFETY: the caller's own promise.
    let name = unsafe { memory::name(start) }.and_then(|name| core::str::from_utf8(name).ok());
    name.and_then(kernels::by_name).ok_or(Status::UnknownTier)
}

/// The name of a tier that this machine can run: 0 the slowest, then on to the fastest; NULL behind it. All give the
/// same numbers.
#[unsafe(no_mangle)]
pub extern "C" fn tamis_tier_name(index: usize) -> *const c_char {
    kernels::tiers().nth(index).map_or(core::ptr::null(), |tier| name_of(tier).as_ptr())
}

#[cfg(test)]
mod tests {
    use super::{ALL_NAMES, NAMES};

    #[test]
    fn the_names_are_the_runtimes() {
        assert_eq!(NAMES.map(|name| name.to_str().unwrap()), ALL_NAMES);
    }
}
