#include "output/report/trace_window.h"

#include "output/duration.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What -around TIME shows to either side, in ns. */
static const uint64_t AROUND_TIME = 10000;

static bool parse_moment(struct trace_moment *moment, const char *option, const char *text,
                         struct error *error)
{
    if (duration_parse(text, &moment->time)) {
        moment->kind = MOMENT_TIME;
        return true;
    }
    *moment = (struct trace_moment){
        .kind = MOMENT_CALL, .name = text, .name_length = strlen(text), .call = 1};
    const char *hash = strrchr(text, '#');
    if (hash && hash[1] && hash[1 + strspn(hash + 1, "0123456789")] == 0) {
        moment->call = strtoull(hash + 1, NULL, 10);
        moment->name_length = (size_t)(hash - text);
    }
    if (moment->name_length == 0 || moment->call == 0)
        return error_set(
            error, ERROR_USAGE,
            "%s %s means nothing: give a time (1.5ms), a function (main) or its third call "
            "(main#3; calls count from 1)",
            option, text);
    return true;
}

bool trace_window_init(struct trace_window *window, const struct report_tree_options *options,
                       struct error *error)
{
    *window = (struct trace_window){0};
    if (options->around && (options->from || options->to))
        return error_set(error, ERROR_USAGE,
                         "-around cannot be combined with -from or -to: both say what to show");
    if (options->around) {
        if (!parse_moment(&window->from, "-around", options->around, error))
            return false;
        window->to = window->from;
        if (window->from.kind == MOMENT_TIME) {
            window->from.time -= window->from.time < AROUND_TIME ? window->from.time : AROUND_TIME;
            window->to.time += AROUND_TIME;
        }
        return true;
    }
    if (options->from && !parse_moment(&window->from, "-from", options->from, error))
        return false;
    if (options->to && !parse_moment(&window->to, "-to", options->to, error))
        return false;
    if (window->from.kind == MOMENT_TIME && window->to.kind == MOMENT_TIME &&
        window->to.time < window->from.time)
        return error_set(error, ERROR_USAGE, "-to %s is before -from %s: nothing lies between",
                         options->to, options->from);
    return true;
}

/* A function is meant by its name, also without its parameters ("f" for "f(int)"), or by its
 * symbol. */
static bool is_meant(const struct trace_moment *moment, const struct span_function *function)
{
    size_t length = moment->name_length;
    if (strncmp(function->name, moment->name, length) == 0 &&
        (function->name[length] == 0 || function->name[length] == '('))
        return true;
    return function->symbol && strncmp(function->symbol, moment->name, length) == 0 &&
           function->symbol[length] == 0;
}

/* Whether this event is the call that the moment is about. */
static bool is_reached(struct trace_moment *moment, const struct span_event *event)
{
    return moment->kind == MOMENT_CALL && event->kind == SPAN_ENTER &&
           is_meant(moment, event->function) && ++moment->calls == moment->call;
}

/* Follows the call that ends the window. True when this event is its leave. */
static bool ends_last_call(struct trace_window *window, const struct span_event *event)
{
    if (!window->last_call_open) {
        if (!is_reached(&window->to, event))
            return false;
        window->last_call_open = true;
        window->last_call_track = event->track;
    }
    if (event->track != window->last_call_track)
        return false;
    if (event->kind == SPAN_ENTER)
        window->last_call_depth++;
    else if (event->kind == SPAN_LEAVE && --window->last_call_depth == 0)
        return true;
    return false;
}

/* Whether the window has begun when this event happens, `time` ns after the beginning of the trace.
 */
static bool begins(struct trace_moment *from, const struct span_event *event, uint64_t time)
{
    switch (from->kind) {
    case MOMENT_OPEN:
        return true;
    case MOMENT_TIME:
        return time >= from->time;
    case MOMENT_CALL:
        return is_reached(from, event);
    }
    return false;
}

enum window_state trace_window_meet(struct trace_window *window, const struct span_event *event)
{
    if (!window->began)
        window->first = event->time.value;
    window->began = true;
    if (window->state == WINDOW_PAST)
        return WINDOW_PAST;

    uint64_t time = event->time.value - window->first;
    if (window->state == WINDOW_AHEAD && begins(&window->from, event, time)) {
        window->state = WINDOW_INSIDE;
        window->opened = true;
    }
    if (window->to.kind == MOMENT_TIME && time > window->to.time) {
        window->state = WINDOW_PAST;
        return WINDOW_PAST;
    }
    enum window_state now = window->state;
    if (window->to.kind == MOMENT_CALL && ends_last_call(window, event))
        window->state = WINDOW_PAST;
    return now;
}

static bool check_call(const struct trace_moment *moment, struct error *error)
{
    if (moment->kind != MOMENT_CALL || moment->calls >= moment->call)
        return true;
    if (moment->calls == 0)
        return error_set(
            error, ERROR_NOT_FOUND,
            "the trace has no call of %.*s. The functions it has are in the report's table",
            (int)moment->name_length, moment->name);
    return error_set(error, ERROR_NOT_FOUND,
                     "the trace has only %" PRIu64 " calls of %.*s, not %" PRIu64, moment->calls,
                     (int)moment->name_length, moment->name, moment->call);
}

bool trace_window_check(const struct trace_window *window, struct nanoseconds last,
                        struct error *error)
{
    if (!window->began || (window->opened && window->to.kind != MOMENT_CALL))
        return true;
    if (!check_call(&window->to, error))
        return false;
    if (window->opened)
        return true;
    if (window->state == WINDOW_PAST)
        return error_set(error, ERROR_USAGE,
                         "nothing lies between -from and -to: -to comes first in the trace");
    if (window->from.kind == MOMENT_TIME) {
        char end[DURATION_TEXT_SIZE];
        return error_set(error, ERROR_NOT_FOUND,
                         "-from or -around lies after the end of the trace, which is at %s",
                         duration_format_exact(end, last.value - window->first));
    }
    return check_call(&window->from, error);
}
