#include "stack/spans/span_filter.h"

#include "base/array.h"
#include "base/edit_distance.h"
#include "base/memory.h"
#include "base/short_name.h"
#include "stack/spans/counter_values.h"
#include "stack/spans/open_spans.h"

#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

/* Reads one name from *text and advances it. NULL at its end. The caller frees. */
static char *take_name(const char **text)
{
    const char *start = *text + strspn(*text, " \t\n");
    bool quoted = *start == '"';
    start += quoted;
    size_t length = quoted ? strcspn(start, "\"") : strcspn(start, " \t\n()");
    if (length == 0 || (quoted && start[length] != '"'))
        return NULL;
    *text = start + length + quoted;
    return strndup(start, length);
}

bool span_filter_names_parse(struct span_filter_names *names, const char *text)
{
    struct span_filter_names parsed = {0};
    text += strspn(text, " \t\n");
    if (*text == '(') {
        text++;
        parsed.from = take_name(&text);
        parsed.to = parsed.from ? take_name(&text) : NULL;
        text += strspn(text, " \t\n");
    }
    if (!parsed.to || *text != ')' || text[1 + strspn(text + 1, " \t\n")]) {
        span_filter_names_free(&parsed);
        return false;
    }
    span_filter_names_free(names);
    *names = parsed;
    return true;
}

void span_filter_names_free(struct span_filter_names *names)
{
    free(names->from);
    free(names->to);
    *names = (struct span_filter_names){0};
}

/* ---- filtering ---- */

struct filter {
    struct span_source source; /* first: the consumer's view */
    struct span_source *wrapped;
    const struct span_filter_names *names;
    struct open_spans open;
    struct counter_values counters;
    bool inside; /* of a region */
    /* At the border of a region the open spans and the counters are passed on before the event that
     * caused it. */
    enum { FILTER_READS, FILTER_ENTERS, FILTER_LEAVES } state;
    struct span_event held;
};

/* As -trigger takes names. */
static bool is_called(const struct span_function *function, const char *name)
{
    return (function->symbol && strcmp(function->symbol, name) == 0) ||
           name_means(function->name, name);
}

/* An inferred beginning is not a call that was seen. */
static bool calls(const struct span_event *event, const char *name)
{
    return event->kind == SPAN_ENTER && !event->hit && !(event->flags & SPAN_START_INFERRED) &&
           is_called(event->function, name);
}

/* Updates what a region begins with. */
static void keep(struct filter *filter, const struct span_event *event)
{
    open_spans_keep(&filter->open, event);
    counter_values_keep(&filter->counters, event);
}

static void begin(struct filter *filter, int state, const struct span_event *event)
{
    filter->state = state;
    open_spans_walk(&filter->open);
    counter_values_walk(&filter->counters);
    filter->held = *event;
}

/* The next event of a region's border; false: there are no more. */
static bool next_of_border(struct filter *filter, struct span_event *event)
{
    if (filter->state == FILTER_LEAVES) {
        if (open_spans_leave(&filter->open, filter->held.time, event))
            return true;
        filter->state = FILTER_READS;
        filter->inside = false;
        open_spans_keep(&filter->open, &filter->held);
        return false;
    }
    if (filter->state == FILTER_ENTERS) {
        if (counter_values_next(&filter->counters, filter->held.time, event) ||
            open_spans_enter(&filter->open, filter->held.time, event))
            return true;
        filter->state = FILTER_READS;
        filter->inside = true;
        *event = filter->held;
        open_spans_keep(&filter->open, event);
        return true;
    }
    return false;
}

static bool next(struct span_source *source, struct span_event *event, struct error *error)
{
    struct filter *filter = source->context;
    filter->wrapped->no_lines = source->no_lines;
    for (;;) {
        if (next_of_border(filter, event))
            return true;
        if (!filter->wrapped->next(filter->wrapped, event, error))
            return false;
        source->function_count = filter->wrapped->function_count;
        if (filter->inside && calls(event, filter->names->to)) {
            begin(filter, FILTER_LEAVES, event);
        } else if (!filter->inside && calls(event, filter->names->from)) {
            begin(filter, FILTER_ENTERS, event);
        } else {
            keep(filter, event);
            if (filter->inside)
                return true;
        }
    }
}

static void close_filter(struct span_source *source)
{
    struct filter *filter = source->context;
    open_spans_free(&filter->open);
    counter_values_free(&filter->counters);
    filter->wrapped->close(filter->wrapped);
    free(filter);
}

struct span_source *span_filter(struct span_source *source, const struct span_filter_names *names)
{
    struct filter *filter = memory_allocate_zeroed(sizeof *filter);
    filter->source = span_source_around(source, filter, next, close_filter);
    filter->wrapped = source;
    filter->names = names;
    open_spans_init(&filter->open, source->track_count);
    counter_values_init(&filter->counters, source);
    return &filter->source;
}

static void offer_once(struct closest_names *closest, struct array *offered,
                       const struct span_function *function)
{
    while (offered->count <= function->index)
        array_add(offered);
    bool *known = array_at(offered, function->index);
    if (!*known)
        closest_names_offer(closest, function->name);
    *known = true;
}

static bool never_called(const struct filter *filter, const struct closest_names *closest,
                         struct error *error)
{
    char names[512];
    closest_names_list(closest, names, sizeof names);
    return error_set(error, ERROR_NOT_FOUND,
                     "-filter: no call of %s was recorded, so nothing is left to show.%s%s%s",
                     filter->names->from, *names ? " Did you mean " : "", names, *names ? "?" : "");
}

bool span_filter_begin(struct span_source *source, struct error *error)
{
    struct filter *filter = source->context;
    struct closest_names closest = closest_names_to(filter->names->from);
    struct array offered = array_of(sizeof(bool)); /* by index of the function */
    struct span_event event;
    struct error ended = {0};
    bool found = false;
    while (!found && filter->wrapped->next(filter->wrapped, &event, &ended)) {
        found = calls(&event, filter->names->from);
        if (found)
            begin(filter, FILTER_ENTERS, &event);
        else
            keep(filter, &event);
        if (event.kind == SPAN_ENTER && !event.hit)
            offer_once(&closest, &offered, event.function);
    }
    source->function_count = filter->wrapped->function_count;
    array_free(&offered);
    if (found)
        return true;
    if (ended.code == ERROR_NONE)
        return never_called(filter, &closest, error);
    if (error)
        *error = ended;
    return false;
}
