/* A network in mapped memory: from its file, where all processes share the pages, and a copy in pages of its own.
 *
 *     map quantised.bin
 *
 * A mapping starts at a page, and pages of 4, 16, 32 or 64 KiB are all multiples of the 64 bytes that a network wants,
 * so nothing here depends on their size. */

#define _DEFAULT_SOURCE /* madvise and MAP_ANONYMOUS, which C99 and POSIX lack */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tamis.h>

/* Where a huge page may start, on most machines. */
#define HUGE ((size_t)1 << 21)

TAMIS_ALIGNED static unsigned char net_memory[2][TAMIS_NET_SIZE];

static void *refuse(const char *what) {
    perror(what);
    exit(1);
}

/* A file's bytes, read from it where a page is touched first; the file may be closed, and must not be changed. */
static const unsigned char *map_file(const char *path, size_t *len) {
    const int file = open(path, O_RDONLY);
    struct stat status;
    void *bytes;
    if (file < 0 || fstat(file, &status) != 0)
        refuse(path);
    *len = (size_t)status.st_size;
    bytes = *len > 0 ? mmap(NULL, *len, PROT_READ, MAP_SHARED, file, 0) : refuse("an empty file");
    close(file);
    return (const unsigned char *)(bytes != MAP_FAILED ? bytes : refuse("mmap"));
}

/* A copy that lies at a huge page's start. Its pages come from the NUMA node of the thread that writes them first: on a
 * machine with several nodes a thread that is bound to each makes a copy, loads it into a handle of its own, and shares
 * that handle with the node's other threads. */
static const unsigned char *copy_of(const unsigned char *bytes, size_t len) {
    unsigned char *room = (unsigned char *)mmap(NULL, len + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                                                -1, 0);
    if ((void *)room == MAP_FAILED)
        refuse("mmap");
    room += HUGE - (size_t)room % HUGE;
#ifdef MADV_HUGEPAGE
    madvise(room, len, MADV_HUGEPAGE); /* a wish: without it the pages are small, and the numbers the same */
#endif
    memcpy(room, bytes, len);
    mprotect(room, len, PROT_READ); /* nobody writes into a network */
    return room;
}

static const tamis_net *load(unsigned char *memory, const unsigned char *bytes, size_t len) {
    const tamis_net *net = NULL;
    char why[256];
    if (tamis_net_load(memory, TAMIS_NET_SIZE, bytes, len, NULL, NULL, &net, why, sizeof why) != TAMIS_OK) {
        fprintf(stderr, "%s\n", why);
        exit(1);
    }
    return net;
}

/* Two kings, white to move. */
static int32_t score_of(const tamis_net *net) {
    const uint16_t kings[] = {tamis_piece(TAMIS_WHITE, TAMIS_KING, 4), tamis_piece(TAMIS_BLACK, TAMIS_KING, 60)};
    const size_t room = tamis_state_size(net, 1, 0);
    void *memory = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    tamis_state *state;
    int32_t score = 0;
    char why[256];
    if (memory == MAP_FAILED)
        refuse("mmap");
    if (tamis_state_create(memory, room, net, 1, 0, &state, why, sizeof why) != TAMIS_OK ||
        tamis_state_refresh(state, net, kings, 2) != TAMIS_OK ||
        tamis_state_evaluate(state, net, TAMIS_WHITE, &score) != TAMIS_OK) {
        fprintf(stderr, "the network cannot be evaluated\n");
        exit(1);
    }
    munmap(memory, room);
    return score;
}

int main(int argc, char **argv) {
    const unsigned char *file;
    size_t len;
    if (argc != 2)
        return fprintf(stderr, "usage: map FILE\n"), 2;
    file = map_file(argv[1], &len);
    printf("mapped %d\n", (int)score_of(load(net_memory[0], file, len)));
    printf("copied %d\n", (int)score_of(load(net_memory[1], copy_of(file, len), len)));
    return 0;
}
