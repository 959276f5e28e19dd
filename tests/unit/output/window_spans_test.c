/* A window of a trace: cut at its ends, whole otherwise. */
#include "output/report/window_spans.h"
#include "span_script.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The events of `source`, one word each: "+f@3" entered, "?f@3" with its beginning inferred, "-f@5"
 * left, "!f@5" left by the filter, ".text@4" an instant, "=text@4:1.5" a counter. In a second track
 * a ':' precedes it. The caller frees. */
static char *events_of(struct span_source *source, struct error *error)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    struct span_event event;
    *error = (struct error){0};
    while (source->next(source, &event, error)) {
        fputs(ftell(stream) > 0 ? " " : "", stream);
        fputs(event.track > 0 ? ":" : "", stream);
        if (event.kind == SPAN_ENTER)
            fprintf(stream, "%c%s", event.flags & SPAN_START_INFERRED ? '?' : '+',
                    event.function->name);
        else if (event.kind == SPAN_LEAVE)
            fprintf(stream, "%c%s", event.end == SPAN_END_FILTER ? '!' : '-', event.function->name);
        else
            fprintf(stream, "%c%s", event.kind == SPAN_INSTANT ? '.' : '=', event.text);
        fprintf(stream, "@%" PRIu64, event.time.value);
        if (event.kind == SPAN_COUNTER)
            fprintf(stream, ":%g", event.value);
    }
    fclose(stream);
    return text;
}

/* Two threads; the trace begins at 100, so that moments are not times of the source. */
static struct span_script *make_script(void)
{
    struct span_script *script = span_script_new();
    uint32_t a = span_script_track(script, 1, 1, "prog", "a");
    uint32_t b = span_script_track(script, 1, 2, "prog", "b");
    span_script_enter(script, a, 100, "main");
    span_script_enter(script, b, 105, "spin");
    span_script_counter(script, a, 106, "queue", 1);
    span_script_counter(script, a, 107, "queue", 2);
    span_script_enter(script, a, 110, "f");
    span_script_instant(script, a, 115, "mark");
    span_script_enter(script, a, 120, "g");
    span_script_leave(script, a, 130);
    span_script_leave(script, a, 140);
    span_script_counter(script, a, 145, "queue", 3);
    span_script_enter(script, a, 150, "f");
    span_script_leave(script, b, 155);
    span_script_leave(script, a, 160);
    span_script_leave(script, a, 170);
    return script;
}

static void assert_window(const char *from, const char *to, const char *expected)
{
    struct span_script *script = make_script();
    struct report_tree_options moments = {.from = from, .to = to};
    struct error error = {0};
    struct span_source *window = window_spans(span_script_source(script), &moments, &error);
    assert_non_null(window);
    char *events = events_of(window, &error);
    assert_string_equal(events, expected);
    assert_int_equal(error.code, ERROR_NONE);
    struct span_event event;
    assert_false(window->next(window, &event, &error));
    window->close(window);
    free(events);
    span_script_free(script);
}

static void windows_by_time(void **state)
{
    (void)state;
    assert_window("12ns", "25ns",
                  "?main@112 ?f@112 :?spin@112 =queue@112:2 .mark@115 +g@120 !g@125 !f@125 "
                  "!main@125 :!spin@125");
    assert_window("41ns", "44ns", "?main@141 :?spin@141 =queue@141:2 !main@144 :!spin@144");
    assert_window("50ns", "60ns",
                  "?main@150 :?spin@150 =queue@150:3 +f@150 :-spin@155 -f@160 !main@160");
    assert_window("65ns", NULL, "?main@165 =queue@165:3 -main@170");
    assert_window(NULL, "5ns", "+main@100 :+spin@105 !main@105 :!spin@105");
    assert_window("0", "1s",
                  "+main@100 :+spin@105 =queue@106:1 =queue@107:2 +f@110 .mark@115 +g@120 -g@130 "
                  "-f@140 =queue@145:3 +f@150 :-spin@155 -f@160 -main@170");
}

static void windows_by_calls(void **state)
{
    (void)state;
    assert_window("g", "g",
                  "?main@120 ?f@120 :?spin@120 =queue@120:2 +g@120 -g@130 !f@130 !main@130 "
                  ":!spin@130");
    assert_window("f#2", NULL,
                  "?main@150 :?spin@150 =queue@150:3 +f@150 :-spin@155 -f@160 -main@170");
    assert_window("f", "20ns",
                  "?main@110 :?spin@110 =queue@110:2 +f@110 .mark@115 +g@120 !g@120 !f@120 "
                  "!main@120 :!spin@120");
}

static void assert_refused(const char *from, const char *to, enum error_code code, const char *why)
{
    struct span_script *script = make_script();
    struct report_tree_options moments = {.from = from, .to = to};
    struct error error = {0};
    struct span_source *window = window_spans(span_script_source(script), &moments, &error);
    if (window) {
        free(events_of(window, &error));
        window->close(window);
    }
    assert_int_equal(error.code, code);
    assert_non_null(strstr(error.text, why));
    span_script_free(script);
}

static void moments_that_never_come(void **state)
{
    (void)state;
    assert_refused("f#3", NULL, ERROR_NOT_FOUND, "only 2 calls of f");
    assert_refused(NULL, "nothing", ERROR_NOT_FOUND, "no call of nothing");
    assert_refused("1s", NULL, ERROR_NOT_FOUND, "after the end of the trace");
    assert_refused("2us", "1us", ERROR_USAGE, "is before");
    assert_refused("f#2", "g", ERROR_USAGE, "-to comes first");
}

static void an_empty_trace_has_an_empty_window(void **state)
{
    (void)state;
    struct span_script *script = span_script_new();
    span_script_track(script, 1, 1, "prog", "main");
    struct report_tree_options moments = {.from = "1ns"};
    struct error error = {0};
    struct span_source *window = window_spans(span_script_source(script), &moments, &error);
    char *events = events_of(window, &error);
    assert_string_equal(events, "");
    assert_int_equal(error.code, ERROR_NONE);
    free(events);
    window->close(window);
    span_script_free(script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_by_time),
        cmocka_unit_test(windows_by_calls),
        cmocka_unit_test(moments_that_never_come),
        cmocka_unit_test(an_empty_trace_has_an_empty_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
