//! Running a plan with its outputs in memory of their own, so that the workspace holds only what lies beside them.
//!
//! The places of the file stay what they are: memory is cut where the outputs lie, and an operation that reads on one
//! side of the cut and writes on the other takes the one as an input that does not lie in the workspace.

use crate::error::RunError;
use crate::features::ROWS;
use crate::format::{ALIGNMENT, Model, NONE, OpRecord};
use crate::input::Input;
use crate::ops::{Place, Places, Running};
use crate::output::Output;
use crate::plan::Plan;
use crate::step::OutputPlace;
use crate::workspace::range;
use core::ops::Range;

impl Plan<'_> {
    /// Bytes of the outputs: the memory that [`Plan::run_into`] writes them to.
    pub fn outputs_len_bytes(&self) -> usize {
        self.output.place.len_bytes()
    }

    /// Bytes of workspace that [`Plan::run_into`] needs: those that lie beside the outputs, or, where what the file
    /// plans cannot be cut there, all of [`Model::workspace_len_bytes`].
    pub fn beside_outputs_len_bytes(&self) -> usize {
        Cut::of(&self.model).map_or(self.model.workspace_len_bytes(), |cut| cut.beside.len())
    }

    /// Evaluates the network as [`Plan::run`] does, with its outputs in memory of their own: for a network with many
    /// outputs that are kept anyway, whose workspace is then [`Plan::beside_outputs_len_bytes`] alone. The outputs'
    /// memory also holds other values before it holds the outputs.
    ///
    /// bucket: as for [`Plan::run`] · workspace: 64-byte aligned, at least [`Plan::beside_outputs_len_bytes`] ·
    /// outputs: 64-byte aligned, at least [`Plan::outputs_len_bytes`]; what either holds before does not matter.
    ///
    /// When not to use it: on hosts, which do neighbouring operations in one step in [`Plan::run`] and one after the
    /// other here.
    ///
    /// ```
    /// use tamis_runtime::{Input, Plan, Workspace, format::Model, kernels};
    ///
    /// static NET: &[u8] = tamis_runtime::include_model!("../../../tests/vectors/tiny.bin");
    /// # if !cfg!(feature = "accumulators") { return Ok(()) } // refused without
    /// let plan = Plan::new(Model::parse(NET)?, kernels::best());
    /// assert_eq!((plan.beside_outputs_len_bytes(), plan.outputs_len_bytes()), (64, 4));
    /// let (mut scratch, mut kept) = (Workspace::<64>::new(), Workspace::<64>::new());
    /// let input = Input::Accumulators(&[165, 7], &[-35, 317]);
    /// let output = plan.run_into(input, 0, scratch.as_mut(), kept.as_mut())?;
    /// # let mut all = Workspace::<128>::new();
    /// assert_eq!(output, plan.run(input, 0, all.as_mut())?);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Plan::run`]; [`RunError::Length`] and [`RunError::WorkspaceAlignment`] also for the outputs' memory.
    pub fn run_into<'o>(
        &self,
        input: Input<'_>,
        bucket: usize,
        workspace: &mut [u8],
        outputs: &'o mut [u8],
    ) -> Result<Output<'o>, RunError> {
        let (found, expected) = (outputs.len(), self.outputs_len_bytes());
        if found < expected {
            return Err(RunError::Length { what: "bytes of outputs", found, expected });
        }
        match outputs.as_ptr().addr() % ALIGNMENT {
            0 => {}
            remainder => return Err(RunError::WorkspaceAlignment { remainder }),
        }
        if let Some(cut) = Cut::of(&self.model) {
            self.check_input(input)?;
            self.check_place(bucket, workspace, cut.beside.len())?;
            for record in self.model.ops() {
                let Some(at) = Places::of(&self.model, record) else { continue };
                let (at, is_crossed, here, other) = cut.sides(&at, workspace, outputs);
                let other = Input::U8(other);
                let input = if is_crossed { &other } else { &input };
                let (model, kernels) = (&self.model, self.kernels);
                self.run_late(&Running { model, kernels, input, bucket, places: Some(at) }, record, here);
            }
        } else {
            self.run(input, bucket, workspace)?;
            let found = range(workspace, self.output.place.range());
            outputs.iter_mut().zip(found).for_each(|(out, found)| *out = *found);
        }
        Ok(self.output.of_bytes(range(outputs, 0..expected)))
    }
}

/// A side of the cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Outputs,
    Beside,
}

/// Where memory is cut: the outputs' place, and what lies before it or, where it is the first, behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cut {
    outputs: Range<usize>,
    beside: Range<usize>,
}

impl Cut {
    /// `None` where a value lies across the cut, or on neither side.
    fn of(model: &Model<'_>) -> Option<Self> {
        let outputs = OutputPlace::of(model).place.range();
        let beside = match outputs.start {
            0 => outputs.end.checked_next_multiple_of(ALIGNMENT)?..model.workspace_len_bytes(),
            start => 0..start,
        };
        let cut = Self { outputs, beside };
        model.ops().iter().all(|record| cut.takes(model, record).is_some()).then_some(cut)
    }

    /// Whether an operation has its places on one side each. One that reads two values knows itself where the second
    /// is: it has all of them in a workspace that starts where the file's does, or in the network's input.
    fn takes(&self, model: &Model<'_>, record: &OpRecord) -> Option<()> {
        let places = Places::of(model, record)?;
        let write = self.side(places.write)?;
        let read = if places.reads_input { write } else { self.side(places.read)? };
        // So does one that hands rows on, or takes them, know where all of its stretch is.
        let is_held = |index: u32| model.values().get(index as usize).is_some_and(|value| value.rows_held() > 0);
        let is_in_stretch = ROWS && (is_held(record.input) || is_held(record.output));
        if is_in_stretch && ([write, read] != [Side::Beside; 2] || self.beside.start > 0) {
            return None;
        }
        if record.second == NONE {
            return Some(());
        }
        let second = Place::of(model, record.second, 0, model.values().get(record.second as usize)?.len);
        let second = if record.second == 0 { write } else { self.side(second)? };
        let is_plain = [write, read, second] == [Side::Beside; 3] && self.beside.start == 0;
        is_plain.then_some(())
    }

    fn side(&self, place: Place) -> Option<Side> {
        let place = place.range();
        let is_in = |all: &Range<usize>| all.start <= place.start && place.end <= all.end;
        match (is_in(&self.outputs), is_in(&self.beside)) {
            (true, _) => Some(Side::Outputs),
            (_, true) => Some(Side::Beside),
            _ => None,
        }
    }

    /// A place on its own side, in which side it is.
    fn own(&self, place: Place) -> (Option<Side>, Place) {
        let side = self.side(place);
        let start = if side == Some(Side::Outputs) { self.outputs.start } else { self.beside.start };
        (side, place.back(start))
    }

    /// An operation's places in the memory that it writes to, which is given, and whether it reads the other one, as
    /// if that were the network's input.
    fn sides<'m>(
        &self,
        at: &Places,
        workspace: &'m mut [u8],
        outputs: &'m mut [u8],
    ) -> (Places, bool, &'m mut [u8], &'m [u8]) {
        let (write, to) = self.own(at.write);
        let (read, from) = if at.reads_input { (write, at.read) } else { self.own(at.read) };
        let (here, other) = if write == Some(Side::Outputs) { (outputs, workspace) } else { (workspace, outputs) };
        let is_crossed = read != write;
        let places = Places { read: from, write: to, reads_input: at.reads_input || is_crossed, ..*at };
        (places, is_crossed, here, other)
    }
}
