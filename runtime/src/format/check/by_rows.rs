//! What operations that go row by row demand of places: those that write over what they read, and stretches of them
//! that hand on a few rows at a time.

use super::Refused;
use super::ops::Operation;
use crate::format::{MOST_STAGES, Overlap, RowWindow};

impl Operation<'_, '_> {
    /// The demands on the places of an operation whose own are met.
    pub(super) fn by_rows(&self) -> Result<(), Refused> {
        let (record, now) = (self.record, self.checker.index.get() as u32);
        let (held, written) = (self.input.rows_held(), self.output.rows_held());
        let window = RowWindow::of(record, self.input, self.output);
        if held > 0 {
            let reach = window.map_or(u32::MAX, |window| window.reach);
            self.need(reach <= held, "op.input", held, "as many rows as the window is high, of an operation by rows")?;
        }
        if written > 0 {
            self.need(window.is_some(), "op.output", written, "all rows of what is not written row by row")?;
            let next = self.model.ops().get(now as usize + 1).map(|next| next.input);
            self.need(
                next == Some(record.output),
                "op.output",
                written,
                "all rows, unless the next operation reads them",
            )?;
            let before = (0..now).rev().take_while(|op| self.checker.value(*op + 1).rows_held() > 0).count();
            self.need(before + 2 <= MOST_STAGES, "op.output", written, "at most 16 operations that hand rows on")?;
        }
        if held > 0 || written > 0 {
            return Ok(());
        }
        if !self.checker.goes_by_rows() {
            // Then nothing overlaps, as reading has shown, or it is a rounding in its place.
            return Ok(());
        }
        let overlaps = Overlap::all(record, |index| self.checker.value(index));
        let goes = |way: fn(&Overlap) -> bool| overlaps.iter().flatten().all(way);
        self.need(
            goes(Overlap::goes_down) || goes(Overlap::goes_up),
            "op.output",
            record.output,
            "a place that the operation does not read, or one that its rows reach when they are read",
        )
    }
}
