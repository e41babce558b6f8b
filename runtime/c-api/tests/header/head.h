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
