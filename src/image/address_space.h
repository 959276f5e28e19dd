/* Which code was mapped where in which process, and when.
 *
 * Built once from a recording's sideband records; afterwards read-only and shared by the decoding
 * threads. A process is a list of changes in time order. A cursor applies them as a decoder's time
 * advances; several cursors can be at different times of one process.
 */
#ifndef MAGIC_TRACE_IMAGE_ADDRESS_SPACE_H
#define MAGIC_TRACE_IMAGE_ADDRESS_SPACE_H

#include "base/clock.h"
#include "base/error.h"
#include "image/image_file.h"
#include "recording/perf_data/perf_data_reader.h"

#include <stddef.h>

struct mapping {
    uint64_t start, end; /* addresses in the process, end exclusive */
    uint64_t file_offset;
    const struct image_file *file;
    uint32_t pid; /* for names by perf-PID.map; of a forked child: its own */
    /* If the page was dumped because the program had patched it: the object that it was mapped
     * from, whose symbols still name its code, and the offset in it. Otherwise NULL. */
    const struct image_file *patched;
    uint64_t patched_offset;
};

enum address_space_change_kind {
    ADDRESS_SPACE_MAP,   /* mapping appears and hides what lay below it */
    ADDRESS_SPACE_CLEAR, /* exec: removes all earlier mappings */
};

struct address_space_change {
    struct ticks time; /* 0: from the beginning */
    enum address_space_change_kind kind;
    struct mapping mapping; /* of ADDRESS_SPACE_MAP */
};

/* The kernel's own code, which is the same in all processes. What changes in it is among the
 * changes of each process. */
struct kernel_space {
    struct mapping *mappings; /* by start, not overlapping */
    size_t mapping_count;
};

struct process {
    uint32_t pid;
    uint32_t parent_pid;                  /* 0 unknown */
    const char *name;                     /* last name of its main thread; never NULL */
    struct address_space_change *changes; /* by time; a forked child starts with its parent's */
    size_t change_count;
    const struct kernel_space *kernel; /* NULL: its code is not known */
};

struct thread {
    uint32_t pid, tid;
    const char *name;     /* never NULL */
    struct ticks created; /* 0: before the recording */
    struct ticks ended;   /* 0: not known */
};

struct address_spaces {
    struct process *processes; /* by pid */
    size_t process_count;
    struct thread *threads; /* by tid */
    size_t thread_count;
    struct image_file **files;
    size_t file_count;
    struct kernel_space kernel; /* empty unless the kernel was traced and its code is here */
    struct address_spaces_memory *memory; /* private */
};

/* `directory` is the recording's folder, whose images/ is searched first; NULL for a lone
 * perf.data. Copies all that it needs: `data` may be closed afterwards. Warns about image files
 * that are missing or were replaced, of the kernel too if it was traced. False when `directory` is
 * no folder. */
bool address_spaces_build(struct address_spaces *spaces, const struct perf_data *data,
                          const char *directory, struct error *error);

/* The same while a recording is being finished: no server is asked for missing files, and whoever decodes
 * it will be warned of them. */
bool address_spaces_build_local(struct address_spaces *spaces, const struct perf_data *data,
                                const char *directory, struct error *error);

void address_spaces_free(struct address_spaces *spaces);

/* The `directory` it was built with, or NULL. */
const char *address_spaces_directory(const struct address_spaces *spaces);

/* NULL when not in the recording. */
const struct process *address_spaces_process(const struct address_spaces *spaces, uint32_t pid);
const struct thread *address_spaces_thread(const struct address_spaces *spaces, uint32_t tid);

/* A position in the changes of one process: the mappings that hold at one time. */
struct address_space_cursor {
    const struct process *process;
    size_t next_change;
    struct mapping *mappings; /* by start, not overlapping; owned */
    size_t mapping_count, mapping_capacity;
};

void address_space_cursor_init(struct address_space_cursor *cursor, const struct process *process);
void address_space_cursor_free(struct address_space_cursor *cursor);

/* Applies all changes up to and including `time`; true when there was any. */
bool address_space_cursor_advance(struct address_space_cursor *cursor, struct ticks time);

/* The mapping that holds `address`, or NULL. Valid until the next advance. */
const struct mapping *address_space_find(const struct address_space_cursor *cursor,
                                         uint64_t address);

#endif
