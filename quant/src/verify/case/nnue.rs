//! Networks of the Stockfish family: is what the integers give what the `.nnue` file says, and does the file come back?
//! Full precision is no question: the family's files are integers already.

use super::Case;
use super::particulars::Particulars;
use crate::pack::unpack_nnue;
use crate::parallel;
use crate::positions::Position;
use crate::program::GraphInput;
use crate::run::features_of;
use crate::stockfish::{Board, Net, Side, evaluate, to_bytes};
use crate::verify::accuracy::{Against, Outputs};
use crate::verify::comparison::Full;
use crate::verify::error::VerifyError;
use crate::verify::family::Difference;
use crate::verify::report::TruthInfo;
use tamis_runtime::format::Model;

/// Where a file that was given differs, if one was.
struct Given(Option<Option<Difference>>);

impl Particulars for Given {
    fn given_file(&self) -> Option<Option<Difference>> {
        self.0
    }
}

impl<'a> Case<'a> {
    /// A container of the family and the family's own arithmetic over the file in it. file: the `.nnue` file that the
    /// container should be made of.
    ///
    /// # Errors
    /// [`VerifyError`]: a container that cannot be taken apart, or is of another game.
    pub fn of_nnue(model: Model<'a>, positions: &[Position], file: Option<&[u8]>) -> Result<Self, VerifyError> {
        let net = unpack_nnue(&model)?;
        let program = net.lower();
        let mut inputs = Vec::with_capacity(positions.len());
        for position in positions {
            let (lists, bucket) = features_of(&model, position).ok_or(VerifyError::NotChess)?;
            inputs.push(GraphInput::Features { lists, bucket });
        }
        let given = Given(file.map(|file| Difference::of(file, &to_bytes(&net))));
        Ok(Self {
            truth: TruthInfo { examples: inputs.len(), ..TruthInfo::default() },
            network: model.metadata().map_err(crate::pack::PackError::from)?.name.to_owned(),
            model,
            value: program.nodes.len(),
            program,
            inputs,
            full: Full::Outputs(parallel::map(positions.len(), |index| own_value(&net, &positions[index]))),
            outputs: Outputs { against: Against::File, of_positions: true, scale: 1.0, centipawns: false },
            labels: None,
            split: None,
            particulars: Box::new(given),
            allows_constants: false,
        })
    }
}

fn own_value(net: &Net, position: &Position) -> f64 {
    let side = if position.is_black { Side::Black } else { Side::White };
    f64::from(evaluate(net, &Board::new(position, side)).value)
}
