//! Lines to whoever plays with the engine.

/// Writes a line. Who has closed the pipe will close the input too, so an error needs no answer.
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write;
        let _ = writeln!(std::io::stdout(), $($text)*);
    }};
}
pub(crate) use say;
