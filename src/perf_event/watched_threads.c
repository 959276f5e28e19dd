#include "perf_event/watched_threads.h"

#include "perf_event/threads.h"

#include <string.h>

/* A thread whose events were opened, not inherited. */
struct opened_thread {
    uint32_t tid; /* first: the key */
    bool bore;    /* it created a thread after its events were complete */
    uint64_t round;
};

void watched_threads_begin(struct watched_threads *threads, struct breakpoint_events *events,
                           struct record_rings *rings)
{
    *threads = (struct watched_threads){
        .events = events, .rings = rings, .opened = array_of(sizeof(struct opened_thread))};
}

void watched_threads_free(struct watched_threads *threads)
{
    array_free(&threads->opened);
}

/* Of elements that begin with a uint32_t and are in its order. */
static void *find(const struct array *array, uint32_t key)
{
    size_t index = array_find_key(array, key);
    if (index == array->count)
        return NULL;
    void *element = array_at(array, index);
    return *(uint32_t *)element == key ? element : NULL;
}

static void note_opened(struct watched_threads *threads, uint32_t tid)
{
    struct opened_thread *thread = find(&threads->opened, tid);
    if (!thread)
        thread = array_insert(&threads->opened, array_find_key(&threads->opened, tid));
    *thread = (struct opened_thread){.tid = tid, .round = UINT64_MAX};
}

/* How a thread became known. */
enum arrival {
    LISTED_FIRST, /* it existed before any event was opened */
    LISTED_LATER, /* it may have inherited events, but has not run since */
    REPORTED,     /* it may have inherited events, and run */
};

static bool watch_thread(struct watched_threads *threads, const struct process_request *request,
                         uint32_t tid, enum arrival arrival, struct error *error)
{
    struct breakpoint_request own = {
        .pid = request->pid,
        .tid = tid,
        .addresses = request->addresses,
        .count = request->count,
        .watched = arrival == REPORTED ? 0 : request->watched,
        .listen = arrival == REPORTED || request->listen,
        .created = arrival != LISTED_FIRST,
        .reported = arrival == REPORTED,
    };
    bool complete;
    bool ok = breakpoint_events_open(threads->events, &own, &complete, error);
    if (ok && !complete)
        note_opened(threads, tid);
    return ok;
}

/* Whether the sideband holds a record of the thread's creation that was not handled yet. */
static bool birth_is_reported(struct watched_threads *threads, uint32_t tid)
{
    const struct perf_event_header *record;
    record_rings_read(threads->rings);
    for (size_t i = 0; (record = record_rings_peek(threads->rings, i)) != NULL; i++) {
        const struct birth_record *birth = body_of(record, sizeof *birth);
        if (record->type == PERF_RECORD_FORK && birth && birth->tid == tid)
            return true;
    }
    return false;
}

/* Watches the threads that were listed. A thread whose parent was watched when it was created is
 * left to watched_threads_created; one whose parent was not has inherited nothing. If the kernel
 * has not yet written the record of its creation, the thread has not begun to run. */
static bool watch_listed(struct watched_threads *threads, const struct process_request *request,
                         const struct array *listed, enum arrival arrival, struct error *error)
{
    for (size_t i = 0; i < listed->count; i++) {
        uint32_t tid = *(uint32_t *)array_at(listed, i);
        if (arrival != LISTED_FIRST && birth_is_reported(threads, tid))
            continue;
        if (!watch_thread(threads, request, tid, arrival, error))
            return false;
    }
    return true;
}

static bool watch_threads(struct watched_threads *threads, const struct process_request *request,
                          struct error *error)
{
    struct array known = array_of(sizeof(uint32_t));
    struct thread_search search;
    enum arrival arrival = LISTED_FIRST;
    bool ok = true;
    thread_search_begin(&search, threads->events->kernel, (pid_t)request->pid, &known);
    for (; ok && !search.over; arrival = LISTED_LATER)
        ok = thread_search_look(&search, error) &&
             watch_listed(threads, request, &search.found, arrival, error);
    thread_search_end(&search);
    array_free(&known);
    return ok;
}

/* All threads that were created before their parents' events were complete have been reported by
 * now: later readings report later ones. */
static void note_complete(struct watched_threads *threads)
{
    record_rings_read(threads->rings);
    for (size_t i = 0; i < threads->opened.count; i++) {
        struct opened_thread *thread = array_at(&threads->opened, i);
        if (thread->round == UINT64_MAX)
            thread->round = threads->rings->round;
    }
}

bool watched_threads_open(struct watched_threads *threads, const struct process_request *request,
                          struct error *error)
{
    bool ok = threads->events->scope == BREAKPOINTS_ONE_THREAD
                  ? watch_thread(threads, request, request->pid, LISTED_FIRST, error)
                  : watch_threads(threads, request, error);
    note_complete(threads);
    return ok;
}

/* The first thread that a thread creates after its events were opened may have been half created at
 * that time, and have inherited only some of them. Later ones have all. */
bool watched_threads_created(struct watched_threads *threads, const struct process_request *request,
                             const struct birth_record *birth, uint64_t round, struct error *error)
{
    struct opened_thread *parent = find(&threads->opened, birth->parent_tid);
    if (!parent || parent->bore || threads->events->scope == BREAKPOINTS_ONE_THREAD)
        return true;
    parent->bore = round > parent->round;
    bool ok = watch_thread(threads, request, birth->tid, REPORTED, error);
    note_complete(threads);
    return ok;
}

void watched_threads_ended(struct watched_threads *threads, uint32_t tid)
{
    size_t index = array_find_key(&threads->opened, tid);
    if (!find(&threads->opened, tid))
        return;
    struct opened_thread *all = threads->opened.elements;
    size_t after = --threads->opened.count - index;
    memmove(all + index, all + index + 1, after * sizeof *all);
}
