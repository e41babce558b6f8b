//! What firmware logs through defmt: errors in the words of their `Display`, reports and records field by field, and a
//! model, a plan and a tier by what tells them apart.

use defmt::{Format, Formatter, write};

impl Format for crate::format::Model<'_> {
    fn format(&self, f: Formatter<'_>) {
        let (len_bytes, checksum) = (self.bytes().len(), self.header().checksum());
        let workspace = self.workspace_len_bytes();
        write!(f, "model {=u64:016x}, {=usize} bytes, workspace {=usize} bytes", checksum, len_bytes, workspace);
    }
}

impl Format for crate::kernels::Tier {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "tier {=str}", self.name);
    }
}

impl Format for crate::Plan<'_> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "{} on {}", self.model(), self.kernels());
    }
}

/// Compiles only if each of them can be logged. A test holds the list against the errors and reports that the sources
/// define.
macro_rules! loggable {
    ($($kind:ty),* $(,)?) => {
        const _: () = {
            const fn is_format<T: Format>() {}
            $(is_format::<$kind>();)*
        };
    };
}

loggable!(
    // Errors and reports.
    crate::RunError,
    crate::engine::LoadError,
    crate::engine::StateError,
    crate::format::ParseError,
    crate::kernels::suite::Mismatch,
    // What goes in and what comes out.
    crate::Input<'_>,
    crate::Output<'_>,
    crate::nnue::Change<'_>,
    crate::kernels::Moved,
    // Boards.
    crate::engine::Colour,
    crate::engine::Expected,
    crate::engine::Features,
    crate::engine::Kind,
    crate::engine::Piece,
    crate::chess::view::Perspective,
    crate::chess::view::Planes,
    // What a file says.
    crate::format::BlockRecord,
    crate::format::Header,
    crate::format::InputRecord,
    crate::format::Layout,
    crate::format::Model<'_>,
    crate::format::OpRecord,
    crate::format::TensorRecord,
    crate::format::ValueRecord,
    crate::kernels::Tier,
    crate::Plan<'_>,
);
#[cfg(feature = "metadata")]
loggable!(crate::format::Metadata<'_>);
