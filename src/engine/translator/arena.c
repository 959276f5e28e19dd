#include "engine/translator/arena.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/tsc.h"
#include "engine/engine.h"
#include "recording/flags.h"
#include "runtime/translator/log/clock_state.h"
#include "runtime/translator/syscalls/reservation.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Some programs place what they need at fixed addresses (sanitizers leave 1.5 TB to others), so the
 * arena is kept below a terabyte, and small where only one process is traced. */
static const uint64_t log_size = UINT64_C(256) << 20;
static const uint64_t table_size = UINT64_C(128) << 20;
static const uint64_t dump_size = UINT64_C(16) << 30;
static const uint64_t slots_size = UINT64_C(256) << 30; /* of all of them, at most */
enum { TABLES_OF_ONE = 64, SLOTS_OF_ONE = 64 };

static const uint64_t least_ring = UINT64_C(64) << 10, largest_ring = UINT64_C(1) << 36;

static uint64_t in_pages(uint64_t size)
{
    return (size + TR_PAGE - 1) / TR_PAGE * TR_PAGE;
}

/* Lays out the parts, whose sizes and numbers are set. Returns the size of the whole. */
static uint64_t lay_out(struct tr_geometry *geometry)
{
    geometry->table_offset = geometry->log_offset + geometry->log_size;
    geometry->dump_offset = geometry->table_offset + geometry->table_count * geometry->table_size;
    geometry->slot_offset = geometry->dump_offset + geometry->dump_size;
    return geometry->slot_offset + geometry->slot_count * geometry->slot_size;
}

/* Both we and the programs map the arena whole, and have other needs. */
static uint64_t largest_arena(void)
{
    enum { SHARE = 4 };
    struct rlimit limit;
    bool limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return limited ? limit.rlim_cur / SHARE : UINT64_MAX;
}

static struct tr_geometry plan(const struct tr_options *options, uint64_t *size)
{
    struct tr_geometry geometry = {
        .log_offset = TR_IMAGE_OFFSET + TR_IMAGE_LIMIT +
                      in_pages(options->selected_count * sizeof(struct tr_trigger_place)),
        .log_size = log_size,
        .table_size = table_size,
        .table_count = options->follow ? TR_MOST_TABLES : TABLES_OF_ONE,
        .slot_size = TR_SLOT_RING + options->ring_size + TR_SLOT_GUARD,
        .slot_count = options->follow || options->multi_thread ? TR_MOST_SLOTS : SLOTS_OF_ONE,
        .dump_size = dump_size,
    };
    while (geometry.slot_count > 4 && geometry.slot_count * geometry.slot_size > slots_size)
        geometry.slot_count /= 2;
    *size = lay_out(&geometry);
    for (unsigned halvings = 0; halvings < 6 && *size > largest_arena(); halvings++) {
        geometry.log_size /= 2;
        geometry.dump_size /= 2;
        geometry.table_count = (geometry.table_count + 1) / 2;
        geometry.slot_count = (geometry.slot_count + 1) / 2;
        *size = lay_out(&geometry);
    }
    return geometry;
}

static void publish_layout(struct tr_control *control, const struct tr_geometry *geometry,
                           uint64_t size)
{
    control->arena_size = size;
    control->selected_offset = TR_IMAGE_OFFSET + TR_IMAGE_LIMIT;
    control->log_offset = geometry->log_offset;
    control->log_size = geometry->log_size;
    control->table_offset = geometry->table_offset;
    control->table_size = geometry->table_size;
    control->slot_offset = geometry->slot_offset;
    control->slot_size = geometry->slot_size;
    control->dump_offset = geometry->dump_offset;
    control->dump_size = geometry->dump_size;
    control->table_count = geometry->table_count;
    control->slot_count = geometry->slot_count;
}

static bool map(struct translator_arena *arena, struct error *error)
{
    void *mapped = mmap(NULL, arena->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                        arena->descriptor, 0);
    if (mapped == MAP_FAILED)
        return error_set_errno(
            error, ERROR_IO, errno,
            "cannot map %s of %llu bytes (see ulimit -v; a smaller " FLAG_SNAPSHOT_SIZE
            " needs less)",
            arena->path, (unsigned long long)arena->size);
    arena->bytes = mapped;
    arena->control = mapped;
    arena->file = mapped_file_at(mapped);
    return true;
}

static void remember_slots(struct translator_arena *arena)
{
    const struct tr_geometry *geometry = &arena->geometry;
    arena->readable = memory_allocate_zeroed(
        ((size_t)geometry->slot_count + geometry->table_count) * sizeof *arena->readable);
}

/* What is written before any program runs gets its disk space here; the runtime reserves the rest.
 */
static bool create_file(struct translator_arena *arena, struct error *error)
{
    arena->descriptor = file_create_private(arena->path, error);
    if (arena->descriptor < 0)
        return false;
    uint64_t head = arena->geometry.log_offset;
    int failed = posix_fallocate(arena->descriptor, 0, (off_t)head);
    if (failed == ENOSPC || failed == EDQUOT)
        return error_set(error, ERROR_IO,
                         "cannot make %s: the disk is full. Free some space, or record into "
                         "another folder.",
                         arena->path);
    if (failed && failed != EFBIG)
        return error_set_errno(error, ERROR_IO, failed, "cannot allocate space for %s",
                               arena->path);
    if (!failed && ftruncate(arena->descriptor, (off_t)arena->size) != 0)
        failed = errno;
    if (failed)
        return error_set_errno(error, ERROR_IO, failed,
                               "cannot make %s a sparse file of %llu bytes (see ulimit -f; some "
                               "file systems allow no such files: record into another folder)",
                               arena->path, (unsigned long long)arena->size);
    return map(arena, error);
}

static bool make_folder(const char *directory, const char *name, struct error *error)
{
    char *path = memory_format("%s/%s", directory, name);
    bool ok = file_make_directories(path, error);
    free(path);
    return ok;
}

static bool check_ring_size(const struct tr_options *options, const char *path, struct error *error)
{
    uint64_t size = options->ring_size;
    return (size >= least_ring && size <= largest_ring && (size & (size - 1)) == 0) ||
           error_set(error, ERROR_FORMAT,
                     "%s: a ring of %llu bytes per thread, which is no power of two from %llu to "
                     "%llu",
                     path, (unsigned long long)size, (unsigned long long)least_ring,
                     (unsigned long long)largest_ring);
}

bool translator_arena_create(struct translator_arena *arena, const char *directory,
                             const struct tr_options *options, struct error *error)
{
    *arena = (struct translator_arena){.options = *options, .descriptor = -1};
    arena->path = memory_format("%s/translator/arena", directory);
    arena->geometry = plan(options, &arena->size);
    remember_slots(arena);
    if (access(arena->path, F_OK) == 0) {
        error_set(error, ERROR_USAGE,
                  "cannot record into %s: it holds a recording that was not finished. Finish it "
                  "with magic-trace decode %s, or remove the folder.",
                  directory, directory);
        translator_arena_close(arena);
        return false;
    }
    if (!check_ring_size(options, arena->path, error) ||
        !make_folder(directory, "translator", error) || !make_folder(directory, "images", error) ||
        !create_file(arena, error)) {
        translator_arena_close(arena);
        translator_arena_remove(directory);
        return false;
    }
    struct tr_control *control = arena->control;
    control->version = TR_VERSION;
    control->options = *options;
    publish_layout(control, &arena->geometry, arena->size);
    atomic_thread_fence(memory_order_release);
    control->magic = TR_CONTROL_MAGIC;
    return true;
}

static bool lies_within(uint64_t offset, uint64_t size, uint64_t count, uint64_t whole)
{
    uint64_t end;
    return offset % TR_PAGE == 0 && size % TR_PAGE == 0 && offset >= TR_PAGE &&
           !__builtin_mul_overflow(size, count, &end) &&
           !__builtin_add_overflow(end, offset, &end) && end <= whole;
}

static bool check(struct translator_arena *arena, struct error *error)
{
    const struct tr_control *control = arena->control;
    if (control->magic != TR_CONTROL_MAGIC)
        return error_set(error, ERROR_FORMAT,
                         "%s is not the arena of a recording: its first word is %08x, not %08x. It "
                         "was damaged, or magic-trace was killed while making it.",
                         arena->path, control->magic, TR_CONTROL_MAGIC);
    if (control->version != TR_VERSION)
        return error_set(error, ERROR_UNSUPPORTED,
                         "%s was made by another version of magic-trace (its layout is %u, this "
                         "one knows %d). Finish the recording with the version that began it.",
                         arena->path, control->version, TR_VERSION);
    arena->options = control->options;
    if (arena->options.tsc_hz == 0)
        return error_set(error, ERROR_FORMAT,
                         "%s is damaged: it says that its clock has 0 ticks in a second. The times "
                         "of this recording are lost; record again.",
                         arena->path);
    struct tr_geometry *geometry = &arena->geometry;
    *geometry = (struct tr_geometry){
        .log_offset = control->log_offset,
        .log_size = control->log_size,
        .table_offset = control->table_offset,
        .table_size = control->table_size,
        .slot_offset = control->slot_offset,
        .slot_size = control->slot_size,
        .dump_offset = control->dump_offset,
        .dump_size = control->dump_size,
        .table_count = control->table_count,
        .slot_count = control->slot_count,
    };
    if (!check_ring_size(&arena->options, arena->path, error))
        return false;
    if (!lies_within(geometry->log_offset, geometry->log_size, 1, arena->size) ||
        !lies_within(geometry->table_offset, geometry->table_size, geometry->table_count,
                     arena->size) ||
        !lies_within(geometry->slot_offset, geometry->slot_size, geometry->slot_count,
                     arena->size) ||
        !lies_within(geometry->dump_offset, geometry->dump_size, 1, arena->size) ||
        geometry->table_size < TR_PAGE || geometry->table_count > TR_MOST_TABLES ||
        geometry->slot_count > TR_MOST_SLOTS ||
        geometry->slot_size != TR_SLOT_RING + arena->options.ring_size + TR_SLOT_GUARD)
        return error_set(error, ERROR_FORMAT,
                         "%s is damaged: its parts do not lie within its %llu bytes", arena->path,
                         (unsigned long long)arena->size);
    return true;
}

static bool open_file(struct translator_arena *arena, struct error *error)
{
    struct stat status;
    arena->descriptor = open(arena->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (arena->descriptor < 0 || fstat(arena->descriptor, &status) != 0)
        return error_set_errno(error, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_IO, errno,
                               "cannot open %s", arena->path);
    if (!S_ISREG(status.st_mode) || (uint64_t)status.st_size < in_pages(sizeof(struct tr_control)))
        return error_set(error, ERROR_FORMAT, "%s is damaged: it has %lld bytes, its header %zu",
                         arena->path, (long long)status.st_size, sizeof(struct tr_control));
    arena->size = (uint64_t)status.st_size;
    if (!map(arena, error) || !check(arena, error))
        return false;
    remember_slots(arena);
    return true;
}

bool translator_arena_open(struct translator_arena *arena, const char *directory,
                           struct error *error)
{
    *arena = (struct translator_arena){.descriptor = -1};
    arena->path = memory_format("%s/translator/arena", directory);
    bool ok = open_file(arena, error);
    if (!ok)
        translator_arena_close(arena);
    return ok;
}

void translator_arena_close(struct translator_arena *arena)
{
    if (arena->bytes)
        munmap(arena->bytes, arena->size);
    if (arena->descriptor >= 0)
        close(arena->descriptor);
    free(arena->path);
    free((void *)arena->readable);
    *arena = (struct translator_arena){.descriptor = -1};
}

void translator_arena_remove(const char *directory)
{
    char *translator = memory_format("%s/translator", directory);
    char *images = memory_format("%s/images", directory);
    file_remove_tree(translator, NULL);
    rmdir(images); /* stays when there is something in it */
    free(translator);
    free(images);
}

static struct tr_places slots_of(const struct translator_arena *arena)
{
    struct tr_control *control = arena->control;
    return (struct tr_places){&control->next_slot, control->free_slots, arena->geometry.slot_count};
}

static struct tr_places tables_of(const struct translator_arena *arena)
{
    struct tr_control *control = arena->control;
    return (struct tr_places){&control->next_table, control->free_tables,
                              arena->geometry.table_count};
}

bool translator_arena_reserve_slot(struct translator_arena *arena, uint32_t *index)
{
    struct tr_places slots = slots_of(arena);
    if (tr_reserve(&slots, index))
        return true;
    atomic_fetch_add(&arena->control->lost_slots, 1);
    return false;
}

bool translator_arena_reserve_table(struct translator_arena *arena, uint32_t *index)
{
    struct tr_places tables = tables_of(arena);
    if (tr_reserve(&tables, index))
        return true;
    atomic_fetch_add(&arena->control->lost_tables, 1);
    return false;
}

static struct tr_slot *slot_at(const struct translator_arena *arena, uint32_t index)
{
    const struct tr_geometry *geometry = &arena->geometry;
    return (void *)(arena->bytes + geometry->slot_offset + index * geometry->slot_size);
}

static struct tr_table *table_at(const struct translator_arena *arena, uint32_t index)
{
    const struct tr_geometry *geometry = &arena->geometry;
    return (void *)(arena->bytes + geometry->table_offset + index * geometry->table_size);
}

/* Disk space of the arena from `start` on, of which `size` bytes are in use, but for the first ones. A file system that
 * cannot do it keeps it. */
static void give_back_space(const struct translator_arena *arena, const void *start, uint64_t size)
{
    enum { KEPT = 256 << 10 };
    if (size > KEPT)
        fallocate(arena->descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  (const uint8_t *)start - arena->bytes + KEPT, (off_t)(size - KEPT));
}

void translator_arena_release_slot(struct translator_arena *arena, uint32_t index)
{
    struct tr_slot *slot = translator_arena_slot(arena, index, NULL);
    struct tr_places slots = slots_of(arena);
    if (slot) {
        slot->magic = 0;
        atomic_fetch_add(&slot->generation, 1);
        give_back_space(arena, slot, TR_SLOT_RING + arena->options.ring_size);
    }
    tr_give_back(&slots, index);
}

void translator_arena_release_table(struct translator_arena *arena, uint32_t index)
{
    struct tr_places tables = tables_of(arena);
    if (translator_arena_table(arena, index, NULL)) {
        struct tr_table *table = table_at(arena, index);
        table->magic = 0;
        give_back_space(arena, table, arena->geometry.table_size);
    }
    tr_give_back(&tables, index);
}

uint32_t translator_arena_slots(const struct translator_arena *arena)
{
    uint32_t next = atomic_load(&arena->control->next_slot);
    return next < arena->geometry.slot_count ? next : arena->geometry.slot_count;
}

uint32_t translator_arena_tables(const struct translator_arena *arena)
{
    uint32_t next = atomic_load(&arena->control->next_table);
    return next < arena->geometry.table_count ? next : arena->geometry.table_count;
}

/* Of a sparse file on a full disk (tmpfs): nobody can look at a page that was never written. Kernels before 5.14 do not
 * know the question. */
static bool is_readable(const void *page)
{
    return madvise((void *)page, TR_PAGE, MADV_POPULATE_READ) == 0 || errno == EINVAL;
}

/* The first page of a slot or table, `place` among both. */
static bool is_there(const struct translator_arena *arena, uint32_t place, const void *page)
{
    if (!atomic_load(&arena->readable[place])) {
        if (!is_readable(page))
            return false;
        atomic_store(&arena->readable[place], 1);
    }
    return true;
}

struct tr_slot *translator_arena_slot(const struct translator_arena *arena, uint32_t index,
                                      struct error *error)
{
    const struct tr_geometry *geometry = &arena->geometry;
    struct tr_slot *slot = index < geometry->slot_count ? slot_at(arena, index) : NULL;
    if (!slot || !is_there(arena, index, slot) || slot->magic == 0) {
        error_set(error, ERROR_NOT_FOUND, "%s has no slot %u", arena->path, index);
        return NULL;
    }
    atomic_thread_fence(memory_order_acquire);
    if (slot->magic == TR_SLOT_MAGIC && slot->serial % geometry->slot_count == index &&
        slot->size == arena->options.ring_size)
        return slot;
    error_set(error, ERROR_FORMAT,
              "%s is damaged: at byte %llu there is no header of slot %u (magic %08x, serial %u, "
              "%llu bytes)",
              arena->path, (unsigned long long)((uint8_t *)slot - arena->bytes), index, slot->magic,
              slot->serial, (unsigned long long)slot->size);
    return NULL;
}

uint32_t translator_arena_generation(const struct translator_arena *arena, uint32_t index)
{
    const struct tr_slot *slot = slot_at(arena, index);
    return is_readable(slot) ? atomic_load(&slot->generation) : 0;
}

const struct tr_table *translator_arena_table(const struct translator_arena *arena, uint32_t serial,
                                              struct error *error)
{
    const struct tr_geometry *geometry = &arena->geometry;
    const struct tr_table *table = serial < geometry->table_count ? table_at(arena, serial) : NULL;
    if (!table || !is_there(arena, geometry->slot_count + serial, table) || table->magic == 0) {
        error_set(error, ERROR_NOT_FOUND, "%s has no fragment table %u", arena->path, serial);
        return NULL;
    }
    atomic_thread_fence(memory_order_acquire);
    if (table->magic == TR_TABLE_MAGIC && table->serial == serial)
        return table;
    error_set(error, ERROR_FORMAT,
              "%s is damaged: at byte %llu there is no header of fragment table %u (magic %08x, "
              "serial %u)",
              arena->path, (unsigned long long)((const uint8_t *)table - arena->bytes), serial,
              table->magic, table->serial);
    return NULL;
}

/* Bytes from `start` on, of `size`, that can be looked at. */
static uint64_t readable_part(const uint8_t *start, uint64_t size)
{
    for (uint64_t at = 0; at < size; at += TR_PAGE)
        if (!is_readable(start + at))
            return at;
    return size;
}

struct log_reader translator_arena_sideband(const struct translator_arena *arena)
{
    uint64_t tail = atomic_load(&arena->control->log_tail);
    const struct tr_geometry *geometry = &arena->geometry;
    const uint8_t *log = arena->bytes + geometry->log_offset;
    uint64_t size = tail < geometry->log_size ? tail : geometry->log_size;
    /* For want of disk space records were not written, and pages not, either. */
    if (atomic_load(&arena->control->lost_records) > 0)
        size = readable_part(log, size);
    return (struct log_reader){.log = log, .size = size};
}

/* ---- the end ---- */

uint64_t translator_arena_now(const struct translator_arena *arena)
{
    switch ((enum record_clock)arena->options.clock) {
    case RECORD_CLOCK_INSTRUCTIONS:
        return 0;
    case RECORD_CLOCK_HOST:
        return tsc_now();
    case RECORD_CLOCK_DEFAULT:
        break;
    }
    return tr_clock_time(atomic_load(&arena->control->clock), arena->options.start_tsc, tsc_now());
}

/* A thread that waits for the reader sees then that it will not read again. */
static void wake_writers(const struct translator_arena *arena)
{
    for (uint32_t serial = 0; serial < translator_arena_slots(arena); serial++) {
        struct tr_slot *slot = translator_arena_slot(arena, serial, NULL);
        if (slot && atomic_load(&slot->waiting))
            syscall(SYS_futex, &slot->waiting, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    }
}

void translator_arena_freeze(struct translator_arena *arena)
{
    struct tr_control *control = arena->control;
    if (atomic_load(&control->frozen))
        return;
    atomic_store(&control->frozen_at, translator_arena_now(arena));
    atomic_store(&control->frozen, 1);
    wake_writers(arena);
}

static bool has_table(const struct translator_arena *arena, uint32_t pid, bool left)
{
    uint32_t tables = translator_arena_tables(arena);
    for (uint32_t serial = 0; serial < tables; serial++) {
        const struct tr_table *table = translator_arena_table(arena, serial, NULL);
        if (table && atomic_load(&table->pid) == pid && (atomic_load(&table->left) != 0) == left)
            return true;
    }
    return false;
}

bool translator_arena_has_left(const struct translator_arena *arena, uint32_t pid)
{
    return has_table(arena, pid, true);
}

bool translator_arena_traces(const struct translator_arena *arena, uint32_t pid)
{
    return has_table(arena, pid, false) && !has_table(arena, pid, true);
}

bool translator_arena_awaits_child(const struct translator_arena *arena)
{
    return has_table(arena, 0, false);
}

void translator_arena_executed(struct translator_arena *arena, uint32_t pid)
{
    uint32_t slots = translator_arena_slots(arena);
    for (uint32_t serial = 0; serial < slots; serial++) {
        struct tr_slot *slot = translator_arena_slot(arena, serial, NULL);
        uint32_t end = TR_SLOT_EXECUTES;
        if (slot && slot->pid == pid)
            atomic_compare_exchange_strong(&slot->ended, &end, TR_SLOT_ENDED);
    }
}

static bool is_busy(const struct translator_arena *arena, uint32_t serial)
{
    const struct tr_slot *slot = translator_arena_slot(arena, serial, NULL);
    return slot && atomic_load(&slot->ended) == TR_SLOT_RUNS &&
           thread_state((pid_t)slot->pid, (pid_t)slot->tid) == 'R';
}

void translator_arena_settle(struct translator_arena *arena)
{
    enum { ROUNDS = 200 };
    struct timespec millisecond = {.tv_nsec = 1000000};
    uint32_t slots = translator_arena_slots(arena);
    int rounds = 0;
    for (uint32_t serial = 0; serial < slots; serial++)
        while (is_busy(arena, serial) && rounds++ < ROUNDS)
            nanosleep(&millisecond, NULL);
}
