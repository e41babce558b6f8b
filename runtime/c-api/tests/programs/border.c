/*
 * What the border refuses, and that it allocates nothing. As C99 and as C++17.
 *
 *     border NET OTHER_NET
 *
 * NET has one output, an integer, output buckets and 768 features; OTHER_NET another width and real outputs.
 * Linked with --wrap for the functions that allocate, so that every call of them from the library is counted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis.h>

enum { PLIES = 4, KEYS = 1 };

TAMIS_ALIGNED static unsigned char file[16 << 20];
TAMIS_ALIGNED static unsigned char other_file[16 << 20];
TAMIS_ALIGNED static unsigned char net_memory[TAMIS_NET_SIZE + 64];
TAMIS_ALIGNED static unsigned char second_memory[TAMIS_NET_SIZE];
TAMIS_ALIGNED static unsigned char state_memory[1 << 20];
TAMIS_ALIGNED static unsigned char copy_memory[1 << 20];
TAMIS_ALIGNED static unsigned char zeros[4096];
static const uint32_t first_row = 0, no_row = 1;

static char message[256];
static int checks, failures, allocations;

#ifdef __cplusplus
extern "C" {
#endif
void *__real_malloc(size_t len);
void *__real_calloc(size_t count, size_t len);
void *__real_realloc(void *old, size_t len);
int __real_posix_memalign(void **place, size_t align, size_t len);
void *__wrap_malloc(size_t len);
void *__wrap_calloc(size_t count, size_t len);
void *__wrap_realloc(void *old, size_t len);
int __wrap_posix_memalign(void **place, size_t align, size_t len);

void *__wrap_malloc(size_t len) {
    allocations++;
    return __real_malloc(len);
}
void *__wrap_calloc(size_t count, size_t len) {
    allocations++;
    return __real_calloc(count, len);
}
void *__wrap_realloc(void *old, size_t len) {
    allocations++;
    return __real_realloc(old, len);
}
int __wrap_posix_memalign(void **place, size_t align, size_t len) {
    allocations++;
    return __real_posix_memalign(place, align, len);
}
#ifdef __cplusplus
}
#endif

static void check(int line, const char *what, long found, long expected) {
    checks++;
    if (found != expected) {
        failures++;
        printf("border.c:%d: %s: found %ld, expected %ld (%s)\n", line, what, found, expected, message);
    }
}

/* The status of a call; and every failure has words. */
#define CHECK(call, expected) check(__LINE__, #call, (long)(call), (long)(expected))
#define SAYS(text) check(__LINE__, "the message has: " text, strstr(message, text) != NULL, 1)

static size_t read_file(const char *path, unsigned char *to, size_t room) {
    const int before = allocations;
    FILE *in = fopen(path, "rb");
    size_t len = in == NULL ? 0 : fread(to, 1, room, in);
    if (len == 0 || len == room) {
        fprintf(stderr, "border: %s cannot be read, or is too long\n", path);
        exit(2);
    }
    fclose(in);
    allocations = before; /* the C library's own do not count */
    return len;
}

static tamis_status load(const void *bytes, size_t len, const tamis_net **net) {
    return tamis_net_load(net_memory, sizeof net_memory, bytes, len, NULL, NULL, net, message, sizeof message);
}

static void files(size_t len) {
    const tamis_net *net = (const tamis_net *)net_memory;
    size_t cut;
    CHECK(load(file, len, &net), TAMIS_OK);
    CHECK((const void *)net == (const void *)net_memory, 1);
    CHECK(message[0], 0);

    CHECK(load(NULL, len, &net), TAMIS_NULL_POINTER);
    CHECK((const void *)net == (const void *)net_memory, 1);
    CHECK(load(file, (size_t)-1, &net), TAMIS_OUT_OF_RANGE);
    CHECK(load(file, 0, &net), TAMIS_FILE_LENGTH);
    SAYS("truncated");
    CHECK(load(file, len - 1, &net), TAMIS_FILE_LENGTH);
    SAYS("truncated");
    CHECK(load(file, len + 1, &net), TAMIS_FILE_LENGTH);
    for (cut = 0; cut < 1000; cut++)
        CHECK(load(file, cut, &net) != TAMIS_OK && (const void *)net == (const void *)net_memory, 1);
    CHECK(load(zeros, sizeof zeros, &net), TAMIS_NOT_A_CONTAINER);
    SAYS("00 00 00");
    memmove(other_file + 4, file, len);
    CHECK(load(other_file + 4, len, &net), TAMIS_MISALIGNED);
    SAYS("4 bytes past a multiple of 64");
    memmove(other_file, file, len);
    other_file[len / 2] ^= 1;
    CHECK(load(other_file, len, &net), TAMIS_FILE_DAMAGED);
    SAYS("checksum");
    memcpy(other_file, file, len);
    other_file[12] ^= 0x40;
    CHECK(load(other_file, len, &net), TAMIS_FILE_VERSION);
    SAYS("version");

    /* The network that the memory held before those failures is still one. */
    CHECK(tamis_net_keys(net), 1);
}

/* Another file over a network that is in use: what is not expected leaves it what it was. */
static void expectations(size_t len, const char *other_path) {
    const tamis_net *net = NULL;
    tamis_shape shape, other;
    uint64_t checksum;
    const size_t other_len = read_file(other_path, other_file, sizeof other_file);
    CHECK(load(file, len, &net), TAMIS_OK);
    CHECK(tamis_net_shape(net, &shape), TAMIS_OK);
    checksum = tamis_net_checksum(net);
    CHECK(tamis_net_load(net_memory, sizeof net_memory, file, len, &shape, NULL, &net, message, sizeof message),
          TAMIS_OK);
    CHECK(tamis_net_load(net_memory, sizeof net_memory, other_file, other_len, &shape, NULL, &net, message,
                         sizeof message),
          TAMIS_DIFFERS);
    SAYS("width of an accumulator: the file has 256, this program was built for 128");
    other = shape, other.outputs = 3;
    CHECK(tamis_net_load(net_memory, sizeof net_memory, file, len, &other, NULL, &net, message, sizeof message),
          TAMIS_DIFFERS);
    SAYS("this program was built for 3");
    CHECK(tamis_net_load(net_memory, sizeof net_memory, file, len, (const tamis_shape *)(const void *)(zeros + 1),
                         NULL, &net, message, sizeof message),
          TAMIS_MISALIGNED);
    CHECK((const void *)net == (const void *)net_memory && tamis_net_checksum(net) == checksum, 1);
    /* Without an expectation the other file takes its place. */
    CHECK(load(other_file, other_len, &net), TAMIS_OK);
    CHECK(tamis_net_checksum(net) != checksum, 1);
    CHECK(load(file, len, &net), TAMIS_OK);
    CHECK(tamis_net_checksum(net) == checksum, 1);
}

static void memories(size_t len) {
    const tamis_net *net = NULL;
    const size_t size = tamis_net_size();
    CHECK(size > 0 && size <= TAMIS_NET_SIZE && size % 64 == 0, 1);
    CHECK(tamis_net_load(NULL, size, file, len, NULL, NULL, &net, message, sizeof message), TAMIS_NULL_POINTER);
    CHECK(tamis_net_load(net_memory + 8, size, file, len, NULL, NULL, &net, message, sizeof message),
          TAMIS_MISALIGNED);
    CHECK(tamis_net_load(net_memory, size - 1, file, len, NULL, NULL, &net, message, sizeof message),
          TAMIS_MEMORY_TOO_SHORT);
    CHECK(tamis_net_load(net_memory, size, file, len, NULL, NULL, NULL, message, sizeof message), TAMIS_NULL_POINTER);
    CHECK(tamis_net_load(net_memory, size, file, len, NULL, NULL, (const tamis_net **)(void *)(zeros + 1), message,
          sizeof message), TAMIS_MISALIGNED);
    CHECK(tamis_net_load(net_memory, size, file, len, NULL, "abacus", &net, message, sizeof message),
          TAMIS_UNKNOWN_TIER);
    SAYS("tamis_tier_name");
    CHECK(tamis_net_load(net_memory, size, file, len, NULL, "", &net, NULL, 0), TAMIS_UNKNOWN_TIER);
    CHECK(tamis_net_load(net_memory, size, file, len, NULL,
                         "a name that is longer than the name of any tier that there will ever be", &net, message, 1),
          TAMIS_UNKNOWN_TIER);
    CHECK(message[0], 0);
    CHECK(tamis_net_load(net_memory, size, file, len, NULL, "scalar", &net, NULL, 100), TAMIS_OK);
    CHECK(strcmp(tamis_net_tier(net), "scalar"), 0);
}

static void shapes(const tamis_net *net) {
    tamis_shape shape, other;
    CHECK(tamis_net_shape(net, &shape), TAMIS_OK);
    CHECK(tamis_net_shape(net, NULL), TAMIS_NULL_POINTER);
    CHECK(tamis_net_expect(net, &shape, message, sizeof message), TAMIS_OK);
    CHECK(tamis_net_expect(net, NULL, message, sizeof message), TAMIS_NULL_POINTER);
    CHECK(shape.feature_set == TAMIS_FEATURES_CHESS && shape.features == 768 && shape.outputs == 1, 1);
    other = shape, other.hidden++;
    CHECK(tamis_net_expect(net, &other, message, sizeof message), TAMIS_DIFFERS);
    SAYS("width of an accumulator");
    other = shape, other.feature_set = TAMIS_FEATURES_CHESS_MIRRORED;
    CHECK(tamis_net_expect(net, &other, message, sizeof message), TAMIS_DIFFERS);
    SAYS("feature set");
    other = shape, other.features = 0xffffffffu;
    CHECK(tamis_net_expect(net, &other, message, sizeof message), TAMIS_DIFFERS);
    SAYS("number of features");
    other = shape, other.output_buckets = 1;
    CHECK(tamis_net_expect(net, &other, message, sizeof message), TAMIS_DIFFERS);
    SAYS("output buckets");
    other = shape, other.outputs = 3;
    CHECK(tamis_net_expect(net, &other, message, sizeof message), TAMIS_DIFFERS);
    SAYS("this program was built for 3");
    CHECK(tamis_net_is_real(net), 0);
    CHECK(tamis_net_checksum(net) != 0, 1);
}

static void not_handles(const tamis_net *net) {
    tamis_state *none = (tamis_state *)(void *)zeros;
    const tamis_net *no_net = (const tamis_net *)(const void *)zeros;
    tamis_state *state = NULL;
    tamis_shape shape;
    int32_t score;
    CHECK(tamis_net_shape(NULL, &shape), TAMIS_NULL_POINTER);
    CHECK(tamis_net_shape(no_net, &shape), TAMIS_NOT_A_HANDLE);
    CHECK(tamis_net_shape((const tamis_net *)(const void *)(net_memory + 8), &shape), TAMIS_NOT_A_HANDLE);
    CHECK(tamis_net_keys(no_net), 0);
    CHECK(tamis_net_checksum(NULL), 0);
    CHECK(tamis_net_is_real(no_net), 0);
    CHECK(tamis_net_tier(no_net) == NULL, 1);
    CHECK(tamis_state_size(no_net, PLIES, KEYS), 0);
    CHECK(tamis_state_create(state_memory, sizeof state_memory, no_net, PLIES, KEYS, &state, message, sizeof message),
          TAMIS_NOT_A_HANDLE);
    CHECK(tamis_state_refresh(none, net, NULL, 0), TAMIS_NOT_A_HANDLE);
    CHECK(tamis_state_push(none, net, NULL, 0, NULL, 0), TAMIS_NOT_A_HANDLE);
    CHECK(tamis_state_push_null(none), TAMIS_NOT_A_HANDLE);
    CHECK(tamis_state_pop(NULL), TAMIS_NULL_POINTER);
    CHECK(tamis_state_goto(none, 0), TAMIS_NOT_A_HANDLE);
    CHECK(tamis_state_evaluate(none, net, TAMIS_WHITE, &score), TAMIS_NOT_A_HANDLE);
    CHECK(tamis_state_height(none), 0);
    CHECK(tamis_state_message(none, message, sizeof message), TAMIS_NOT_A_HANDLE);
    /* A handle of the other kind. */
    CHECK(tamis_state_pop((tamis_state *)(void *)net_memory), TAMIS_NOT_A_HANDLE);
}

static tamis_state *create(const tamis_net *net) {
    tamis_state *state = NULL;
    const size_t size = tamis_state_size(net, PLIES, KEYS);
    CHECK(size > 0 && size <= sizeof state_memory, 1);
    CHECK(tamis_state_size(net, (size_t)-1, KEYS), 0);
    CHECK(tamis_state_size(net, PLIES, (size_t)-1 / 512), 0);
    CHECK(tamis_state_create(state_memory, size - 1, net, PLIES, KEYS, &state, message, sizeof message),
          TAMIS_MEMORY_TOO_SHORT);
    CHECK(tamis_state_create(state_memory, size, net, (size_t)-1, KEYS, &state, message, sizeof message),
          TAMIS_OUT_OF_RANGE);
    CHECK(tamis_state_create(state_memory + 1, size, net, PLIES, KEYS, &state, message, sizeof message),
          TAMIS_MISALIGNED);
    CHECK(tamis_state_create(NULL, size, net, PLIES, KEYS, &state, message, sizeof message), TAMIS_NULL_POINTER);
    CHECK(tamis_state_create(state_memory, size, net, PLIES, KEYS, NULL, message, sizeof message), TAMIS_NULL_POINTER);
    CHECK(state == NULL, 1);
    memset(state_memory, 0xa5, sizeof state_memory);
    CHECK(tamis_state_create(state_memory, size, net, PLIES, KEYS, &state, message, sizeof message), TAMIS_OK);
    CHECK((void *)state == (void *)state_memory && state_memory[size] == 0xa5, 1);
    return state;
}

static void line(const tamis_net *net, tamis_state *state) {
    const uint16_t kings[] = {tamis_piece(TAMIS_WHITE, TAMIS_KING, 4), tamis_piece(TAMIS_BLACK, TAMIS_KING, 60)};
    const uint16_t pawn = tamis_piece(TAMIS_WHITE, TAMIS_PAWN, 12), far = tamis_piece(TAMIS_WHITE, TAMIS_PAWN, 28);
    const uint16_t no_piece = 768, five[] = {0, 1, 2, 3, 4};
    const uint16_t last = tamis_piece(TAMIS_WHITE, TAMIS_PAWN, 59), queen = tamis_piece(TAMIS_WHITE, TAMIS_QUEEN, 59);
    const uint16_t toggled[] = {last, queen, pawn, last};
    const uint16_t pieces[] = {kings[0], kings[1], pawn};
    uint16_t all[768];
    int32_t root, score = 7, values[2] = {0, 0};
    float reals[2];
    size_t count = 0;
    unsigned index;

    CHECK(tamis_state_evaluate(state, net, TAMIS_WHITE, &score), TAMIS_STATE_EMPTY);
    CHECK(tamis_state_push(state, net, &far, 1, &pawn, 1), TAMIS_STATE_EMPTY);
    CHECK(tamis_state_push_null(state), TAMIS_STATE_EMPTY);
    CHECK(tamis_state_pop(state), TAMIS_STATE_EMPTY);
    CHECK(tamis_state_goto(state, 0), TAMIS_STATE_EMPTY);
    CHECK(tamis_state_refresh(state, net, NULL, 3), TAMIS_NULL_POINTER);
    CHECK(tamis_state_refresh(state, net, (const uint16_t *)(const void *)(zeros + 1), 3), TAMIS_MISALIGNED);
    CHECK(tamis_state_refresh(state, net, pieces, (size_t)-1), TAMIS_TOO_MANY);
    CHECK(tamis_state_refresh(state, net, &no_piece, 1), TAMIS_OUT_OF_RANGE);
    CHECK(tamis_state_refresh(state, NULL, pieces, 3), TAMIS_NULL_POINTER);
    for (index = 0; index < 768; index++)
        all[index] = (uint16_t)index;
    CHECK(tamis_state_refresh(state, net, all, 64), TAMIS_TOO_MANY);
    all[1] = all[0];
    CHECK(tamis_state_refresh(state, net, all, 2), TAMIS_PIECE_PRESENT);
    CHECK(tamis_state_evaluate(state, net, TAMIS_WHITE, &score), TAMIS_STATE_EMPTY);

    CHECK(tamis_state_refresh(state, net, pieces, 3), TAMIS_OK);
    CHECK(tamis_state_evaluate(state, net, 2, &score), TAMIS_OUT_OF_RANGE);
    CHECK(tamis_state_evaluate(state, net, TAMIS_WHITE, NULL), TAMIS_NULL_POINTER);
    CHECK(tamis_state_evaluate(state, net, TAMIS_WHITE, (int32_t *)(void *)(zeros + 2)), TAMIS_MISALIGNED);
    CHECK(score, 7);
    CHECK(tamis_state_evaluate(state, net, TAMIS_WHITE, &root), TAMIS_OK);
    /* The reference network has a bucket for every four pieces, and three are in its first. */
    CHECK(tamis_state_evaluate_bucket(state, net, TAMIS_WHITE, 0, &score), TAMIS_OK);
    CHECK(score, root);
    CHECK(tamis_state_evaluate_bucket(state, net, TAMIS_WHITE, 7, &score), TAMIS_OK);
    CHECK(score != root, 1);
    score = 7;
    CHECK(tamis_state_evaluate_bucket(state, net, TAMIS_WHITE, 8, &score), TAMIS_OUT_OF_RANGE);
    CHECK(score, 7);
    CHECK(tamis_state_outputs(state, net, TAMIS_WHITE, values, 0, &count), TAMIS_CAPACITY_TOO_SMALL);
    CHECK(count, 1);
    CHECK(tamis_state_outputs(state, net, TAMIS_WHITE, values, 2, &count), TAMIS_OK);
    CHECK(count == 1 && values[0] == root && values[1] == 0, 1);
    CHECK(tamis_state_outputs_f32(state, net, TAMIS_WHITE, reals, 2, &count), TAMIS_OTHER_KIND);
    values[0] = 0;
    CHECK(tamis_state_output_rows(state, net, TAMIS_WHITE, &no_row, 1, values), TAMIS_OUT_OF_RANGE);
    CHECK(tamis_state_output_rows(state, net, TAMIS_WHITE, NULL, 1, values), TAMIS_NULL_POINTER);
    CHECK(tamis_state_output_rows_f32(state, net, TAMIS_WHITE, &first_row, 1, reals), TAMIS_OTHER_KIND);
    CHECK(values[0], 0);
    CHECK(tamis_state_output_rows(state, net, TAMIS_WHITE, &first_row, 1, values), TAMIS_OK);
    CHECK(values[0] == root && values[1] == 0, 1);

    CHECK(tamis_state_push(state, net, &pawn, 1, &far, 1), TAMIS_PIECE_MISSING);
    CHECK(tamis_state_message(state, message, sizeof message), TAMIS_OK);
    SAYS("Pe4 is to be removed and is not there");
    CHECK(tamis_state_push(state, net, NULL, 0, kings, 1), TAMIS_PIECE_MISSING);
    CHECK(tamis_state_push(state, net, &pawn, 1, NULL, 0), TAMIS_PIECE_PRESENT);
    CHECK(tamis_state_push(state, net, five, 5, NULL, 0), TAMIS_TOO_MANY);
    CHECK(tamis_state_push(state, net, NULL, 1, NULL, 0), TAMIS_NULL_POINTER);
    CHECK(tamis_state_push(state, net, &no_piece, 1, NULL, 0), TAMIS_OUT_OF_RANGE);
    CHECK(tamis_state_height(state), 0);
    CHECK(tamis_state_push(state, net, &far, 1, &pawn, 1), TAMIS_OK);
    CHECK(tamis_state_push_null(state), TAMIS_OK);
    CHECK(tamis_state_push_null(state), TAMIS_OK);
    CHECK(tamis_state_push_null(state), TAMIS_STATE_FULL);

    /* A copy of the memory is a state of its own. */
    memcpy(copy_memory, state_memory, tamis_state_size(net, PLIES, KEYS));
    CHECK(tamis_state_height((tamis_state *)(void *)copy_memory), 3);
    CHECK(tamis_state_pop((tamis_state *)(void *)copy_memory), TAMIS_OK);
    CHECK(tamis_state_evaluate((tamis_state *)(void *)copy_memory, net, TAMIS_WHITE, &score), TAMIS_OK);
    CHECK(tamis_state_height((tamis_state *)(void *)copy_memory), 2);

    CHECK(tamis_state_message(state, message, sizeof message), TAMIS_OK);
    SAYS("it has 4 plies");
    CHECK(tamis_state_height(state), 3);
    CHECK(tamis_state_goto(state, 4), TAMIS_OUT_OF_RANGE);
    CHECK(tamis_state_message(state, message, sizeof message), TAMIS_OK);
    SAYS("goes back to ply 4, and the line has 0 to 3");
    CHECK(tamis_state_goto(state, 3), TAMIS_OK);
    CHECK(tamis_state_goto(state, 2), TAMIS_OK);
    CHECK(tamis_state_height(state), 2);
    CHECK(tamis_state_goto(state, 0), TAMIS_OK);
    CHECK(tamis_state_evaluate(state, net, TAMIS_WHITE, &score), TAMIS_OK);
    CHECK(score, root);
    /* A pawn that is put on its last square and taken off it again, by a promotion that is made of toggles. */
    CHECK(tamis_state_push(state, net, toggled, 2, toggled + 2, 2), TAMIS_OK);
    CHECK(tamis_state_goto(state, 0), TAMIS_OK);
    CHECK(tamis_state_push(state, net, &far, 1, &pawn, 1), TAMIS_OK);
    CHECK(tamis_state_push_null(state) || tamis_state_push_null(state), 0);
    CHECK(tamis_state_pop(state) || tamis_state_pop(state) || tamis_state_pop(state), 0);
    CHECK(tamis_state_pop(state), TAMIS_STATE_EMPTY);
    CHECK(tamis_state_evaluate(state, net, TAMIS_WHITE, &score), TAMIS_OK);
    CHECK(score, root);
    CHECK(tamis_state_message(state, message, 3), TAMIS_OK);
    CHECK(strlen(message), 2);
    CHECK(tamis_state_message(state, NULL, 3), TAMIS_OK);
}

/* Every tier gives the same number; a state that was refreshed with one network is refused by another. */
static void tiers_and_other_nets(const tamis_net *net, tamis_state *state, size_t len, const char *other_path) {
    const uint16_t pieces[] = {tamis_piece(TAMIS_WHITE, TAMIS_KING, 4), tamis_piece(TAMIS_BLACK, TAMIS_KING, 60)};
    const tamis_net *second = NULL;
    int32_t expected, score;
    size_t index, count = 0;
    float reals[4] = {0, 0, 0, 0};
    tamis_shape shape;
    const char *tier;
    CHECK(tamis_state_refresh(state, net, pieces, 2), TAMIS_OK);
    CHECK(tamis_state_evaluate(state, net, TAMIS_BLACK, &expected), TAMIS_OK);
    for (index = 0; (tier = tamis_tier_name(index)) != NULL; index++) {
        CHECK(tamis_net_load(second_memory, sizeof second_memory, file, len, NULL, tier, &second, message,
                             sizeof message),
              TAMIS_OK);
        CHECK(strcmp(tamis_net_tier(second), tier), 0);
        CHECK(tamis_state_refresh(state, second, pieces, 2), TAMIS_OK);
        CHECK(tamis_state_evaluate(state, second, TAMIS_BLACK, &score), TAMIS_OK);
        CHECK(score, expected);
    }
    CHECK(index >= 2, 1);
    CHECK(tamis_tier_name((size_t)-1) == NULL, 1);

    len = read_file(other_path, other_file, sizeof other_file);
    CHECK(tamis_net_load(second_memory, sizeof second_memory, other_file, len, NULL, NULL, &second, message,
                         sizeof message),
          TAMIS_OK);
    CHECK(tamis_state_evaluate(state, second, TAMIS_BLACK, &score), TAMIS_OTHER_NET);
    CHECK(tamis_state_refresh(state, second, pieces, 2), TAMIS_WRONG_LENGTH);
    CHECK(tamis_state_create(state_memory, sizeof state_memory, second, PLIES, tamis_net_keys(second), &state, message,
                             sizeof message),
          TAMIS_OK);
    CHECK(tamis_state_refresh(state, second, pieces, 2), TAMIS_OK);
    CHECK(tamis_net_is_real(second), 1);
    CHECK(tamis_net_shape(second, &shape), TAMIS_OK);
    CHECK(tamis_state_outputs_f32(state, second, TAMIS_BLACK, reals, 4, &count), TAMIS_OK);
    CHECK(count, shape.outputs);
    CHECK(tamis_state_evaluate(state, second, TAMIS_BLACK, &score), TAMIS_OK);
    CHECK(score, (int32_t)reals[0]);
    CHECK(tamis_state_output_rows_f32(state, second, TAMIS_BLACK, &first_row, 1, reals + 1), TAMIS_OK);
    CHECK(reals[1] == reals[0], 1);
    CHECK(tamis_state_outputs(state, second, TAMIS_BLACK, &score, 1, &count), TAMIS_OTHER_KIND);
}

static void pieces(void) {
    unsigned colour, kind, square, number = 0;
    for (colour = TAMIS_WHITE; colour <= TAMIS_BLACK; colour++)
        for (kind = TAMIS_PAWN; kind <= TAMIS_KING; kind++)
            for (square = 0; square < 64; square++)
                CHECK(tamis_piece(colour, kind, square), number++);
    CHECK(tamis_piece(2, TAMIS_PAWN, 0), 0xFFFF);
    CHECK(tamis_piece(TAMIS_WHITE, 6, 0), 0xFFFF);
    CHECK(tamis_piece(TAMIS_WHITE, TAMIS_PAWN, 64), 0xFFFF);
}

int main(int argc, char **argv) {
    const tamis_net *net = NULL;
    size_t len;
    if (argc != 3) {
        fprintf(stderr, "usage: border NET OTHER_NET\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IONBF, 0);
    len = read_file(argv[1], file, sizeof file);
    CHECK(tamis_abi_version(), TAMIS_ABI_VERSION);
    CHECK(strcmp(tamis_status_text(TAMIS_OK), "done"), 0);
    CHECK(strlen(tamis_status_text(-5)) > 0, 1);
    pieces();
    files(len);
    expectations(len, argv[2]);
    memories(len);
    CHECK(load(file, len, &net), TAMIS_OK);
    shapes(net);
    not_handles(net);
    line(net, create(net));
    tiers_and_other_nets(net, create(net), len, argv[2]);
    CHECK(allocations, 0);
    printf("%d checks, %d failures, %d allocations\n", checks, failures, allocations);
    return failures != 0;
}
