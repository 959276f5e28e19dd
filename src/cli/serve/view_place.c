#include "cli/serve/view_place.h"

#include "analysis/function_choice.h"
#include "base/memory.h"
#include "index/call_ordinal.h"
#include "index/trace_index.h"
#include "output/duration.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    AROUND_MOMENT = 10000, /* ns to either side */
    AROUND_CALL = 10,      /* ns at least to either side; else as much as the call is long */
};

/* It is printed and given to a browser. */
static bool is_address(const char *text)
{
    for (const char *at = text; *at; at++)
        if (*at <= ' ' || *at > '~' || strchr("\"'<>\\^`{|}", *at))
            return false;
    return true;
}

static char *range_fragment(uint64_t from, uint64_t to, uint64_t around, uint64_t duration)
{
    uint64_t last = to < UINT64_MAX - around ? to + around : UINT64_MAX;
    return memory_format("view=%" PRIu64 "-%" PRIu64, from > around ? from - around : 0,
                         last < duration ? last : duration);
}

static char *moment_fragment(const struct trace_index *index, uint64_t moment, const char *text,
                             struct error *error)
{
    uint64_t duration = trace_index_facts(index)->duration;
    if (moment > duration) {
        error_set(error, ERROR_NOT_FOUND,
                  "-at %s: the trace has ended before that, after %" PRIu64 " ns.", text, duration);
        return NULL;
    }
    return range_fragment(moment, moment, AROUND_MOMENT, duration);
}

static char *call_fragment(const struct trace_index *index, const char *text, struct error *error)
{
    struct function_choice choice;
    struct call_place call;
    if (!function_choose(index, text, &choice, error) ||
        !index_nth_call(index, choice.group, choice.ordinal ? choice.ordinal : 1, &call, error))
        return NULL;
    const struct index_span *span = &call.span;
    uint64_t length = span->end - span->start;
    char *view = range_fragment(span->start, span->end, length > AROUND_CALL ? length : AROUND_CALL,
                                trace_index_facts(index)->duration);
    char *fragment = memory_format(
        "%s&span=%" PRIu32 ".%" PRIu32 ".%" PRIu64 ".%" PRIu64 "&group=%" PRIu32 "&panel=details",
        view, call.track, span->depth, span->start, span->end, choice.group);
    free(view);
    return fragment;
}

char *view_place_fragment(const struct trace_index *index, const char *text, struct error *error)
{
    uint64_t moment;
    if (duration_parse(text, &moment))
        return moment_fragment(index, moment, text, error);
    const char *hash = strchr(text, '#'), *fragment = hash ? hash + 1 : text;
    if (!strchr(fragment, '='))
        return call_fragment(index, text, error);
    if (is_address(fragment))
        return memory_copy_string(fragment);
    error_set(error, ERROR_USAGE,
              "-at: that is no address of a page, which has neither spaces nor "
              "quotation marks.");
    return NULL;
}
