/*
 * Runs any model on inputs that follow from its shape, prints what comes out, and tries what must be refused.
 *
 *     models FILE [TIER]
 *
 * A test in Rust makes the same inputs. Reals are printed as their bits.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis.h>

enum { MOST = 4096 };

TAMIS_ALIGNED static unsigned char file[1 << 20];
TAMIS_ALIGNED static unsigned char memory[TAMIS_MODEL_SIZE];
TAMIS_ALIGNED static unsigned char workspace[1 << 20];

static const tamis_model *model;
static tamis_model_shape shape;

static void must(int line, tamis_status found, tamis_status expected) {
    if (found != expected) {
        printf("models.c:%d: found %d (%s), expected %d\n", line, (int)found, tamis_status_text(found), (int)expected);
        exit(1);
    }
}
#define MUST(call, expected) must(__LINE__, (call), (expected))

static void print(const char *what, const tamis_output *output) {
    size_t index;
    uint32_t bits;
    printf("%s", what);
    if (output->count != shape.outputs || (output->reals != NULL) != shape.is_real)
        printf(" outputs differ from the shape");
    for (index = 0; index < output->count; index++) {
        if (output->integers != NULL) {
            printf(" %ld", (long)output->integers[index]);
        } else {
            memcpy(&bits, &output->reals[index], sizeof bits);
            printf(" %08lx", (unsigned long)bits);
        }
    }
    printf("\n");
}

/* The last output and the first, where outputs can be computed alone. */
static void rows(const char *what, const int16_t *own, const int16_t *other, size_t other_len, size_t bucket) {
    const uint32_t list[2] = {shape.outputs - 1, 0}, none = shape.outputs;
    const uint32_t all = shape.outputs;
    tamis_output output;
    const tamis_status status = tamis_model_run_accumulators_rows(model, own, shape.hidden, other, other_len, bucket,
        list, 1 + (all > 1), workspace, sizeof workspace, &output);
    if (status == TAMIS_OTHER_KIND) {
        printf("%s: no rows\n", what);
        return;
    }
    MUST(status, TAMIS_OK);
    shape.outputs = 1 + (all > 1);
    print(what, &output);
    shape.outputs = all;
    MUST(tamis_model_run_accumulators_rows(model, own, shape.hidden, other, other_len, bucket, &none, 1, workspace,
                                           sizeof workspace, &output),
         TAMIS_OUT_OF_RANGE);
    MUST(tamis_model_run_accumulators_rows(model, own, shape.hidden, other, other_len, bucket, NULL, 1, workspace,
                                           sizeof workspace, &output),
         TAMIS_NULL_POINTER);
}

static void features(size_t bucket) {
    static int16_t own[MOST], other[MOST], moved[MOST];
    uint32_t list[3], none = shape.size;
    const size_t len = shape.hidden, other_len = shape.perspectives == 2 ? len : 0;
    const size_t count = shape.max_active < 2 ? shape.max_active : 2;
    tamis_output output;
    list[0] = 0, list[1] = 1 % shape.size, list[2] = shape.size - 1;
    MUST(tamis_model_refresh(model, own, len, list, count), TAMIS_OK);
    MUST(tamis_model_refresh(model, other, len, list + 2, count / 2), TAMIS_OK);
    MUST(tamis_model_run_accumulators(model, own, len, other_len ? other : NULL, other_len, bucket, workspace,
         sizeof workspace, &output),
         TAMIS_OK);
    print("root", &output);
    MUST(tamis_model_update(model, moved, own, len, list + 2, 1, list, 1), TAMIS_OK);
    MUST(tamis_model_run_accumulators(model, moved, len, other_len ? other : NULL, other_len, bucket, workspace,
                                      sizeof workspace, &output),
         TAMIS_OK);
    print("moved", &output);
    rows("rows", moved, other_len ? other : NULL, other_len, bucket);

    MUST(tamis_model_refresh(model, own, len - 1, list, count), TAMIS_WRONG_LENGTH);
    MUST(tamis_model_refresh(model, own, len, &none, 1), TAMIS_OUT_OF_RANGE);
    MUST(tamis_model_refresh(model, own, len, NULL, 1), TAMIS_NULL_POINTER);
    MUST(tamis_model_refresh(model, NULL, len, list, 1), TAMIS_NULL_POINTER);
    MUST(tamis_model_update(model, moved, NULL, len, list, 1, list, 1), TAMIS_NULL_POINTER);
    MUST(tamis_model_run_accumulators(model, own, len - 1, other, other_len, bucket, workspace, sizeof workspace,
         &output), TAMIS_WRONG_LENGTH);
}

static void others(size_t bucket) {
    static uint8_t bytes[MOST];
    static int8_t signed_bytes[MOST];
    static float reals[MOST];
    static uint32_t list[MOST];
    static int16_t values[MOST];
    const size_t size = shape.size;
    const size_t most = shape.max_active < shape.size ? shape.max_active : shape.size;
    const size_t count = shape.input == TAMIS_INPUT_SPARSE ? most : 0;
    const size_t values_count = shape.element != 0 ? count : 0;
    tamis_output output;
    size_t index;
    tamis_status status = TAMIS_REFUSED;
    for (index = 0; index < size; index++) {
        bytes[index] = (uint8_t)((37 * index + 11) % 128);
        signed_bytes[index] = (int8_t)((int)bytes[index] - 64);
        reals[index] = (float)signed_bytes[index] / 8;
    }
    for (index = 0; index < count; index++) {
        list[index] = (uint32_t)(size - count + index);
        values[index] = (int16_t)(index % 16);
    }
    if (shape.input == TAMIS_INPUT_SPARSE)
        status = tamis_model_run_sparse(model, list, count, values_count ? values : NULL, values_count, bucket,
                                        workspace, sizeof workspace, &output);
    else if (shape.element == TAMIS_ELEMENT_U8)
        status = tamis_model_run_u8(model, bytes, size, bucket, workspace, sizeof workspace, &output);
    else if (shape.element == TAMIS_ELEMENT_I8)
        status = tamis_model_run_i8(model, signed_bytes, size, bucket, workspace, sizeof workspace, &output);
    else if (shape.element == TAMIS_ELEMENT_F32)
        status = tamis_model_run_f32(model, reals, size, bucket, workspace, sizeof workspace, &output);
    MUST(status, TAMIS_OK);
    print("run", &output);

    if (shape.input == TAMIS_INPUT_DENSE && shape.element == TAMIS_ELEMENT_I8) {
        MUST(tamis_model_run_i8(model, signed_bytes, size + 1, bucket, workspace, sizeof workspace, &output),
             TAMIS_WRONG_LENGTH);
        MUST(tamis_model_run_i8(model, NULL, size, bucket, workspace, sizeof workspace, &output), TAMIS_NULL_POINTER);
        MUST(tamis_model_run_i8(model, signed_bytes, size, bucket, workspace, sizeof workspace, NULL),
             TAMIS_NULL_POINTER);
        MUST(tamis_model_run_i8(model, signed_bytes, size, bucket, NULL, sizeof workspace, &output),
             TAMIS_NULL_POINTER);
        MUST(tamis_model_run_i8(model, signed_bytes, size, bucket, workspace + 1, sizeof workspace - 1, &output),
             TAMIS_MISALIGNED);
        MUST(tamis_model_run_i8(model, signed_bytes, size, bucket, workspace, shape.workspace_len - 1, &output),
             TAMIS_MEMORY_TOO_SHORT);
        MUST(tamis_model_run_i8(model, signed_bytes, size, shape.output_buckets, workspace, sizeof workspace, &output),
             TAMIS_OUT_OF_RANGE);
        MUST(tamis_model_run_u8(model, bytes, size, bucket, workspace, sizeof workspace, &output), TAMIS_OTHER_KIND);
    }
    if (count > 1) {
        list[1] = list[0];
        MUST(tamis_model_run_sparse(model, list, count, values_count ? values : NULL, values_count, bucket, workspace,
                                    sizeof workspace, &output),
             TAMIS_FEATURE_LIST);
    }
}

int main(int argc, char **argv) {
    char why[256];
    size_t len = 0;
    FILE *in = argc < 2 ? NULL : fopen(argv[1], "rb");
    if (in == NULL || (len = fread(file, 1, sizeof file, in)) == 0)
        return fprintf(stderr, "usage: models FILE [TIER]\n"), 2;
    fclose(in);
    MUST(tamis_model_load(memory, sizeof memory, file, len - 1, NULL, &model, why, sizeof why), TAMIS_FILE_LENGTH);
    MUST(tamis_model_describe(model, &shape), TAMIS_NULL_POINTER);
    MUST(tamis_model_describe((const tamis_model *)(const void *)file, &shape), TAMIS_NOT_A_HANDLE);
    MUST(tamis_model_load(memory, tamis_model_size(), file, len, argc > 2 ? argv[2] : NULL, &model, why, sizeof why),
         TAMIS_OK);
    MUST(tamis_model_describe(model, NULL), TAMIS_NULL_POINTER);
    MUST(tamis_model_describe(model, &shape), TAMIS_OK);
    if (shape.size > MOST || shape.hidden > MOST || shape.max_active > MOST || shape.workspace_len > sizeof workspace)
        return fprintf(stderr, "models: too large for this program\n"), 2;
    if (shape.input == TAMIS_INPUT_FEATURES)
        features(shape.output_buckets - 1);
    else
        others(shape.output_buckets - 1);
    return 0;
}
