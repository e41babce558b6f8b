//! What comes out: scores, all outputs and rows of them, and those of any model.

use super::places::{Spoilt, run_model};
use super::{Created, Loaded, MODELS, NETWORKS, TIERS, World, shape_of};
use crate::boards::{Calls, is_board};
use tamis::Status;
use tamis_runtime::engine::{AnyNetwork, Colour};
use tamis_runtime::format::Model;
use tests::held::{Sample, evaluate_board};
use tests::sample_models::Random;
use tests::second_reader::Container;

impl World {
    pub(super) fn evaluate(&mut self, net: usize, state: usize, calls: &mut Calls<'_>) -> Option<()> {
        let (spoilt, which) = (Spoilt::of(calls.byte()?), calls.byte()?);
        let (colour, bucket) = (u32::from(which % 16).min(2), (which & 0x80 != 0).then_some(u32::from(which >> 4 & 7)));
        let colour = if which % 16 < 8 { colour & 1 } else { colour };
        let (place, created) = &mut self.states[state];
        let mut score = 0x5EED_5EED;
        let status = place.evaluate(self.nets[net].0.handle(spoilt), colour, bucket, &mut score);
        assert!(status == Status::Ok || score == 0x5EED_5EED, "a score of a call that ended in {status:?}");
        let wanted = border(created.as_ref(), self.nets[net].1, spoilt, colour);
        let Err((created, loaded)) = wanted else {
            assert_eq!(Ok(status), wanted.map_err(drop), "an evaluation");
            return Some(());
        };
        let shape = shape_of(NETWORKS[loaded.file].as_ref());
        let wanted = match bucket {
            Some(bucket) if bucket >= shape.output_buckets => Status::OutOfRange,
            _ if created.line.len() == 0 => Status::StateEmpty,
            _ if created.of != Some(loaded) => Status::OtherNet,
            _ => Status::Ok,
        };
        if status != Status::Ok || wanted != Status::Ok {
            // A board without a king has no place for the accumulator of its side.
            let is_game = created.line.last().is_some_and(|board| is_board(board));
            assert!(status == wanted || (!is_game && status != Status::Internal), "{status:?} for {wanted:?}");
            return Some(());
        }
        let board = created.line.last()?;
        if bucket.is_none() && is_board(board) {
            let file = NETWORKS[loaded.file].as_ref();
            let (network, container) = (AnyNetwork::load(file).unwrap(), Container::read(file).unwrap());
            let mover = Colour::BOTH[colour as usize];
            assert_eq!(score, evaluate_board(&network, &container, board, mover), "{board:?}, {mover:?}");
            self.evaluated = true;
        }
        Some(())
    }

    /// All outputs, the first of which is the score, and rows of them.
    pub(super) fn outputs(&mut self, net: usize, state: usize, calls: &mut Calls<'_>) -> Option<()> {
        let (room, row) = (usize::from(calls.byte()? % 5), u32::from(calls.byte()? % 4));
        let (place, created) = &mut self.states[state];
        let handle = self.nets[net].0.handle(Spoilt::Nothing);
        let is_real = self.nets[net].0.facts().1 == 1;
        let (mut integers, mut reals) = ([7; 5], [7.0; 5]);
        let (status, count) = if is_real {
            place.outputs_f32(handle, 0, &mut reals[..room])
        } else {
            place.outputs(handle, 0, &mut integers[..room])
        };
        let other = if is_real { place.outputs(handle, 0, &mut [0; 5]).0 } else { Status::OtherKind };
        let Err((created, loaded)) = border(created.as_ref(), self.nets[net].1, Spoilt::Nothing, 0) else {
            assert_eq!(status, Status::NotAHandle, "outputs of nothing");
            return Some(());
        };
        let is_ready = created.of == Some(loaded) && created.line.last().is_some_and(|board| is_board(board));
        if !is_ready {
            assert!(status != Status::Internal, "outputs: {status:?}");
            return Some(());
        }
        assert_eq!(other, Status::OtherKind, "outputs of the other kind");
        let outputs = shape_of(NETWORKS[loaded.file].as_ref()).outputs as usize;
        assert_eq!(count, outputs, "the number of outputs");
        let wanted = if room < outputs { Status::CapacityTooSmall } else { Status::Ok };
        assert_eq!(status, wanted, "room for {room} of {outputs} outputs");
        assert!(integers[room..] == [7; 5][room..] && reals[room..] == [7.0; 5][room..], "outputs beyond their room");
        if status != Status::Ok {
            assert!(integers == [7; 5] && reals == [7.0; 5], "outputs of a call that failed");
            return Some(());
        }
        let mut score = 0;
        assert_eq!(place.evaluate(handle, 0, None, &mut score), Status::Ok);
        assert_eq!(score, if is_real { reals[0] as i32 } else { integers[0] }, "the first output and the score");
        if !is_real {
            let mut one = [7];
            match place.output_rows(handle, 0, &[row], &mut one) {
                Status::Ok => assert_eq!(Some(&one[0]), integers[..outputs].get(row as usize), "row {row}"),
                Status::OutOfRange => assert!(row as usize >= outputs && one == [7], "row {row} of {outputs}"),
                other => assert!(other == Status::OtherKind && one == [7], "row {row}: {other:?}"),
            }
        }
        Some(())
    }
}

/// How a call ends before anything is computed, or what it computes with.
fn border(
    created: Option<&Created>,
    loaded: Option<Loaded>,
    spoilt: Spoilt,
    colour: u32,
) -> Result<Status, (&Created, Loaded)> {
    let Some(created) = created else { return Ok(Status::NotAHandle) };
    if colour > 1 {
        return Ok(Status::OutOfRange);
    }
    match (spoilt.handle_status(), loaded) {
        (Some(status), _) => Ok(status),
        (None, None) => Ok(Status::NotAHandle),
        (None, Some(loaded)) => Err((created, loaded)),
    }
}

/// Any model's output by the library is the second reader's.
pub(super) fn model(calls: &mut Calls<'_>) -> Option<()> {
    let (which, number) = (usize::from(calls.byte()?), calls.byte()?);
    let file = &MODELS[which % MODELS.len()];
    let (model, container) = (Model::parse(file.as_ref()).unwrap(), Container::read(file.as_ref()).unwrap());
    let sample = Sample::draw(&model, &mut Random(u64::from(number)), u32::from(number));
    let bucket = usize::from(number) % model.input().bucket_count as usize;
    let values = container.evaluate(&sample.given(), bucket);
    let expected = values.last().unwrap().bytes(container.element_of_value(values.len() - 1));
    let tier = TIERS[usize::from(number) % TIERS.len()];
    let found = run_model(file, tier, sample.input(), bucket);
    let is_nan = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().unwrap()).is_nan();
    let is_real = model.values().last().is_some_and(|value| value.element() == tamis_runtime::raw::element::F32);
    let is_same = |(a, b): (&[u8], &[u8])| a == b || (is_real && is_nan(a) && is_nan(b));
    let found = found.unwrap_or_else(|status| panic!("model {which}: {status:?}"));
    let is_equal = found.len() == expected.len() && found.chunks(4).zip(expected.chunks(4)).all(is_same);
    assert!(is_equal, "model {which}, input {number}: {found:?} for {expected:?}");
    Some(())
}
