#include "output/fxt/fxt_dictionary.h"

#include "base/printable.h"
#include "output/fxt/fxt_counter_text.h"
#include "output/fxt/fxt_format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

struct dictionary_text {
    UT_hash_handle hh;
    const char *printable;
    char text[];
};

struct dictionary_function {
    struct fxt_function_key key;
    struct span_function function;
    UT_hash_handle hh;
};

struct counter_key {
    const char *name, *argument;
    uint64_t id;
};

struct dictionary_counter {
    struct counter_key key;
    const char *text;
    UT_hash_handle hh;
};

struct thread_key {
    uint32_t pid, tid;
};

struct dictionary_thread {
    struct thread_key key;
    const char *name; /* NULL: not named yet */
    uint32_t track;   /* NO_TRACK until it has an event */
    UT_hash_handle hh;
};

struct dictionary_process {
    uint32_t pid;
    const char *name;
    UT_hash_handle hh;
};

static const uint32_t NO_TRACK = UINT32_MAX;

void fxt_dictionary_init(struct fxt_dictionary *dictionary)
{
    *dictionary = (struct fxt_dictionary){
        .tracks = array_of(sizeof(struct span_track)),
        .track_threads = array_of(sizeof(struct dictionary_thread *)),
    };
}

void fxt_dictionary_free(struct fxt_dictionary *dictionary)
{
    HASH_CLEAR(hh, dictionary->texts);
    HASH_CLEAR(hh, dictionary->functions);
    HASH_CLEAR(hh, dictionary->counters);
    HASH_CLEAR(hh, dictionary->threads);
    HASH_CLEAR(hh, dictionary->processes);
    array_free(&dictionary->tracks);
    array_free(&dictionary->track_threads);
    arena_free(&dictionary->arena);
}

const char *fxt_dictionary_text(struct fxt_dictionary *dictionary, const char *text, size_t length)
{
    length = strnlen(text, length);
    struct dictionary_text *found;
    HASH_FIND(hh, dictionary->texts, text, length, found);
    if (!found) {
        found = arena_allocate(&dictionary->arena, sizeof *found + length + 1);
        memcpy(found->text, text, length);
        found->text[length] = 0;
        found->printable = printable_name(&dictionary->arena, found->text);
        HASH_ADD_KEYPTR(hh, dictionary->texts, found->text, length, found);
    }
    return found->printable;
}

const struct span_function *fxt_dictionary_function(struct fxt_dictionary *dictionary,
                                                    const struct fxt_function_key *key)
{
    struct dictionary_function *found;
    HASH_FIND(hh, dictionary->functions, key, sizeof *key, found);
    if (!found) {
        found = arena_allocate(&dictionary->arena, sizeof *found);
        found->key = *key;
        found->function = (struct span_function){
            .name = key->name,
            .symbol = key->symbol,
            .file = key->file,
            .line = key->line,
            .special = key->special,
            .origin = key->origin,
            .index = (uint32_t)dictionary->function_count++,
        };
        HASH_ADD(hh, dictionary->functions, key, sizeof found->key, found);
    }
    return &found->function;
}

const char *fxt_dictionary_counter(struct fxt_dictionary *dictionary, const char *name, uint64_t id,
                                   const char *argument)
{
    struct counter_key key = {name, argument, id};
    struct dictionary_counter *found;
    HASH_FIND(hh, dictionary->counters, &key, sizeof key, found);
    if (!found) {
        char *text = fxt_counter_join(name, id, argument);
        found = arena_allocate(&dictionary->arena, sizeof *found);
        found->key = key;
        found->text = arena_copy_string(&dictionary->arena, text);
        HASH_ADD(hh, dictionary->counters, key, sizeof found->key, found);
        free(text);
    }
    return found->text;
}

void fxt_dictionary_name_process(struct fxt_dictionary *dictionary, uint32_t pid, const char *name)
{
    struct dictionary_process *process;
    HASH_FIND(hh, dictionary->processes, &pid, sizeof pid, process);
    if (!process) {
        process = arena_allocate(&dictionary->arena, sizeof *process);
        process->pid = pid;
        HASH_ADD(hh, dictionary->processes, pid, sizeof process->pid, process);
    }
    process->name = name;
}

static struct dictionary_thread *find_thread(struct fxt_dictionary *dictionary, uint32_t pid,
                                             uint32_t tid)
{
    struct thread_key key = {pid, tid};
    struct dictionary_thread *thread;
    HASH_FIND(hh, dictionary->threads, &key, sizeof key, thread);
    if (!thread) {
        thread = arena_allocate(&dictionary->arena, sizeof *thread);
        *thread = (struct dictionary_thread){.key = key, .track = NO_TRACK};
        HASH_ADD(hh, dictionary->threads, key, sizeof thread->key, thread);
    }
    return thread;
}

void fxt_dictionary_name_thread(struct fxt_dictionary *dictionary, uint32_t pid, uint32_t tid,
                                const char *name)
{
    find_thread(dictionary, pid, tid)->name = name;
}

/* Whether `thread` is a row of deep frames as the writer names them; then *tid is the thread they
 * belong to. */
static bool is_deep_row(const struct dictionary_thread *thread, uint32_t *tid)
{
    if (thread->key.tid < FXT_SYNTHETIC_TID_BASE || !thread->name)
        return false;
    const char *suffix = strrchr(thread->name, '(');
    if (!suffix || suffix == thread->name)
        return false;
    unsigned first, last, owner;
    int length = 0;
    if (sscanf(suffix - 1, FXT_DEEP_SUFFIX_FORMAT "%n", &first, &last, &owner, &length) != 3 ||
        length == 0 || suffix[length - 1] != 0)
        return false;
    *tid = owner;
    return owner != thread->key.tid;
}

uint32_t fxt_dictionary_track(struct fxt_dictionary *dictionary, uint32_t pid, uint32_t tid)
{
    struct dictionary_thread *thread = find_thread(dictionary, pid, tid);
    if (thread->track != NO_TRACK)
        return thread->track;
    uint32_t owner_tid;
    struct dictionary_thread *owner = thread;
    if (is_deep_row(thread, &owner_tid))
        owner = find_thread(dictionary, pid, owner_tid);
    if (owner->track == NO_TRACK) {
        owner->track = (uint32_t)dictionary->tracks.count;
        struct span_track *track = array_add(&dictionary->tracks);
        *track = (struct span_track){.pid = pid, .tid = owner->key.tid};
        *(struct dictionary_thread **)array_add(&dictionary->track_threads) = owner;
    }
    thread->track = owner->track;
    return thread->track;
}

const struct span_track *fxt_dictionary_tracks(struct fxt_dictionary *dictionary, size_t *count)
{
    for (size_t i = 0; i < dictionary->tracks.count; i++) {
        struct span_track *track = array_at(&dictionary->tracks, i);
        const struct dictionary_thread *thread =
            *(struct dictionary_thread **)array_at(&dictionary->track_threads, i);
        struct dictionary_process *process;
        HASH_FIND(hh, dictionary->processes, &track->pid, sizeof track->pid, process);
        track->thread_name = thread->name ? thread->name : "";
        track->process_name = process ? process->name : "";
    }
    *count = dictionary->tracks.count;
    return dictionary->tracks.elements;
}
