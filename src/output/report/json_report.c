#include "output/report/json_report.h"

#include "base/log.h"
#include "base/memory.h"
#include "output/json_quoted.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct json_item {
    char *text; /* owned */
    uint64_t weight;
    uint64_t number; /* in the order in which they came */
};

/* Room for the end of the object, and how much may wait before what is certain not to be kept is dropped. */
enum { END_BYTES = 48, WAITING_BYTES = 1 << 20 };

void json_report_begin(struct json_report *report, FILE *stream, const char *head, const char *list,
                       size_t max_bytes)
{
    *report = (struct json_report){
        .stream = stream,
        .max_bytes = max_bytes,
        .items = array_of(sizeof(struct json_item)),
    };
    int printed = fprintf(stream, "{%s, \"%s\": [", head, list);
    report->printed = printed > 0 ? (size_t)printed : 0;
    report->used = END_BYTES + report->printed;
}

static void write_item(struct json_report *report, char *item)
{
    int printed = fprintf(report->stream, "%s\n  %s", report->written ? "," : "", item);
    report->printed += printed > 0 ? (size_t)printed : 0;
    report->written++;
    free(item);
}

static int by_weight(const void *left, const void *right)
{
    const struct json_item *a = left, *b = right;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static size_t size_of(const struct json_item *item)
{
    return strlen(item->text) + strlen(",\n  ");
}

static int by_number(const void *left, const void *right)
{
    const struct json_item *a = left, *b = right;
    return (a->number > b->number) - (a->number < b->number);
}

/* Keeps of the waiting items the heaviest that fit, the heaviest first. */
static void drop_light(struct json_report *report)
{
    struct json_item *items = report->items.elements;
    size_t used = report->used, fitting = 0;
    if (report->items.count == 0)
        return;
    qsort(items, report->items.count, sizeof *items, by_weight);
    for (; fitting < report->items.count; fitting++) {
        used += size_of(&items[fitting]);
        if (fitting > 0 && used > report->max_bytes)
            break;
    }
    for (size_t i = fitting; i < report->items.count; i++)
        free(items[i].text);
    report->omitted += report->items.count - fitting;
    report->items.count = fitting;
    report->waiting_bytes = 0;
    for (size_t i = 0; i < fitting; i++)
        report->waiting_bytes += size_of(&items[i]);
}

void json_report_add(struct json_report *report, char *item, uint64_t weight)
{
    if (report->max_bytes == 0) {
        write_item(report, item);
        return;
    }
    const struct json_item waiting = {item, weight, report->added++};
    array_add_all(&report->items, &waiting, 1);
    report->waiting_bytes += size_of(&waiting);
    if (report->waiting_bytes > WAITING_BYTES && report->waiting_bytes / 4 > report->max_bytes)
        drop_light(report);
}

static void write_waiting(struct json_report *report)
{
    drop_light(report);
    struct json_item *items = report->items.elements;
    if (report->items.count > 0)
        qsort(items, report->items.count, sizeof *items, by_number);
    for (size_t i = 0; i < report->items.count; i++)
        write_item(report, items[i].text);
}

void json_report_end(struct json_report *report)
{
    write_waiting(report);
    int printed = fprintf(report->stream, "%s], \"omitted\": %" PRIu64 "}\n",
                          report->written ? "\n" : "", report->omitted);
    report->printed += printed > 0 ? (size_t)printed : 0;
    json_report_note_size(report->max_bytes, report->printed);
    array_free(&report->items);
}

void json_report_note_size(size_t max_bytes, size_t printed)
{
    if (max_bytes > 0 && printed > max_bytes)
        log_status("The least that can be printed is %zu bytes: more than -max-bytes %zu allows.",
                   printed, max_bytes);
}

char *json_member(const char *name, const char *text)
{
    char *quoted = text ? json_quoted(text) : NULL;
    char *member = memory_format("\"%s\": %s", name, quoted ? quoted : "null");
    free(quoted);
    return member;
}
