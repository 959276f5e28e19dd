#include "analysis/trace_moments.h"

#include "analysis/function_choice.h"
#include "index/call_ordinal.h"
#include "output/duration.h"

static bool find_call(const struct trace_index *index, const char *text, struct call_place *call,
                      struct error *error)
{
    struct function_choice choice;
    return function_choose(index, text, &choice, error) &&
           index_nth_call(index, choice.group, choice.ordinal > 0 ? choice.ordinal : 1, call,
                          error);
}

static bool find_first(const struct trace_index *index, const struct trace_moment *moment,
                       const char *text, struct trace_moments *moments, struct error *error)
{
    if (moment->kind == MOMENT_TIME)
        moments->first = moment->time;
    moments->begins_with_call = moment->kind == MOMENT_CALL;
    if (!moments->begins_with_call)
        return true;
    if (!find_call(index, text, &moments->first_call, error))
        return false;
    moments->first = moments->first_call.span.start;
    return true;
}

static bool find_last(const struct trace_index *index, const struct trace_moment *moment,
                      const char *text, struct trace_moments *moments, struct error *error)
{
    if (moment->kind == MOMENT_TIME)
        moments->last = moment->time;
    moments->ends_with_call = moment->kind == MOMENT_CALL;
    if (!moments->ends_with_call)
        return true;
    if (!find_call(index, text, &moments->last_call, error))
        return false;
    moments->last = moments->last_call.span.end;
    return true;
}

bool trace_moments_find(const struct trace_index *index, const struct report_tree_options *options,
                        struct trace_moments *moments, struct error *error)
{
    struct trace_window window;
    const char *from = options->around ? options->around : options->from;
    const char *to = options->around ? options->around : options->to;
    uint64_t duration = trace_index_facts(index)->duration;
    *moments = (struct trace_moments){.last = UINT64_MAX};
    if (!trace_window_init(&window, options, error) ||
        !find_first(index, &window.from, from, moments, error) ||
        !find_last(index, &window.to, to, moments, error))
        return false;
    if (moments->first > duration) {
        char end[DURATION_TEXT_SIZE];
        return error_set(error, ERROR_NOT_FOUND,
                         "-from or -around lies after the end of the trace, which is at %s",
                         duration_format_exact(end, duration));
    }
    if (moments->last < moments->first)
        return error_set(error, ERROR_USAGE,
                         "nothing lies between -from and -to: -to comes first in the trace");
    return true;
}

struct index_range moments_time(const struct trace_index *index,
                                const struct trace_moments *moments)
{
    uint64_t duration = trace_index_facts(index)->duration;
    if (moments->last > duration)
        return (struct index_range){moments->first, duration + 1};
    return (struct index_range){moments->first, moments->last + (moments->last == moments->first)};
}
