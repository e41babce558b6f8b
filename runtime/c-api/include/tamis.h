/*
 * Tamis for C and C++: chess networks that follow make and unmake, and other models, with the same numbers on every
 * machine.
 *
 * Made from the sources of runtime/c-api; a test compares. README.md there has a program of fifteen lines.
 *
 * Memory is the caller's. A size function says how much, a load or create function takes it, at a multiple of 64, and
 * gives a handle that points into it. The library allocates nothing, so there is nothing to free: a handle ends when
 * its memory does.
 *
 * What a caller promises:
 * - a pointer is NULL, or points at as many elements as the call says, writable where the call writes;
 * - what one call is given does not overlap;
 * - a handle's memory, and the file that it was loaded from, stay where they are, unchanged from outside, while it is
 *   in use;
 * - a state is used by one thread at a time; a network or a model by any number at once.
 * What else can be wrong, NULL, misaligned pointers, lengths, handles that are none, numbers out of their range, ends
 * in a status.
 */
#ifndef TAMIS_H
#define TAMIS_H

#include <stddef.h>
#include <stdint.h>

/* A variable at a multiple of 64: TAMIS_ALIGNED static unsigned char memory[TAMIS_NET_SIZE]; */
#if defined(__GNUC__)
#define TAMIS_ALIGNED __attribute__((aligned(64)))
#elif defined(_MSC_VER)
#define TAMIS_ALIGNED __declspec(align(64))
#elif defined(__cplusplus)
#define TAMIS_ALIGNED alignas(64)
#else
#define TAMIS_ALIGNED _Alignas(64)
#endif

/* Colours. */
#define TAMIS_WHITE 0u
#define TAMIS_BLACK 1u

/* Kinds of pieces. */
#define TAMIS_PAWN 0u
#define TAMIS_KNIGHT 1u
#define TAMIS_BISHOP 2u
#define TAMIS_ROOK 3u
#define TAMIS_QUEEN 4u
#define TAMIS_KING 5u

/* Feature sets of a shape. */
#define TAMIS_FEATURES_CHESS 1u
#define TAMIS_FEATURES_CHESS_MIRRORED 2u
#define TAMIS_FEATURES_MERGED 3u
#define TAMIS_FEATURES_MERGED_MIRRORED 4u
#define TAMIS_FEATURES_NO_KINGS 5u
#define TAMIS_FEATURES_THREATS 6u
#define TAMIS_FEATURES_THREATS_AND_PAIRS 7u

/* Kinds of input of a model, and elements of a dense one. */
#define TAMIS_INPUT_FEATURES 1u
#define TAMIS_INPUT_DENSE 2u
#define TAMIS_INPUT_SPARSE 3u
#define TAMIS_ELEMENT_U8 1u
#define TAMIS_ELEMENT_I8 2u
#define TAMIS_ELEMENT_I16 3u
#define TAMIS_ELEMENT_F32 5u

#ifdef __cplusplus
extern "C" {
#endif

/* A piece on a square: 384 times the colour, 64 times the kind, and the square, a1, b1 to h8 = 0 to 63. For numbers out
   of these ranges
 * 0xFFFF, which every call refuses. */
static inline uint16_t tamis_piece(uint32_t colour, uint32_t kind, uint32_t square) {
    return colour > 1 || kind > 5 || square > 63 ? 0xFFFFu : (uint16_t)(384 * colour + 64 * kind + square);
}

/* Handles. */
typedef struct tamis_net tamis_net;
typedef struct tamis_state tamis_state;
typedef struct tamis_model tamis_model;

/* The version of this interface. It grows when a program that was compiled with an older header could go wrong;
 * functions and statuses that are added leave it as it is. */
#define TAMIS_ABI_VERSION 2

/* How a call ends. New numbers may be added; a program treats one that it does not know as a failure. */
typedef int32_t tamis_status;

enum {
    /* Done. */
    TAMIS_OK = 0,

    /* A pointer is NULL that must not be. */
    TAMIS_NULL_POINTER = 1,
    /* Memory or a file is not at a multiple of 64, or numbers are not at a multiple of their size. */
    TAMIS_MISALIGNED = 2,
    /* The memory is shorter than the size function says. */
    TAMIS_MEMORY_TOO_SHORT = 3,
    /* The pointer is not one that a load or create function gave. */
    TAMIS_NOT_A_HANDLE = 4,
    /* A colour, a piece, a feature, a bucket, a ply or a count is not one that there is. */
    TAMIS_OUT_OF_RANGE = 5,
    /* No tier of this name runs on this machine; tamis_tier_name lists those that do. */
    TAMIS_UNKNOWN_TIER = 6,
    /* There are more outputs than the array has room for. */
    TAMIS_CAPACITY_TOO_SMALL = 7,
    /* The network's input or output is of another kind than this function's. */
    TAMIS_OTHER_KIND = 8,
    /* An array, or the accumulators of a state, have another length than the network's. */
    TAMIS_WRONG_LENGTH = 9,
    /* Sparse features are not in ascending order, or not as many as the network takes. */
    TAMIS_FEATURE_LIST = 10,

    /* The file is no container; a bare quantised.bin must be packed first. */
    TAMIS_NOT_A_CONTAINER = 20,
    /* The file is shorter or longer than it says. */
    TAMIS_FILE_LENGTH = 21,
    /* The file is of another version, or needs what this library does not have. */
    TAMIS_FILE_VERSION = 22,
    /* The file's checksum is wrong. */
    TAMIS_FILE_DAMAGED = 23,
    /* The file breaks a rule of its format. */
    TAMIS_FILE_MALFORMED = 24,
    /* The network takes no chess features. */
    TAMIS_NOT_CHESS = 25,
    /* The network is not of the shape that the program expects. */
    TAMIS_DIFFERS = 26,

    /* The state has no room for another position. */
    TAMIS_STATE_FULL = 40,
    /* The state has no position, or only its root: refresh it first, and pop only what was pushed. */
    TAMIS_STATE_EMPTY = 41,
    /* The state was refreshed with another network. */
    TAMIS_OTHER_NET = 42,
    /* A piece is to be removed and is not there. */
    TAMIS_PIECE_MISSING = 43,
    /* A piece is to be added and is there already. */
    TAMIS_PIECE_PRESENT = 44,
    /* More pieces than one move changes, or more pieces or features than the network takes. */
    TAMIS_TOO_MANY = 45,

    /* The runtime refuses the call for another reason; the message says which. */
    TAMIS_REFUSED = 60,
    /* A fault of this library; please report it. */
    TAMIS_INTERNAL = 99
};

/* The version that the library was built as. It equals TAMIS_ABI_VERSION, unless the program runs with another library
 * than the one that its header belongs to. */
uint32_t tamis_abi_version(void);

/* A status in words, never NULL; it need not be freed. For a number that is no status, words that say so. */
const char *tamis_status_text(int32_t status);

/* The name of a tier that this machine can run: 0 the slowest, then on to the fastest; NULL behind it. All give the
 * same numbers. */
const char *tamis_tier_name(size_t index);

/* Bytes that a network's handle takes at most; static memory of this length serves every network. The file is not
 * among them. */
#define TAMIS_NET_SIZE 8192

/* What a program compiles in about its network, and host-tools inspect prints. */
typedef struct tamis_shape {
    /* Width of one accumulator. */
    uint32_t hidden;
    /* TAMIS_FEATURES_CHESS, or TAMIS_FEATURES_MERGED where both kings share a plane; with _MIRRORED where the board is
     * turned while the own king stands on files e to h; TAMIS_FEATURES_NO_KINGS where kings are no features;
     * TAMIS_FEATURES_THREATS and TAMIS_FEATURES_THREATS_AND_PAIRS where relations between pieces are features too. */
    uint32_t feature_set;
    /* Number of features: 768 for each king bucket, 704 with merged king planes, 640 without; and the relations. */
    uint32_t features;
    /* Output buckets; 1 for a network without. */
    uint32_t output_buckets;
    /* Numbers that come out: 1, or 3 for win, draw and loss. */
    uint32_t outputs;
} tamis_shape;

/* Bytes that tamis_net_load needs, at most TAMIS_NET_SIZE. */
size_t tamis_net_size(void);

/* Checks a file and makes a network of it: one pass over the file, no copy.
 *
 * memory: at a multiple of 64, tamis_net_size() bytes or more. file: a container at a multiple of 64, which stays
 * there while the network is in use. expected: NULL for any network, or what the program was built for; another
 * network ends in TAMIS_DIFFERS, and the message names the first difference. tier: NULL for the fastest, or a name
 * that tamis_tier_name gives. net: gets the handle. message: NULL, or gets the reason of a failure as text of at most
 * message_len bytes, the zero at its end included.
 *
 * On failure, whatever its reason, the memory and net are as they were, so that a network that they hold goes on: a
 * program may load another file over it. The states of the old network are then refreshed with the new one. */
tamis_status tamis_net_load(
    void *memory,
    size_t memory_len,
    const void *file,
    size_t file_len,
    const tamis_shape *expected,
    const char *tier,
    const tamis_net **net,
    char *message,
    size_t message_len);

/* What the network is. */
tamis_status tamis_net_shape(const tamis_net *net, tamis_shape *shape);

/* TAMIS_OK if the network is what the program was built for, or TAMIS_DIFFERS, and in the message the first
 * difference. */
tamis_status tamis_net_expect(const tamis_net *net, const tamis_shape *expected, char *message, size_t message_len);

/* Entries of a state's cache that the network can use: places of a king that fill an accumulator differently. 0 if it
 * is no handle. */
size_t tamis_net_keys(const tamis_net *net);

/* 1 if the outputs are real numbers, 0 if they are integers or it is no handle. */
uint32_t tamis_net_is_real(const tamis_net *net);

/* The checksum of its file. 0 if it is no handle. */
uint64_t tamis_net_checksum(const tamis_net *net);

/* The name of the tier that runs the network; NULL if it is no handle. */
const char *tamis_net_tier(const tamis_net *net);

/* Bytes that tamis_state_create needs for as many plies, the root included, and cache entries; tamis_net_keys says how
 * many entries are of use. 0 if no memory could hold them or net is no handle. */
size_t tamis_state_size(const tamis_net *net, size_t plies, size_t keys);

/* Makes a state without a position; tamis_state_refresh gives it one.
 *
 * memory: at a multiple of 64, tamis_state_size() bytes or more; what it holds is lost. state: gets the handle, NULL
 * on failure. message: as in tamis_net_load. */
tamis_status tamis_state_create(
    void *memory,
    size_t memory_len,
    const tamis_net *net,
    size_t plies,
    size_t keys,
    tamis_state **state,
    char *message,
    size_t message_len);

/* Forgets the line of play and takes a position as its root: all pieces of the board, kings included, in any order.
 *
 * With another network than before, e.g. one that was loaded meanwhile, it also empties the cache. On failure the
 * state is without a position. */
tamis_status tamis_state_refresh(tamis_state *state, const tamis_net *net, const uint16_t *pieces, size_t pieces_count);

/* Makes a move: the pieces that come and those that go, at most four of each. A capture adds one and removes two, a
 * promotion removes a pawn and adds another piece, castling adds two and removes two. Computes nothing. A piece in
 * both lists is as if it were in neither.
 *
 * On failure the state is as it was. */
tamis_status tamis_state_push(
    tamis_state *state,
    const tamis_net *net,
    const uint16_t *added,
    size_t added_count,
    const uint16_t *removed,
    size_t removed_count);

/* Makes a null move. */
tamis_status tamis_state_push_null(tamis_state *state);

/* Takes the last move back, a null move too. */
tamis_status tamis_state_pop(tamis_state *state);

/* Goes back to the position that many moves behind the root, null moves included, and takes back what came later; at
 * that position already, it does nothing. A search that calls it with a node's own ply before each move of the node,
 * and before it evaluates, needs no pop and may return from anywhere.
 *
 * TAMIS_OUT_OF_RANGE for a ply that the line has not come to. */
tamis_status tamis_state_goto(tamis_state *state, size_t ply);

/* Evaluates the last position for a colour, the one to move: the first output, centipawns for it in most networks; a
 * real output is cut to an integer. */
tamis_status tamis_state_evaluate(tamis_state *state, const tamis_net *net, uint32_t colour, int32_t *score);

/* The same in an output bucket of the caller's choice, for networks whose buckets follow from something else than the
 * number of pieces. TAMIS_OUT_OF_RANGE for a bucket that the network does not have. */
tamis_status tamis_state_evaluate_bucket(
    tamis_state *state,
    const tamis_net *net,
    uint32_t colour,
    uint32_t bucket,
    int32_t *score);

/* All outputs for the last position, of a network whose outputs are integers. count: gets their number, also where the
 * capacity of values is too small for them. */
tamis_status tamis_state_outputs(
    tamis_state *state,
    const tamis_net *net,
    uint32_t colour,
    int32_t *values,
    size_t capacity,
    size_t *count);

/* The same of a network whose outputs are real numbers, for which tamis_net_is_real gives 1. */
tamis_status tamis_state_outputs_f32(
    tamis_state *state,
    const tamis_net *net,
    uint32_t colour,
    float *values,
    size_t capacity,
    size_t *count);

/* Some outputs for the last position, in the order of rows, of a network whose outputs are integers: those of a policy
 * head that a position's moves ask for. values: room for rows_count. TAMIS_OTHER_KIND if the network does not end in
 * a layer with nothing behind it but what is done with each of its sums by itself. */
tamis_status tamis_state_output_rows(
    tamis_state *state,
    const tamis_net *net,
    uint32_t colour,
    const uint32_t *rows,
    size_t rows_count,
    int32_t *values);

/* The same of a network whose outputs are real numbers. */
tamis_status tamis_state_output_rows_f32(
    tamis_state *state,
    const tamis_net *net,
    uint32_t colour,
    const uint32_t *rows,
    size_t rows_count,
    float *values);

/* Moves since the root, null moves included; 0 if it is no handle. */
size_t tamis_state_height(tamis_state *state);

/* Why the last call on this state that failed did so, with the values that it found, e.g. "Nb1 is to be removed and is
 * not there". message: gets text of at most message_len bytes, the zero at its end included. */
tamis_status tamis_state_message(const tamis_state *state, char *message, size_t message_len);

/* Bytes that a model's handle takes at most; static memory of this length serves every model. The file is not among
 * them. */
#define TAMIS_MODEL_SIZE 8192

/* What a model takes and gives. */
typedef struct tamis_model_shape {
    /* TAMIS_INPUT_FEATURES, TAMIS_INPUT_DENSE or TAMIS_INPUT_SPARSE. */
    uint32_t input;
    /* Number of features, or length of a dense input. */
    uint32_t size;
    /* TAMIS_ELEMENT_... of a dense input, TAMIS_ELEMENT_I16 of a sparse one with values, 0 of one without and of
     * features. */
    uint32_t element;
    /* The most features active at once: of features in one perspective. */
    uint32_t max_active;
    /* Width of one accumulator; 0 without features. */
    uint32_t hidden;
    /* 1 or 2 accumulators; 0 without features. */
    uint32_t perspectives;
    /* Output buckets; 1 for a model without. */
    uint32_t output_buckets;
    /* Numbers that come out. */
    uint32_t outputs;
    /* 1 if they are real numbers. */
    uint32_t is_real;
    /* Bytes of the workspace that a run needs, at a multiple of 64. */
    uint32_t workspace_len;
} tamis_model_shape;

/* What a run gives: one of the pointers is NULL. The numbers lie in the workspace, until it is used again. */
typedef struct tamis_output {
    /* Integer outputs. */
    const int32_t *integers;
    /* Real outputs. */
    const float *reals;
    /* How many. */
    size_t count;
} tamis_output;

/* Bytes that tamis_model_load needs, at most TAMIS_MODEL_SIZE. */
size_t tamis_model_size(void);

/* Checks a file and makes a model of it; as tamis_net_load, for any container. */
tamis_status tamis_model_load(
    void *memory,
    size_t memory_len,
    const void *file,
    size_t file_len,
    const char *tier,
    const tamis_model **model,
    char *message,
    size_t message_len);

/* What the model takes and gives. */
tamis_status tamis_model_describe(const tamis_model *model, tamis_model_shape *shape);

/* Fills an accumulator from nothing with the rows of features, which are distinct. len: the model's hidden.
 *
 * On failure the accumulator may hold anything. */
tamis_status tamis_model_refresh(
    const tamis_model *model,
    int16_t *accumulator,
    size_t len,
    const uint32_t *features,
    size_t features_count);

/* Changes an accumulator: that of another position, source, plus the rows that come, less the rows that go. Both are
 * of the same length, the model's hidden, and do not overlap. */
tamis_status tamis_model_update(
    const tamis_model *model,
    int16_t *accumulator,
    const int16_t *source,
    size_t len,
    const uint32_t *added,
    size_t added_count,
    const uint32_t *removed,
    size_t removed_count);

/* Evaluates a model of features from its accumulators: of the side to move, and of the other side, NULL with length 0
 * for a model of one perspective. workspace: at a multiple of 64, as long as the shape says; it has been written
 * before, if only with zeros. */
tamis_status tamis_model_run_accumulators(
    const tamis_model *model,
    const int16_t *own,
    size_t own_len,
    const int16_t *other,
    size_t other_len,
    size_t bucket,
    void *workspace,
    size_t workspace_len,
    tamis_output *output);

/* The same for some of the outputs only, in the order of rows: those of a policy head that a position's moves ask for.
 * What lies before the last layer is computed once, and of that layer these rows alone. TAMIS_OTHER_KIND if the model
 * does not end in a layer with nothing behind it but what is done with each of its sums by itself. */
tamis_status tamis_model_run_accumulators_rows(
    const tamis_model *model,
    const int16_t *own,
    size_t own_len,
    const int16_t *other,
    size_t other_len,
    size_t bucket,
    const uint32_t *rows,
    size_t rows_count,
    void *workspace,
    size_t workspace_len,
    tamis_output *output);

/* Evaluates a model that takes bytes without a sign. len: the model's size. workspace, output: as above. */
tamis_status tamis_model_run_u8(
    const tamis_model *model,
    const uint8_t *input,
    size_t len,
    size_t bucket,
    void *workspace,
    size_t workspace_len,
    tamis_output *output);

/* Evaluates a model that takes signed bytes. */
tamis_status tamis_model_run_i8(
    const tamis_model *model,
    const int8_t *input,
    size_t len,
    size_t bucket,
    void *workspace,
    size_t workspace_len,
    tamis_output *output);

/* Evaluates a model that takes real numbers. */
tamis_status tamis_model_run_f32(
    const tamis_model *model,
    const float *input,
    size_t len,
    size_t bucket,
    void *workspace,
    size_t workspace_len,
    tamis_output *output);

/* Evaluates a model of sparse inputs: the features that are not 0, in ascending order, and as many values, or NULL
 * with values_count 0 for a model without. */
tamis_status tamis_model_run_sparse(
    const tamis_model *model,
    const uint32_t *features,
    size_t features_count,
    const int16_t *values,
    size_t values_count,
    size_t bucket,
    void *workspace,
    size_t workspace_len,
    tamis_output *output);

#ifdef __cplusplus
}
#endif

#endif
