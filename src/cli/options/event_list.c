#include "cli/options/event_list.h"

#include "base/memory.h"
#include "cli/options/sexp.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool set_name(struct extra_event *event, const char *name, struct error *error)
{
    event->kind = event_kind_find(name);
    if (!event->kind)
        return error_set(error, ERROR_USAGE, "-events knows no event `%s`. There are: %s.", name,
                         event_kind_names());
    event->count = event->kind->period;
    event->precision = event->kind->precise ? EVENT_PRECISION_HIGHEST : 0;
    return true;
}

static bool parse_precision(const char *word, uint8_t *precision)
{
    static const char *const names[] = {"Arbitrary_skid", "Constant_skid", "Request_zero_skid",
                                        "Zero_skid", "Maximum_possible"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcasecmp(word, names[i]) != 0)
            continue;
        *precision = (uint8_t)i;
        return true;
    }
    return false;
}

static bool set_field(struct extra_event *event, const struct sexp_field *field)
{
    if (strcmp(field->name, "precision") == 0)
        return !*field->kind && parse_precision(field->value, &event->precision);
    if (strcmp(field->name, "when_to_sample") != 0)
        return strcmp(field->name, "name") == 0;
    event->by_frequency = strcasecmp(field->kind, "Frequency") == 0;
    return (event->by_frequency || strcasecmp(field->kind, "Period") == 0) &&
           sexp_number(field->value, &event->count) && event->count > 0;
}

static bool parse_record(struct extra_event *event, const char *text, struct error *error)
{
    struct sexp_record record;
    bool ok = sexp_read_record(&record, text) && !*record.constructor;
    const char *name = NULL;
    for (size_t i = 0; ok && i < record.count; i++)
        if (strcmp(record.fields[i].name, "name") == 0)
            name = record.fields[i].value;
    if (name && !set_name(event, name, error))
        return false;
    for (size_t i = 0; ok && i < record.count; i++)
        ok = set_field(event, &record.fields[i]);
    if (ok && name)
        return true;
    return error_set(error, ERROR_USAGE,
                     "-events takes names, or '((when_to_sample (Period N))(name NAME)(precision "
                     "Zero_skid))' with Frequency for Period, not `%s`.",
                     text);
}

static bool add_event(struct processor_options *options, const char *text, struct error *error)
{
    if (options->event_count == EXTRA_EVENTS)
        return error_set(error, ERROR_USAGE, "-events takes at most %d events.", EXTRA_EVENTS);
    struct extra_event *event = &options->events[options->event_count++];
    *event = (struct extra_event){0};
    text += strspn(text, " ");
    return *text == '(' ? parse_record(event, text, error) : set_name(event, text, error);
}

/* To the comma that ends the first event, or to the end. */
static size_t event_length(const char *list)
{
    int depth = 0;
    size_t length = 0;
    for (; list[length] && (list[length] != ',' || depth > 0); length++)
        depth += list[length] == '(' ? 1 : list[length] == ')' ? -1 : 0;
    return length;
}

bool event_list_parse(struct processor_options *options, const char *list, struct error *error)
{
    options->event_count = 0;
    char *copy = memory_copy_string(list);
    bool ok = true;
    for (char *event = copy; ok && event;) {
        size_t length = event_length(event);
        char *next = event[length] ? event + length + 1 : NULL;
        event[length] = 0;
        ok = add_event(options, event, error);
        event = next;
    }
    free(copy);
    return ok;
}
