//! Embedding a file where the loader can read it.

/// Anything at a multiple of 64 in memory.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub struct Aligned<T: ?Sized>(pub T);

/// Embeds a container: a `&'static [u8]` at a multiple of 64, read-only, in flash on a microcontroller.
///
/// The path is relative to the file that calls the macro, as with `include_bytes!`.
///
/// ```
/// # if !cfg!(feature = "accumulators") { return Ok(()) } // refused without
/// static NET: &[u8] = tamis_runtime::include_model!("../../tests/vectors/tiny.bin");
/// let model = tamis_runtime::format::Model::parse(NET)?;
/// assert_eq!(model.input().hidden, 2);
/// # Ok::<(), tamis_runtime::format::ParseError>(())
/// ```
#[macro_export]
macro_rules! include_model {
    ($path:expr $(,)?) => {{
        static ALIGNED: &$crate::Aligned<[u8]> = &$crate::Aligned(*include_bytes!($path));
        &ALIGNED.0
    }};
}
