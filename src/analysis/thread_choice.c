#include "analysis/thread_choice.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_named(const struct index_track *track, const char *text)
{
    char number[16];
    snprintf(number, sizeof number, "%" PRIu32, track->tid);
    return strcmp(track->thread, text) == 0 || strcmp(number, text) == 0;
}

static bool refuse(const struct trace_index *index, const char *text, struct error *error)
{
    enum { LISTED = 8 };
    uint32_t tracks = trace_index_facts(index)->tracks, listed = 0;
    char known[512] = "";
    for (uint32_t i = 0; i < tracks && listed < LISTED; i++) {
        const struct index_track track = trace_index_track(index, i);
        size_t used = strlen(known);
        if (track.is_hits)
            continue;
        snprintf(known + used, sizeof known - used, "%s%.40s (%" PRIu32 ")", used ? ", " : "",
                 track.thread, track.tid);
        listed++;
    }
    return error_set(error, ERROR_NOT_FOUND,
                     "no thread has the name or number `%.200s`; there %s %s%s", text,
                     listed == 1 ? "is" : "are", known, listed < tracks ? ", ..." : "");
}

bool threads_choose(const struct trace_index *index, const char *text, struct array *tracks,
                    struct error *error)
{
    size_t before = tracks->count;
    for (uint32_t i = 0; i < trace_index_facts(index)->tracks; i++) {
        const struct index_track track = trace_index_track(index, i);
        if (!track.is_hits && is_named(&track, text))
            array_add_all(tracks, &i, 1);
    }
    return tracks->count > before || refuse(index, text, error);
}
