#include "output/report/report_counters.h"

#include "base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* More are only counted. */
enum { SHOWN_MAX = 16 };

struct report_counter {
    const char *text;
    uint64_t values;
    double min, max;
    UT_hash_handle hh;
};

void report_counters_free(struct report_counters *counters)
{
    struct report_counter *counter, *next;
    HASH_ITER(hh, counters->by_text, counter, next)
    {
        HASH_DEL(counters->by_text, counter);
        free(counter);
    }
}

void report_counters_add(struct report_counters *counters, const char *text, uint64_t count,
                         double min, double max)
{
    struct report_counter *counter;
    if (count == 0 || !isfinite(min) || !isfinite(max))
        return;
    HASH_FIND_STR(counters->by_text, text, counter);
    if (!counter) {
        counter = memory_allocate_zeroed(sizeof *counter);
        counter->text = text;
        counter->min = min;
        counter->max = max;
        HASH_ADD_KEYPTR(hh, counters->by_text, counter->text, strlen(counter->text), counter);
    }
    counter->values += count;
    counter->min = fmin(counter->min, min);
    counter->max = fmax(counter->max, max);
}

void report_counters_print(const struct report_counters *counters, FILE *stream)
{
    unsigned count = HASH_COUNT(counters->by_text), shown = 0;
    for (const struct report_counter *counter = counters->by_text; counter && shown < SHOWN_MAX;
         counter = counter->hh.next, shown++)
        fprintf(stream, "Note: %s was between %.10g and %.10g, recorded %" PRIu64 " time%s.\n",
                counter->text, counter->min, counter->max, counter->values,
                counter->values == 1 ? "" : "s");
    if (shown < count)
        fprintf(stream, "Note: there are %u more counters.\n", count - shown);
}
