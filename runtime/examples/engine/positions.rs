//! Where the bench starts: from games of this engine against itself behind six random plies, from opening to endgame.
//! They hold castling on both sides, promotions, en passant and a draw by the fifty moves within reach.

pub const POSITIONS: [&str; 20] = [
    "rnbq1b1r/pppkpppp/3p1n2/8/5P2/1PN5/P1PPP1PP/R1BQKBNR w KQ - 1 4",
    "rn1qkb1r/pbpppp2/1p3np1/6Bp/3P4/N1P2N2/PP2PPPP/R2QKB1R w KQkq - 3 6",
    "r1bqkb1r/1pp2pp1/p1n4p/3np3/7P/2PP2P1/PP3PB1/RNBQK1NR w KQkq - 0 8",
    "rnbqk2r/1p2ppb1/5n1p/p2p4/3p4/1PP1PN2/PB3PPP/RN1QKB1R w KQkq - 0 9",
    "r1bqk2r/2p1n1pp/2p2p2/p3p3/1b1pP2P/1P1P1P2/P1PBQ1P1/RN2K1NR w KQkq - 2 10",
    "r3kbnr/p1pb1ppp/4p3/1B6/3qp3/8/PPPP1PPP/R1BQK1NR w KQkq - 0 11",
    "3rkb1r/1pp2pp1/p1n1bn1p/4p3/4P3/2N1BP2/PqP1NKPP/3RQB1R w k - 0 13",
    "r3k2r/1pp4p/p2qp1bp/8/2B1P3/2b2N2/P1P2PPP/R2Q1RK1 w kq - 0 14",
    "r1b1kb1r/p3n3/2p1pp2/3p3p/2nPPP2/2N2N2/P3B1PP/R1B2RK1 w - - 0 16",
    "r3k2n/pb2b3/1p3p2/1qpp4/5N2/3P4/PPPBQPP1/R3K3 w Qq - 0 18",
    "r3k2r/1p2n2p/1n5R/pq4B1/4P3/2P3P1/1PQ2P2/R3K3 w Qkq - 0 20",
    "r2qr1k1/1p3p2/2p4p/5n1P/p2P1Np1/6P1/PP1Q1P2/2KRR3 w - - 0 23",
    "3r2k1/7b/p1rNR3/2pn3p/P2p2n1/3P1N2/1PP2PPP/4R1K1 w - - 7 26",
    "4r2k/p1p3b1/2q4p/8/2p2R2/P1N4P/1P2P3/1K1Q4 w - - 0 29",
    "1k6/2pr4/Bp5p/4rb2/8/P3BP2/1P3KP1/2R5 w - - 0 33",
    "b5k1/2rn2p1/p6p/P4p1P/1p1BP3/1P1N1PP1/2p3K1/2R5 w - - 0 37",
    "3r4/p3R3/Pp6/2P2k2/1P5p/5P1p/2K5/8 w - - 0 41",
    "8/5k2/N1p5/Pp1pQ1p1/1P1P1pb1/2q5/5P2/6K1 w - - 0 49",
    "8/k6p/P5p1/8/2KP3P/4r3/4p3/4R3 w - - 2 56",
    "8/6k1/2B2p2/4b1p1/1p2P1Pp/1P1R3P/4K3/7r w - - 47 66",
];
