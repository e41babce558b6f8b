//! What networks and states refuse, and that they are then as they were.

use super::board::Board;
use super::{MIRRORED, REFERENCE, own_network, sample};
use tamis_quant::run::AlignedBytes;
use tamis_runtime::RunError;
use tamis_runtime::engine::{
    AnyNetwork, AnyState, Colour, Expected, Features, Kind, LoadError, Network, Piece, State, StateError,
};
use tests::sample_models::Random;

#[test]
fn a_network_of_another_kind_is_refused_by_name() {
    let bytes = sample("chess, mirrored king buckets, output buckets");
    let refused = |expected: Expected| Network::<18>::load(bytes.as_ref(), &expected).unwrap_err().to_string();
    assert!(Network::<18>::load(bytes.as_ref(), &MIRRORED).is_ok());
    let width = Network::<32>::load(bytes.as_ref(), &MIRRORED).unwrap_err().to_string();
    assert!(width.contains("width of an accumulator: the file has 18, this program was built for 32"), "{width}");
    for (expected, what) in [
        (
            Expected { features: Features::HALF_KA_V2_HM, ..MIRRORED },
            "features of a king bucket: the file has 768, this program was built for 704",
        ),
        (Expected { features: Features::king_buckets(3).mirrored(), ..MIRRORED }, "king buckets: the file has 2"),
        (Expected { features: Features::king_buckets(2), ..MIRRORED }, "mirroring"),
        (Expected { output_buckets: 8, ..MIRRORED }, "output buckets: the file has 4, this program was built for 8"),
        (Expected { outputs: 3, ..MIRRORED }, "outputs: the file has 1"),
    ] {
        assert!(refused(expected).contains(what), "{}", refused(expected));
    }
    let lists = sample("i8 feature rows");
    assert_eq!(AnyNetwork::load(lists.as_ref()).unwrap_err(), LoadError::NotChess);
    assert!(matches!(AnyNetwork::load(&bytes.as_ref()[..64]).unwrap_err(), LoadError::Parse(_)));
}

#[test]
fn what_a_state_refuses_leaves_it_as_it_was() {
    let (bytes, other) = (own_network("nnue", "reference"), own_network("layers", "reference-layers"));
    let net = Network::<128>::load(bytes.as_ref(), &REFERENCE).unwrap();
    let stranger = AnyNetwork::load(other.as_ref()).unwrap();
    let mut state = Box::new(State::<128, 3>::new());
    assert_eq!(state.push(&net, &[], &[]), Err(RunError::StackEmpty.into()));
    assert_eq!(state.push_null(), Err(RunError::StackEmpty));
    assert_eq!(state.pop(), Err(RunError::StackEmpty));
    assert_eq!(state.goto(0), Err(RunError::StackEmpty.into()));
    assert_eq!(state.evaluate(&net, Colour::White), Err(RunError::StackEmpty));

    let (king, pawn) = (Piece::new(Colour::White, Kind::King, 4), Piece::new(Colour::White, Kind::Pawn, 12));
    let twice = StateError::Piece { piece: pawn, is_added: true };
    assert_eq!(state.refresh(&net, [pawn, king, pawn]), Err(twice));
    assert_eq!(twice.to_string(), "Pe2 is to be added and is there already");
    assert_eq!(state.evaluate(&net, Colour::White), Err(RunError::StackEmpty));
    let crowd = (0..33).map(|square| Piece::new(Colour::Black, Kind::Pawn, square));
    assert_eq!(state.refresh(&net, crowd), Err(RunError::TooManyFeatures { found: 33, limit: 32 }.into()));

    state.refresh(&net, [king, pawn]).unwrap();
    let before = state.evaluate(&net, Colour::White).unwrap();
    let gone = Piece::new(Colour::Black, Kind::Queen, 3);
    let missing = |piece| StateError::Piece { piece, is_added: false };
    assert_eq!(state.push(&net, &[pawn.at(28)], &[gone]), Err(missing(gone)));
    assert_eq!(state.push(&net, &[pawn], &[]), Err(twice));
    assert_eq!(state.push(&net, &[pawn; 5], &[]), Err(StateError::TooManyPieces { found: 5, limit: 4 }));
    // A king that went in one move and came in the next would leave its accumulator where it was.
    let alone = Err(StateError::LoneKing { colour: Colour::White });
    assert_eq!(state.push(&net, &[], &[king]), alone);
    assert_eq!(state.push(&net, &[king.at(5)], &[]), alone);
    let second = StateError::Piece { piece: king.at(6), is_added: true };
    assert_eq!(state.push(&net, &[king.at(5), king.at(6)], &[king]), Err(second));
    assert_eq!((state.height(), state.evaluate(&net, Colour::White)), (0, Ok(before)));
    // A move is the difference of its lists, also where a piece is in both that is not there.
    let queen = Piece::new(Colour::White, Kind::Queen, 60);
    assert_eq!(state.push(&net, &[pawn.at(60), pawn], &[pawn.at(60)]), Err(twice));
    assert_eq!(state.push(&net, &[pawn.at(60)], &[gone, pawn.at(60)]), Err(missing(gone)));
    assert_eq!(state.push(&net, &[king], &[king, king]), alone);
    assert_eq!(state.goto(1), Err(StateError::Ply { found: 1, last: 0 }));
    assert_eq!((state.height(), state.evaluate(&net, Colour::White)), (0, Ok(before)));
    state.push(&net, &[pawn.at(60), queen], &[pawn, pawn.at(60)]).unwrap();
    assert!(state.pieces().eq([queen, king]));
    state.goto(0).unwrap();
    assert!(state.pieces().eq([pawn, king]));

    state.push(&net, &[pawn.at(28)], &[pawn]).unwrap();
    state.push_null().unwrap();
    assert_eq!(state.push_null(), Err(RunError::StackFull { limit: 3 }));
    assert_eq!(state.push(&net, &[], &[]), Err(RunError::StackFull { limit: 3 }.into()));
    state.pop().unwrap();
    state.pop().unwrap();
    assert_eq!((state.pop(), state.evaluate(&net, Colour::White)), (Err(RunError::StackEmpty), Ok(before)));

    let layers = Network::<256>::load(other.as_ref(), &REFERENCE).unwrap();
    let mut narrow = Box::new(State::<256, 3, 1, 64>::new());
    let needs = layers.any().plan().model().workspace_len_bytes();
    assert_eq!(narrow.refresh(&layers, [king]), Err(RunError::Workspace { found: 64, expected: needs }.into()));

    let mut memory = AlignedBytes::zeroed(AnyState::len_bytes(net.any(), 3, 1).unwrap());
    let mut any = AnyState::create(net.any(), memory.as_mut(), 3, 1).unwrap();
    any.refresh(net.any(), [king, pawn]).unwrap();
    let identities = (net.any().plan().identity(), stranger.plan().identity());
    let tied = RunError::OtherModel { found: identities.0, expected: identities.1 };
    assert_eq!(any.evaluate(&stranger, Colour::White), Err(tied));
    assert_eq!(any.push(&stranger, &[], &[]), Err(tied.into()));
    let width = RunError::Length { what: "accumulator of the state", found: 128, expected: 256 };
    assert_eq!(any.refresh(&stranger, [king]), Err(width.into()));
}

#[test]
fn memory_that_holds_no_state_is_refused() {
    let bytes = own_network("nnue", "reference");
    let net = AnyNetwork::load(bytes.as_ref()).unwrap();
    let len = AnyState::len_bytes(&net, 8, 1).unwrap();
    let mut memory = AlignedBytes::zeroed(len + 64);
    assert!(matches!(AnyState::open(memory.as_mut()), Err(RunError::Workspace { .. })));
    let short = AnyState::create(&net, &mut memory.as_mut()[..len - 1], 8, 1).unwrap_err();
    assert_eq!(short, RunError::Workspace { found: len - 1, expected: len });
    let odd = AnyState::create(&net, &mut memory.as_mut()[8..], 8, 1).unwrap_err();
    assert_eq!(odd, RunError::WorkspaceAlignment { remainder: 8 });
    assert_eq!(AnyState::len_bytes(&net, usize::MAX, 1), None);
    assert!(AnyState::create(&net, memory.as_mut(), usize::MAX, 1).is_err());

    let pieces = Board::start(&mut Random(1)).0;
    let mut state = AnyState::create(&net, memory.as_mut(), 8, 1).unwrap();
    state.refresh(&net, pieces.iter().copied()).unwrap();
    let score = state.evaluate(&net, Colour::White).unwrap();
    // Taken up again, it goes on; whatever the first bytes become, opening does not panic.
    assert_eq!(AnyState::open(memory.as_mut()).unwrap().evaluate(&net, Colour::White), Ok(score));
    let saved = memory.as_ref().to_vec();
    let mut random = Random(9);
    for byte in 0..40 {
        for _ in 0..8 {
            memory.as_mut()[byte] = random.draw() as u8;
            if let Ok(mut state) = AnyState::open(memory.as_mut()) {
                let _ = state.evaluate(&net, Colour::White);
            }
            memory.as_mut().copy_from_slice(&saved);
        }
    }
}

#[test]
fn a_side_has_one_king_and_null_moves_have_an_end() {
    let bytes = sample("chess, mirrored king buckets, output buckets");
    let net = AnyNetwork::load(bytes.as_ref()).unwrap();
    let plies = 70_000;
    let mut memory = AlignedBytes::zeroed(AnyState::len_bytes(&net, plies, 1).unwrap());
    let mut state = AnyState::create(&net, memory.as_mut(), plies, 1).unwrap();
    let (first, second) = (Piece::new(Colour::Black, Kind::King, 0), Piece::new(Colour::Black, Kind::King, 7));
    let refused = StateError::Piece { piece: second, is_added: true };
    assert_eq!(state.refresh(&net, [first, second]), Err(refused));
    assert_eq!(refused.to_string(), "kh1 is to be added, and a king of its colour is there already");
    state.refresh(&net, [first]).unwrap();
    state.push(&net, &[first.at(63)], &[first]).unwrap();
    let score = state.evaluate(&net, Colour::White).unwrap();
    let made = (0..plies).take_while(|_| state.push_null().is_ok()).count();
    assert_eq!(made, usize::from(u16::MAX));
    for _ in 0..made {
        state.pop().unwrap();
    }
    assert_eq!((state.height(), state.evaluate(&net, Colour::White)), (1, Ok(score)));
}
