// The version stands alone in this file because the build script reads it, too.

/// The version of this interface. It grows when a program that was compiled with an older header could go wrong;
/// functions and statuses that are added leave it as it is.
pub const TAMIS_ABI_VERSION: u32 = 2;
