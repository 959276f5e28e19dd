#include "output/fxt/fxt_threads.h"

void fxt_threads_init(struct fxt_threads *threads, struct block_writer *output)
{
    *threads = (struct fxt_threads){.output = output};
    slot_recycler_init(&threads->recycler, FXT_THREAD_INDEX_MAX);
}

void fxt_threads_free(struct fxt_threads *threads)
{
    slot_recycler_free(&threads->recycler);
}

void fxt_threads_renew(struct fxt_threads *threads, struct fxt_thread *thread)
{
    thread->number = slot_recycler_take(&threads->recycler);
    thread->generation = ++threads->generations[thread->number];
    uint64_t *record = block_writer_reserve(threads->output, 3 * FXT_WORD);
    record[0] = fxt_header(FXT_RECORD_THREAD, 3) | (uint64_t)thread->number << 16;
    record[1] = thread->pid;
    record[2] = thread->tid;
}
