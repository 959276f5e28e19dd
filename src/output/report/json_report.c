#include "output/report/json_report.h"

#include "base/memory.h"
#include "output/json_quoted.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct json_item {
    char *text; /* owned */
    uint64_t weight;
    size_t number; /* in the order in which they came */
};

/* Room for the end of the object. */
enum { END_BYTES = 48 };

void json_report_begin(struct json_report *report, FILE *stream, const char *head, const char *list,
                       size_t max_bytes)
{
    *report = (struct json_report){
        .stream = stream,
        .max_bytes = max_bytes,
        .items = array_of(sizeof(struct json_item)),
    };
    int printed = fprintf(stream, "{%s, \"%s\": [", head, list);
    report->used = END_BYTES + (printed > 0 ? (size_t)printed : 0);
}

static void write_item(struct json_report *report, char *item)
{
    fprintf(report->stream, "%s\n  %s", report->written ? "," : "", item);
    report->written++;
    free(item);
}

void json_report_add(struct json_report *report, char *item, uint64_t weight)
{
    if (report->max_bytes == 0) {
        write_item(report, item);
        return;
    }
    const struct json_item waiting = {item, weight, report->items.count};
    array_add_all(&report->items, &waiting, 1);
}

static int by_weight(const void *left, const void *right)
{
    const struct json_item *a = left, *b = right;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static int by_number(const void *left, const void *right)
{
    const struct json_item *a = left, *b = right;
    return (a->number > b->number) - (a->number < b->number);
}

/* How many of the heaviest items fit. */
static size_t count_fitting(struct json_report *report)
{
    const struct json_item *items = report->items.elements;
    size_t fitting = 0;
    for (; fitting < report->items.count; fitting++) {
        size_t size = strlen(items[fitting].text) + strlen(",\n  ");
        if (fitting > 0 && report->used + size > report->max_bytes)
            break;
        report->used += size;
    }
    return fitting;
}

static void write_waiting(struct json_report *report)
{
    struct json_item *items = report->items.elements;
    if (report->items.count == 0)
        return;
    qsort(items, report->items.count, sizeof *items, by_weight);
    size_t fitting = count_fitting(report);
    for (size_t i = fitting; i < report->items.count; i++)
        free(items[i].text);
    report->omitted += report->items.count - fitting;
    qsort(items, fitting, sizeof *items, by_number);
    for (size_t i = 0; i < fitting; i++)
        write_item(report, items[i].text);
}

void json_report_end(struct json_report *report)
{
    write_waiting(report);
    fprintf(report->stream, "%s], \"omitted\": %" PRIu64 "}\n", report->written ? "\n" : "",
            report->omitted);
    array_free(&report->items);
}

char *json_member(const char *name, const char *text)
{
    char *quoted = text ? json_quoted(text) : NULL;
    char *member = memory_format("\"%s\": %s", name, quoted ? quoted : "null");
    free(quoted);
    return member;
}
