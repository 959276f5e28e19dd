/* The tree report of an index against that of the trace itself: of random traces, whole and in part. */
#include "analysis/call_tree.h"

#include "base/memory.h"
#include "index_test.h"
#include "output/report/report_tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { TRACES = 400, PARTS = 8 };

/* Owned by the caller. */
static char *tree_of_trace(struct made_trace *trace, const struct report_tree_options *options)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    struct error error = {0};
    bool ok = report_tree(made_trace_source(trace), options, stream, &error);
    fclose(stream);
    assert_true(ok || error.code != ERROR_NONE);
    return text;
}

static char *tree_of_index(const struct trace_index *index,
                           const struct report_tree_options *options)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    struct error error = {0};
    struct trace_moments moments;
    bool ok = trace_moments_find(index, options, &moments, &error) &&
              call_tree_print(index, &moments, options, stream, &error);
    fclose(stream);
    assert_true(ok || error.code != ERROR_NONE);
    return text;
}

static void check(struct indexed_trace *indexed, const struct report_tree_options *options)
{
    char *expected = tree_of_trace(indexed->trace, options);
    char *printed = tree_of_index(indexed->index, options);
    if (strcmp(printed, expected) != 0)
        fail_msg("from %s to %s:\n%s\ninstead of\n%s", options->from ? options->from : "",
                 options->to ? options->to : "", printed, expected);
    free(printed);
    free(expected);
}

static void check_part(struct indexed_trace *indexed)
{
    uint64_t first = random_time(indexed), last = random_time(indexed);
    uint64_t duration = indexed->trace->duration;
    if (last > duration)
        last = duration;
    if (first > last)
        first = last;
    char *from = memory_format("%" PRIu64 "ns", first), *to = memory_format("%" PRIu64 "ns", last);
    check(indexed, &(struct report_tree_options){.from = from, .to = to});
    check(indexed, &(struct report_tree_options){.from = from, .to = to, .fold = true});
    free(from);
    free(to);
}

static void same_as_of_the_trace(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= TRACES; seed++) {
        struct indexed_trace indexed = indexed_trace_new(seed);
        check(&indexed, &(struct report_tree_options){0});
        check(&indexed, &(struct report_tree_options){.fold = true});
        for (int i = 0; i < PARTS; i++)
            check_part(&indexed);
        indexed_trace_free(&indexed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_of_the_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
