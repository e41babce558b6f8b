/*
 * Plays a game and prints what the network thinks of each position, for the side to move: accumulators follow the
 * moves. At the end it fills them anew, and takes all moves back; both must lead to the same numbers.
 *
 *     game [--net FILE] [--tier NAME] [MOVE ...]
 *
 * Moves are e2e4, e1c1 for castling and a7a8q for a promotion; without any it plays a famous game. Without --net it
 * takes the network that was embedded when it was built. It knows how pieces move no more than it must: give it legal
 * moves.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis.h>

extern const unsigned char embedded_net[];
extern const unsigned char embedded_net_end[];

enum { PLIES = 256, EMPTY = -1 };

/* All memory of the program. */
TAMIS_ALIGNED static unsigned char net_memory[TAMIS_NET_SIZE];
TAMIS_ALIGNED static unsigned char state_memory[8 << 20];
TAMIS_ALIGNED static unsigned char file_memory[64 << 20];

/* Morphy against the Duke of Brunswick and Count Isouard, Paris 1858. */
static const char *const opera[] = {
    "e2e4", "e7e5", "g1f3", "d7d6", "d2d4", "c8g4", "d4e5", "g4f3", "d1f3", "d6e5", "f1c4",
    "g8f6", "f3b3", "d8e7", "b1c3", "c7c6", "c1g5", "b7b5", "c3b5", "c6b5", "c4b5", "b8d7",
    "e1c1", "a8d8", "d1d7", "d8d7", "h1d1", "e7e6", "b5d7", "f6d7", "b3b8", "d7b8", "d1d8"};

/* What stands on a square: 6 times the colour and the kind, or EMPTY. */
static int board[64];
static tamis_state *state;

static void fail(const char *what, const char *why) {
    fprintf(stderr, "game: %s: %s\n", what, why);
    exit(1);
}

/* Ends the program unless a call on the state went well. */
static void must(const char *what, tamis_status status) {
    char why[256];
    if (status == TAMIS_OK)
        return;
    if (tamis_state_message(state, why, sizeof why) != TAMIS_OK)
        fail(what, tamis_status_text(status));
    fail(what, why);
}

static uint16_t piece_at(int piece, int square) {
    return tamis_piece((uint32_t)piece / 6, (uint32_t)piece % 6, (uint32_t)square);
}

static void set_board(void) {
    static const uint32_t back[8] = {TAMIS_ROOK, TAMIS_KNIGHT, TAMIS_BISHOP, TAMIS_QUEEN,
                                     TAMIS_KING, TAMIS_BISHOP, TAMIS_KNIGHT, TAMIS_ROOK};
    int file, square;
    for (square = 16; square < 48; square++)
        board[square] = EMPTY;
    for (file = 0; file < 8; file++) {
        board[file] = (int)back[file];
        board[8 + file] = TAMIS_PAWN;
        board[48 + file] = 6 + TAMIS_PAWN;
        board[56 + file] = 6 + (int)back[file];
    }
}

static size_t pieces_of_board(uint16_t *pieces) {
    size_t count = 0;
    int square;
    for (square = 0; square < 64; square++)
        if (board[square] != EMPTY)
            pieces[count++] = piece_at(board[square], square);
    return count;
}

/* The pieces that a move adds and removes; the board follows. */
struct change {
    uint16_t added[2], removed[2];
    size_t added_count, removed_count;
};

static void take(struct change *change, int square) {
    if (board[square] != EMPTY)
        change->removed[change->removed_count++] = piece_at(board[square], square);
    board[square] = EMPTY;
}

static void put(struct change *change, int piece, int square) {
    change->added[change->added_count++] = piece_at(piece, square);
    board[square] = piece;
}

static int square_of(const char *text) {
    int file = text[0] - 'a', rank = text[1] - '1';
    if (file < 0 || file > 7 || rank < 0 || rank > 7)
        fail(text, "no square");
    return 8 * rank + file;
}

static struct change make(const char *move) {
    static const char promotions[] = "nbrq";
    struct change change = {{0, 0}, {0, 0}, 0, 0};
    int from, to, piece;
    if (strlen(move) < 4 || strlen(move) > 5)
        fail(move, "not a move such as e2e4 or a7a8q");
    from = square_of(move), to = square_of(move + 2), piece = board[from];
    if (piece == EMPTY || from == to)
        fail(move, "nothing moves");
    if (piece % 6 == TAMIS_PAWN && from % 8 != to % 8 && board[to] == EMPTY)
        take(&change, from / 8 * 8 + to % 8); /* en passant */
    else
        take(&change, to);
    take(&change, from);
    if (piece % 6 == TAMIS_KING && abs(from % 8 - to % 8) == 2) { /* castling: the rook, too */
        int corner = to % 8 == 6 ? to + 1 : to - 2, rook = board[corner];
        take(&change, corner);
        put(&change, rook, (from + to) / 2);
    }
    if (move[4] != '\0') {
        const char *kind = strchr(promotions, move[4]);
        if (kind == NULL)
            fail(move, "a pawn becomes n, b, r or q");
        piece = piece / 6 * 6 + TAMIS_KNIGHT + (int)(kind - promotions);
    }
    put(&change, piece, to);
    return change;
}

static size_t read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    size_t len;
    if (file == NULL)
        fail(path, "cannot be opened");
    len = fread(file_memory, 1, sizeof file_memory, file);
    fclose(file);
    return len;
}

int main(int argc, char **argv) {
    const void *file = embedded_net;
    size_t file_len = (size_t)(embedded_net_end - embedded_net);
    const char *tier = NULL, *const *moves = opera;
    size_t move_count = sizeof opera / sizeof opera[0], pieces_count, keys, ply;
    const tamis_net *net;
    tamis_status status;
    tamis_shape shape;
    uint16_t pieces[64];
    int32_t scores[PLIES], again;
    char why[256];
    int argument = 1;

    if (tamis_abi_version() != TAMIS_ABI_VERSION)
        fail("libtamis", "another version than the header's");
    for (; argument + 1 < argc && strncmp(argv[argument], "--", 2) == 0; argument += 2) {
        if (strcmp(argv[argument], "--net") == 0)
            file_len = read_file(argv[argument + 1]), file = file_memory;
        else if (strcmp(argv[argument], "--tier") == 0)
            tier = argv[argument + 1];
        else
            fail(argv[argument], "not an option; there are --net FILE and --tier NAME");
    }
    if (argument < argc)
        moves = (const char *const *)(argv + argument), move_count = (size_t)(argc - argument);
    if (move_count >= PLIES)
        fail("game", "too long");

    status = tamis_net_load(net_memory, sizeof net_memory, file, file_len, NULL, tier, &net, why, sizeof why);
    if (status != TAMIS_OK)
        fail(tamis_status_text(status), why);
    keys = tamis_net_keys(net);
    status = tamis_state_create(state_memory, sizeof state_memory, net, PLIES, keys, &state, why, sizeof why);
    if (status != TAMIS_OK)
        fail(tamis_status_text(status), why);
    must("shape", tamis_net_shape(net, &shape));
    printf("tier %s, width %u, output buckets %u\n", tamis_net_tier(net), (unsigned)shape.hidden,
           (unsigned)shape.output_buckets);

    set_board();
    pieces_count = pieces_of_board(pieces);
    must("refresh", tamis_state_refresh(state, net, pieces, pieces_count));
    must("evaluate", tamis_state_evaluate(state, net, TAMIS_WHITE, &scores[0]));
    printf("start %d\n", (int)scores[0]);
    for (ply = 0; ply < move_count; ply++) {
        struct change change = make(moves[ply]);
        must(moves[ply], tamis_state_push(state, net, change.added, change.added_count, change.removed,
                                          change.removed_count));
        must(moves[ply], tamis_state_evaluate(state, net, (uint32_t)(ply + 1) % 2, &scores[ply + 1]));
        printf("%s %d\n", moves[ply], (int)scores[ply + 1]);
    }

    /* A null move: the same pieces, the other side to move. */
    must("null move", tamis_state_push_null(state));
    must("evaluate", tamis_state_evaluate(state, net, (uint32_t)move_count % 2, &again));
    if (again != scores[move_count])
        fail("null move", "another number for the same position and side");
    must("evaluate", tamis_state_evaluate(state, net, (uint32_t)(move_count + 1) % 2, &again));
    printf("null %d\n", (int)again);
    must("pop", tamis_state_pop(state));

    /* Back through the line, without evaluating anything anew but what is asked. */
    for (ply = move_count; ply-- > 0;) {
        must("pop", tamis_state_pop(state));
        must("evaluate", tamis_state_evaluate(state, net, (uint32_t)ply % 2, &again));
        if (again != scores[ply])
            fail("pop", "another number than on the way there");
    }
    pieces_count = pieces_of_board(pieces);
    must("refresh", tamis_state_refresh(state, net, pieces, pieces_count));
    must("evaluate", tamis_state_evaluate(state, net, (uint32_t)move_count % 2, &again));
    if (again != scores[move_count])
        fail("refresh", "another number than move by move");
    printf("all moves taken back, and the last position filled anew: the same numbers\n");
    return 0;
}
