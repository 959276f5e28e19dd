/* A report as one JSON object: what is known of the whole, and a list of items, one a line.
 *
 *     struct json_report report;
 *     json_report_begin(&report, stream, "\"report\": \"functions\"", "functions", max_bytes);
 *     json_report_add(&report, item, weight);
 *     json_report_end(&report);
 *
 * Called by the reports when they are asked for JSON. With a size budget the items of greatest weight
 * are kept, in the order in which they came, and "omitted" says how many are not there; at
 * least one is kept; memory is a few times the budget. Without a budget items are written as they come.
 */
#ifndef MAGIC_TRACE_OUTPUT_REPORT_JSON_REPORT_H
#define MAGIC_TRACE_OUTPUT_REPORT_JSON_REPORT_H

#include "base/array.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json_report {
    FILE *stream;
    size_t max_bytes, used; /* of the whole; 0: any size */
    size_t printed;         /* bytes so far */
    struct array items;     /* of struct json_item, that wait for json_report_end() */
    size_t waiting_bytes;   /* of their texts */
    uint64_t added;         /* items that came */
    uint64_t written;
    uint64_t omitted; /* what the caller has left out before may be added */
};

/* `head`: members of the object, without braces. `list`: the name of the list of items. */
void json_report_begin(struct json_report *report, FILE *stream, const char *head, const char *list,
                       size_t max_bytes);

/* Takes `item`, a JSON value, which the caller has allocated. */
void json_report_add(struct json_report *report, char *item, uint64_t weight);

/* Writes what waits, and the end of the object. */
void json_report_end(struct json_report *report);

/* Says so when more was printed than the budget: one item, larger than that. */
void json_report_note_size(size_t max_bytes, size_t printed);

/* The member that counts calls; for samples, which have no calls: spans. */
static inline const char *json_name_of_calls(bool sampled)
{
    return sampled ? "spans" : "calls";
}

/* "\"name\": \"text\"" with what it needs of escapes; null for NULL. The caller frees. */
char *json_member(const char *name, const char *text);

#endif
