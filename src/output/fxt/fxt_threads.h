/* The writer's table of threads: from a thread to its number in event records.
 *
 * The trace has 255 numbers, recycled like those of strings (output/fxt/fxt_strings.h).
 */
#ifndef MAGIC_TRACE_OUTPUT_FXT_FXT_THREADS_H
#define MAGIC_TRACE_OUTPUT_FXT_FXT_THREADS_H

#include "output/block_writer.h"
#include "output/fxt/fxt_format.h"
#include "output/fxt/slot_recycler.h"

#include <stdint.h>

struct fxt_threads {
    struct block_writer *output;
    struct slot_recycler recycler;
    uint64_t generations[FXT_THREAD_INDEX_MAX + 1]; /* how often the number was given to a thread */
};

struct fxt_thread {
    uint32_t pid, tid;
    uint64_t generation; /* of the number when this thread got it; 0: never had one */
    uint32_t number;
};

/* The output must outlive the table. */
void fxt_threads_init(struct fxt_threads *threads, struct block_writer *output);
void fxt_threads_free(struct fxt_threads *threads);

/* True as long as all numbers that were ever given hold. */
static inline bool fxt_threads_all_hold(const struct fxt_threads *threads)
{
    return !slot_recycler_keeps_order(&threads->recycler);
}

/* Gives `thread` a number and writes its record. */
void fxt_threads_renew(struct fxt_threads *threads, struct fxt_thread *thread);

/* The number of `thread`, good for the next event. */
static inline uint32_t fxt_threads_reference(struct fxt_threads *threads, struct fxt_thread *thread)
{
    if (thread->generation == 0 || threads->generations[thread->number] != thread->generation)
        fxt_threads_renew(threads, thread);
    else
        slot_recycler_touch(&threads->recycler, thread->number);
    return thread->number;
}

#endif
