/* Counts the instructions that a guest runs between marks, exactly: a plugin of QEMU.
 *
 *     -plugin libcount.so,out=FILE[,profile=FILE][,low=ADDRESS,high=ADDRESS][,from=ADDRESS,to=ADDRESS]
 *
 * out: a line for every stretch between marks, in the order in which they ran: its number of instructions. Then, if
 * `low` and
 *   `high` are given, "deepest ADDRESS", the lowest address from `low` to `high` that was written to: how deep the
 *   stack went.
 * profile: lines "STRETCH ADDRESS COUNT", for every instruction of a stretch that ran.
 *
 * from, to: where a function of an AArch64 program begins and ends; a stretch is then from its first instruction to a
 *   return out of it.
 *
 * The marks are those of programs/src/mark.rs elsewhere. An instruction that a condition skips counts, and a vector
 * instruction counts once: these are instructions, not cycles.
 *
 * QEMU's packages bring no header, so the part of version 1 of its interface that is used here is declared here. A QEMU
 * with another version refuses to load this, and one without plugins does not know the option; ../run then says that
 * nothing was counted.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VISIBLE __attribute__((visibility("default")))

typedef uint64_t plugin_id;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { NO_REGISTERS = 0, WRITES = 2 };

typedef void on_translation(plugin_id, struct qemu_plugin_tb *);
typedef void on_execution(unsigned cpu, void *record);
typedef void on_access(unsigned cpu, uint32_t info, uint64_t address, void *nothing);
typedef void on_end(plugin_id, void *nothing);

void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, on_translation *);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, on_execution *, int registers, void *record);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, on_access *, int registers, int accesses,
                                      void *nothing);
void qemu_plugin_register_atexit_cb(plugin_id, on_end *, void *nothing);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);

VISIBLE int qemu_plugin_version = 1;

/* An instruction of translated code. One that is translated again has another record; who reads the profile adds
   them up. */
struct record {
    uint64_t address, count;
    struct record *next;
};

static struct record *records;
static bool counting;
static uint64_t count;
static unsigned stretch;
static uint64_t low, high, deepest = UINT64_MAX;
static FILE *out, *profile;

static void execute(unsigned cpu, void *record)
{
    (void)cpu;
    if (counting) {
        count++;
        ((struct record *)record)->count++;
    }
}

static void begin(unsigned cpu, void *nothing)
{
    (void)cpu, (void)nothing;
    counting = true;
    count = 0;
}

static void end(unsigned cpu, void *nothing)
{
    (void)cpu, (void)nothing;
    if (!counting)
        return;
    counting = false;
    fprintf(out, "%" PRIu64 "\n", count);
    for (struct record *record = records; record; record = record->next) {
        if (record->count && profile)
            fprintf(profile, "%u %" PRIx64 " %" PRIu64 "\n", stretch, record->address, record->count);
        record->count = 0;
    }
    stretch++;
}

static void write_to(unsigned cpu, uint32_t info, uint64_t address, void *nothing)
{
    (void)cpu, (void)info, (void)nothing;
    if (address >= low && address < high && address < deepest)
        deepest = address;
}

/* Of a Thumb instruction four bytes before the end of a page, QEMU 7.2 hands out the next one's bytes, too. No longer
 * instruction begins with a mark. */
static bool is(struct qemu_plugin_insn *insn, const char *bytes, size_t len)
{
    return qemu_plugin_insn_size(insn) >= len && memcmp(qemu_plugin_insn_data(insn), bytes, len) == 0;
}

static bool arm;
static uint64_t from, to;

static bool begins(struct qemu_plugin_insn *insn)
{
    if (to)
        return qemu_plugin_insn_vaddr(insn) == from;
    return arm ? is(insn, "\xd2\x46", 2) : is(insn, "\x13\x20\x10\x7a", 4); /* mov r10, r10; slti x0, x0, 0x7a1 */
}

static bool ends(struct qemu_plugin_insn *insn)
{
    if (to) {
        uint64_t address = qemu_plugin_insn_vaddr(insn);
        return address > from && address < to && is(insn, "\xc0\x03\x5f\xd6", 4); /* ret */
    }
    return arm ? is(insn, "\xdb\x46", 2) : is(insn, "\x13\x20\x20\x7a", 4); /* mov r11, r11; slti x0, x0, 0x7a2 */
}

static void translate(plugin_id id, struct qemu_plugin_tb *block)
{
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(block, i);
        on_execution *what = execute;
        struct record *record = NULL;
        if (begins(insn)) {
            what = begin;
        } else if (ends(insn)) {
            what = end;
        } else {
            record = calloc(1, sizeof *record);
            if (!record)
                abort();
            record->address = qemu_plugin_insn_vaddr(insn);
            record->next = records;
            records = record;
        }
        qemu_plugin_register_vcpu_insn_exec_cb(insn, what, NO_REGISTERS, record);
        if (high)
            qemu_plugin_register_vcpu_mem_cb(insn, write_to, NO_REGISTERS, WRITES, NULL);
    }
}

static void finish(plugin_id id, void *nothing)
{
    (void)id, (void)nothing;
    if (high)
        fprintf(out, "deepest %" PRIx64 "\n", deepest);
    fclose(out);
    if (profile)
        fclose(profile);
}

static const char *after(const char *argument, const char *name)
{
    size_t len = strlen(name);
    return strncmp(argument, name, len) == 0 ? argument + len : NULL;
}

/* `info` begins with the name of the guest's architecture. */
VISIBLE int qemu_plugin_install(plugin_id id, const char *const *info, int argc, char **argv)
{
    arm = strcmp(*info, "arm") == 0;
    for (int i = 0; i < argc; i++) {
        const char *value;
        if ((value = after(argv[i], "out=")))
            out = fopen(value, "w");
        else if ((value = after(argv[i], "profile=")))
            profile = fopen(value, "w");
        else if ((value = after(argv[i], "low=")))
            low = strtoull(value, NULL, 0);
        else if ((value = after(argv[i], "high=")))
            high = strtoull(value, NULL, 0);
        else if ((value = after(argv[i], "from=")))
            from = strtoull(value, NULL, 0);
        else if ((value = after(argv[i], "to=")))
            to = strtoull(value, NULL, 0);
        else
            return fprintf(stderr, "count: what is '%s'?\n", argv[i]), 1;
    }
    if (!out)
        return fprintf(stderr, "count: out=FILE is missing, or cannot be written\n"), 1;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
    qemu_plugin_register_atexit_cb(id, finish, NULL);
    return 0;
}
