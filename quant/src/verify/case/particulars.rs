//! What only some networks can be asked: each kind that a case is made of answers what it can.

use crate::verify::accuracy::Accuracy;
use crate::verify::error::VerifyError;
use crate::verify::family::Difference;
use crate::verify::mistakes::Found;
use crate::verify::mistakes::graph::{Measured, Reading};

/// What is asked beside equality, proof and accuracy. Who has no answer leaves it out.
pub(super) trait Particulars {
    /// Says of the worst examples which positions they are.
    fn name_worst(&self, _accuracy: &mut Accuracy) {}

    /// Takes other ways to read the checkpoint.
    fn take(&mut self, _readings: Vec<Reading>) {}

    /// Where the `.nnue` file that was given is not the one that the container was made of, if one was given.
    fn given_file(&self) -> Option<Option<Difference>> {
        None
    }

    /// The mistakes of its description, checkpoint or examples, where there is something that could be wrong.
    ///
    /// # Errors
    /// [`VerifyError::Example`] if a position does not fit the network.
    fn mistakes(&self, _measured: Measured<'_>) -> Result<Option<Found>, VerifyError> {
        Ok(None)
    }
}

/// Nothing more is known.
pub(super) struct Nothing;

impl Particulars for Nothing {}
