#include "decode/text/text_frequencies.h"

#include "base/memory.h"
#include "decode/frequency_changes.h"

#include <stdlib.h>
#include <uthash.h>

struct text_frequency {
    uint32_t tid;
    struct frequency_changes changes;
    struct array marks; /* of struct trace_mark */
    UT_hash_handle hh;
};

void text_frequencies_free(struct text_frequencies *frequencies)
{
    struct text_frequency *thread, *next;
    HASH_ITER(hh, frequencies->by_thread, thread, next)
    {
        HASH_DEL(frequencies->by_thread, thread);
        array_free(&thread->marks);
        free(thread);
    }
}

void text_frequencies_note(struct text_frequencies *frequencies,
                           const struct perf_text_record *record)
{
    struct text_frequency *thread;
    HASH_FIND(hh, frequencies->by_thread, &record->tid, sizeof record->tid, thread);
    if (!thread) {
        thread = memory_allocate_zeroed(sizeof *thread);
        thread->tid = record->tid;
        thread->marks = array_of(sizeof(struct trace_mark));
        HASH_ADD(hh, frequencies->by_thread, tid, sizeof thread->tid, thread);
    }
    const struct trace_mark mark = {
        .kind = TRACE_MARK_FREQUENCY,
        .time = record->time,
        .tid = record->tid,
        .cpu = UINT32_MAX,
        .value = record->megahertz,
    };
    frequency_changes_note(&thread->changes, &mark, &thread->marks);
}

void text_frequencies_report(const struct text_frequencies *frequencies, struct array *marks)
{
    for (const struct text_frequency *thread = frequencies->by_thread; thread;
         thread = thread->hh.next)
        array_add_all(marks, thread->marks.elements, thread->marks.count);
}
