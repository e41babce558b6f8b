//! A ply stack and its refresh cache against filling anew: random games with king moves, captures, promotions and null
//! moves, made and unmade, on every tier; and what both refuse.

use tamis_quant::run::AlignedBytes;
use tamis_runtime::format::Model;
use tamis_runtime::kernels::{Tier, by_name, tiers};
use tamis_runtime::nnue::{Change, RefreshCache, Stack};
use tamis_runtime::raw::chess::{ChessView, OPPONENT, Perspective};
use tamis_runtime::{Input, Output, Plan, RunError};
use tests::sample_models::{self, Random};

const KING: u8 = 5;
/// Plies of the stacks.
const PLIES: usize = 24;
/// Refresh keys of two buckets, mirrored or not.
const KEYS: usize = 4;

/// Pieces as (type, colour, square from white's side), kings first. Rules are not kept: any piece goes anywhere.
#[derive(Clone)]
struct Board {
    pieces: Vec<(u8, usize, u8)>,
}

impl Board {
    fn start(random: &mut Random) -> Self {
        let mut board = Self { pieces: vec![(KING, 0, 4), (KING, 1, 60)] };
        while board.pieces.len() < 30 {
            let square = (random.draw() % 64) as u8;
            if board.at(square).is_none() {
                board.pieces.push(((random.draw() % 5) as u8, (random.draw() % 2) as usize, square));
            }
        }
        board
    }

    fn at(&self, square: u8) -> Option<usize> {
        self.pieces.iter().position(|piece| piece.2 == square)
    }

    fn feature(&self, view: ChessView<'_>, side: usize, (kind, colour, square): (u8, usize, u8)) -> u32 {
        let flip = if side == 0 { 0 } else { 56 };
        let piece = if colour == side { kind } else { kind | OPPONENT };
        view.feature(Perspective::SideToMove, piece, square ^ flip, self.king(side))
    }

    /// A king's square as its own side sees it.
    fn king(&self, side: usize) -> u8 {
        self.pieces[side].2 ^ if side == 0 { 0 } else { 56 }
    }

    fn features(&self, view: ChessView<'_>, side: usize) -> Vec<u32> {
        self.pieces.iter().map(|piece| self.feature(view, side, *piece)).collect()
    }

    /// Any piece to any square, taking what is there, a king's piece excepted; sometimes it becomes another.
    fn play(&mut self, random: &mut Random) {
        // Kings move as often as all others together.
        let mover = (random.draw() % if random.draw() & 1 == 0 { 2 } else { self.pieces.len() as u64 }) as usize;
        let target = (random.draw() % 64) as u8;
        match self.at(target) {
            // Kings are not taken, and some pieces stay.
            Some(taken) if taken > 1 && taken != mover && self.pieces.len() > 8 => {
                self.pieces[mover].2 = target;
                if mover > 1 && random.draw().is_multiple_of(4) {
                    self.pieces[mover].0 = (random.draw() % 5) as u8;
                }
                self.pieces.remove(taken);
            }
            Some(_) => {}
            None => self.pieces[mover].2 = target,
        }
    }
}

/// What a move changes for one side, as lists, or nothing where the side's king has changed its key.
fn change(view: ChessView<'_>, before: &Board, after: &Board, side: usize) -> Option<(Vec<u32>, Vec<u32>)> {
    if view.refresh_key(before.king(side)) != view.refresh_key(after.king(side)) {
        return None;
    }
    let (old, new) = (before.features(view, side), after.features(view, side));
    let only = |these: &[u32], those: &[u32]| these.iter().filter(|one| !those.contains(one)).copied().collect();
    Some((only(&new, &old), only(&old, &new)))
}

fn sample(name: &str) -> AlignedBytes {
    sample_models::all().into_iter().find(|sample| sample.name == name).unwrap().bytes
}

/// Plays `steps` steps on one tier; every evaluation equals one from accumulators that the definition fills anew.
fn games<const HIDDEN: usize>(bytes: &AlignedBytes, tier: &'static Tier, steps: u32) {
    let model = Model::parse(bytes.as_ref()).unwrap();
    let (plan, truth) = (Plan::new(model, tier), Plan::new(model, by_name("scalar").unwrap()));
    let view = plan.chess_view().unwrap();
    let mut random = Random(7);
    let mut stack: Box<Stack<HIDDEN, PLIES>> = Box::default();
    let mut cache: Box<RefreshCache<HIDDEN, KEYS>> = Box::default();
    let mut workspace = AlignedBytes::zeroed(model.workspace_len_bytes());
    let mut line = vec![Board::start(&mut random)];
    stack.set_root(&plan, [&line[0].features(view, 0), &line[0].features(view, 1)]).unwrap();
    let (mut refreshes, mut evaluations) = (0, 0);
    for step in 0..steps {
        let board = line.last().unwrap().clone();
        match random.draw() % 16 {
            0..8 if line.len() < PLIES => {
                let mut after = board.clone();
                after.play(&mut random);
                let lists = [0, 1].map(|side| change(view, &board, &after, side));
                let changes = [0, 1].map(|side| match &lists[side] {
                    Some((added, removed)) => Change::Features { added, removed },
                    None => Change::All,
                });
                stack.push(&plan, changes).unwrap();
                line.push(after);
            }
            8 if line.len() < PLIES => {
                stack.push_null().unwrap();
                line.push(board);
            }
            9..13 if line.len() > 1 => {
                stack.pop().unwrap();
                line.pop();
            }
            _ => {
                for side in [0, 1] {
                    if stack.wants_features(side) {
                        refreshes += 1;
                        let key = view.refresh_key(board.king(side));
                        let features = board.features(view, side);
                        stack.refresh(&plan, &mut cache, side, key, &features).unwrap();
                    }
                }
                let anew = [0, 1].map(|side| {
                    let mut accumulator = vec![0; HIDDEN];
                    truth.refresh(&mut accumulator, &board.features(view, side)).unwrap();
                    accumulator
                });
                let mover = step as usize % 2;
                let bucket = step as usize % model.input().bucket_count as usize;
                let output = stack.evaluate(&plan, mover, bucket, workspace.as_mut()).unwrap();
                let Output::I32(&[found]) = output else { panic!("{output:?}") };
                let input = Input::Accumulators(&anew[mover], &anew[1 - mover]);
                assert_eq!(
                    truth.run(input, bucket, workspace.as_mut()).unwrap(),
                    Output::I32(&[found]),
                    "{}, step {step}",
                    tier.name
                );
                for side in [0, 1] {
                    assert_eq!(stack.accumulator(&plan, side).unwrap()[..], anew[side], "{}, step {step}", tier.name);
                }
                evaluations += 1;
            }
        }
        assert_eq!(stack.height() + 1, line.len());
    }
    assert!(evaluations > steps / 8 && refreshes > steps / 32, "{evaluations} evaluations, {refreshes} refreshes");
}

#[test]
fn a_million_steps_equal_filling_anew_on_every_tier() {
    let bytes = sample("chess, mirrored king buckets, output buckets");
    std::thread::scope(|scope| {
        for tier in tiers() {
            let bytes = &bytes;
            scope.spawn(move || games::<18>(bytes, tier, 1_000_000));
        }
    });
}

#[test]
fn and_so_they_do_on_rows_of_several_vectors() {
    let bytes = sample("chess, mirrored king buckets, wide");
    for tier in tiers() {
        games::<300>(&bytes, tier, 40_000);
    }
}

#[test]
fn feature_rows_in_two_blocks_are_updated_alike() {
    // Of the format's own sample_models: networks with several blocks, and with rows of bytes.
    for sample in sample_models::all() {
        let model = Model::parse(sample.bytes.as_ref()).unwrap();
        let (size, hidden) = (model.input().size, model.input().hidden as usize);
        let mut random = Random(3);
        for tier in tiers() {
            let plan = Plan::new(model, tier);
            let limit = plan.max_active().min(40);
            let list = |random: &mut Random| -> Vec<u32> {
                (0..random.draw() as usize % (limit + 1)).map(|_| (random.draw() % u64::from(size)) as u32).collect()
            };
            for _ in 0..if hidden == 0 { 0 } else { 50 } {
                let (first, added, removed) = (list(&mut random), list(&mut random), list(&mut random));
                let (mut source, mut found, mut expected) = (vec![0; hidden], vec![0; hidden], vec![0; hidden]);
                plan.refresh(&mut source, &first).unwrap();
                plan.update(&mut found, &source, &added, &removed).unwrap();
                let truth = Plan::new(model, by_name("scalar").unwrap());
                truth.refresh(&mut expected, &first).unwrap();
                for feature in &added {
                    truth.update_in_place(&mut expected, &[*feature], &[]).unwrap();
                }
                for feature in &removed {
                    truth.update_in_place(&mut expected, &[], &[*feature]).unwrap();
                }
                assert_eq!(found, expected, "{}, {}", sample.name, tier.name);
            }
        }
    }
}

#[test]
fn what_a_stack_refuses_leaves_it_as_it_was() {
    let bytes = sample("clipped squares, short products");
    let other = sample("i8 feature rows");
    let plan = Plan::new(Model::parse(bytes.as_ref()).unwrap(), by_name("scalar").unwrap());
    let stranger = Plan::new(Model::parse(other.as_ref()).unwrap(), by_name("scalar").unwrap());
    let none = Change::Features { added: &[], removed: &[] };
    let mut stack = Stack::<33, 3>::new();
    let empty = Err(RunError::StackEmpty);
    assert_eq!(stack.push(&plan, [none; 2]), empty);
    assert_eq!(stack.push_null(), empty);
    assert_eq!(stack.pop(), empty);
    assert_eq!(stack.accumulator(&plan, 0), Err(RunError::StackEmpty));

    stack.set_root(&plan, [&[0, 1, 2, 3, 4], &[5]]).unwrap();
    let before = *stack.accumulator(&plan, 0).unwrap();
    let add = |added| [Change::Features { added, removed: &[] }, none];
    assert_eq!(stack.push(&plan, add(&[7])), Err(RunError::Feature { found: 7, limit: 7 }));
    // Seven may be active; five are.
    assert_eq!(stack.push(&plan, add(&[5, 6, 0])), Err(RunError::TooManyFeatures { found: 8, limit: 7 }));
    assert_eq!(stack.push(&plan, add(&[0; 8])), Err(RunError::TooManyFeatures { found: 8, limit: 7 }));
    let identities = (plan.identity(), stranger.identity());
    let tied = RunError::OtherModel { found: identities.0, expected: identities.1 };
    assert_eq!(stack.push(&stranger, [none; 2]), Err(tied));
    assert_eq!(stack.accumulator(&stranger, 0), Err(tied));
    assert_eq!((stack.height(), *stack.accumulator(&plan, 0).unwrap()), (0, before));

    stack.push(&plan, [Change::All, none]).unwrap();
    assert_eq!(stack.accumulator(&plan, 0), Err(RunError::WantsFeatures { side: 0 }));
    assert!(stack.wants_features(0) && !stack.wants_features(1));
    stack.push_null().unwrap();
    assert_eq!(stack.push_null(), Err(RunError::StackFull { limit: 3 }));
    assert_eq!(stack.push(&plan, [none; 2]), Err(RunError::StackFull { limit: 3 }));
    stack.pop().unwrap();

    let mut cache = RefreshCache::<33, 2>::new();
    stack.refresh(&plan, &mut cache, 0, 1, &[0, 1, 2, 3, 4]).unwrap();
    assert_eq!(*stack.accumulator(&plan, 0).unwrap(), before);
    let mut out = [0; 33];
    let limit = RunError::RefreshKey { found: 2, limit: 2 };
    assert_eq!(cache.refresh(&plan, &mut out, 0, 2, &[]), Err(limit));
    // Whose hidden width differs too; the identity is asked first.
    assert_eq!(cache.refresh(&stranger, &mut out, 0, 0, &[]), Err(tied));
    cache.reset();
    let mut narrow = RefreshCache::<35, 1>::new();
    assert_eq!(narrow.refresh(&stranger, &mut [0; 35], 0, 0, &[1]), Ok(()));
}

/// A list too long to be noted is applied at once, up to `max_active`.
#[test]
fn long_changes_are_right_too() {
    let bytes = sample("chess, mirrored king buckets, output buckets");
    for tier in tiers() {
        let plan = Plan::new(Model::parse(bytes.as_ref()).unwrap(), tier);
        let (old, new): (Vec<u32>, Vec<u32>) = ((0..30).collect(), (100..131).collect());
        let mut stack: Box<Stack<18, 4>> = Box::default();
        stack.set_root(&plan, [&old, &old]).unwrap();
        let few = Change::Features { added: &[700], removed: &[3] };
        stack.push(&plan, [few; 2]).unwrap();
        let most: Vec<u32> = old.iter().copied().filter(|feature| *feature != 3).collect();
        let all = Change::Features { added: &new, removed: &most };
        stack.push(&plan, [all, few_of_another()]).unwrap();
        let mut expected = [0; 18];
        let active: Vec<u32> = new.iter().copied().chain([700]).collect();
        plan.refresh(&mut expected, &active).unwrap();
        assert_eq!(*stack.accumulator(&plan, 0).unwrap(), expected, "{}", tier.name);
    }
}

fn few_of_another() -> Change<'static> {
    Change::Features { added: &[5], removed: &[700] }
}
