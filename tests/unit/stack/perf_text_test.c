/* perf script's text as spans: the rules of the stack apply to it as to a recording, and even
 * damaged text gives spans that are well nested.
 */
#include "base/array.h"
#include "base/file.h"
#include "base/memory.h"
#include "stack/timeline.h"
#include "text_mutant.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static struct timeline *decode(const char *bytes, size_t size, struct error *error)
{
    char path[64];
    int descriptor = memfd_create("text", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    assert_true(file_write_all(descriptor, bytes, size, path, error));
    struct timeline *timeline = timeline_decode(path, &(struct flow_options){0}, error);
    close(descriptor);
    return timeline;
}

/* "+name " for each span's beginning and "-" for its end, in order. */
static char *spans_of(struct timeline *timeline)
{
    struct error error = {0};
    struct span_source *source = timeline_spans(timeline, &error);
    struct span_event event;
    char *text = memory_copy_string("");
    int depth[64] = {0};
    source->no_lines = true;
    while (source->next(source, &event, &error)) {
        if (event.kind == SPAN_INSTANT || event.kind == SPAN_COUNTER)
            continue;
        bool enters = event.kind == SPAN_ENTER;
        if (event.track < 64)
            depth[event.track] += enters ? 1 : -1;
        assert_true(event.track >= 64 || depth[event.track] >= 0);
        char *longer = enters ? memory_format("%s+%s ", text, event.function->name)
                              : memory_format("%s-", text);
        free(text);
        text = longer;
    }
    assert_int_equal(error.code, ERROR_NONE);
    for (size_t i = 0; i < 64; i++)
        assert_int_equal(depth[i], 0);
    source->close(source);
    return text;
}

static void assert_spans(const char *text, const char *spans)
{
    struct error error = {0};
    struct timeline *timeline = decode(text, strlen(text), &error);
    assert_non_null(timeline);
    char *found = spans_of(timeline);
    assert_string_equal(found, spans);
    free(found);
    timeline_free(timeline);
}

#define AT(time) " 7/7  1.0000000" time ":  1  branches:u:  "
#define NOWHERE "0 [unknown] ([unknown])"
#define START AT("00") "tr strt  " NOWHERE " => 4000 main+0x0 (/p)\n"

static void calls(void **state)
{
    assert_spans(
        START AT("10") "call  4010 main+0x10 (/p) => 5000 f+0x0 (/p)\n" AT(
            "20") "call  5010 f+0x10 (/p) => 6000 g+0x0 (/p)\n" AT("30") "return  6010 g+0x10 "
                                                                         "(/p) => 5012 f+0x12 "
                                                                         "(/p)\n" AT(
                                                                             "40") "ret"
                                                                                   "urn"
                                                                                   "  "
                                                                                   "502"
                                                                                   "0 "
                                                                                   "f+"
                                                                                   "0x2"
                                                                                   "0 "
                                                                                   "(/"
                                                                                   "p) "
                                                                                   "=> "
                                                                                   "401"
                                                                                   "5 "
                                                                                   "mai"
                                                                                   "n+"
                                                                                   "0x1"
                                                                                   "5 "
                                                                                   "(/"
                                                                                   "p)"
                                                                                   "\n" AT(
                                                                                       "50") "call "
                                                                                             " 4020"
                                                                                             " main"
                                                                                             "+0x20"
                                                                                             " (/"
                                                                                             "p) "
                                                                                             "=> "
                                                                                             "6000 "
                                                                                             "g+"
                                                                                             "0x0 "
                                                                                             "(/"
                                                                                             "p)\n",
        "+main +f +g --+g --");
}

static void changes_of_frequency_are_counters(void **state)
{
    static const char text[] =
        " 7/7  0.900000000: 1 cbr:  cbr: 26  0  0 [unknown] ([unknown])\n" START
        " 7/7  1.000000005: 1 cbr:  cbr: 26  0  0 [unknown] ([unknown])\n"
        " 7/7  1.000000007: 1 cbr:  cbr: 42 freq: 4219 MHz (162%)  0 [unknown] ([unknown])\n" AT(
            "10") "call  4010 main+0x10 (/p) => 5000 f+0x0 (/p)\n"
                  " 9/9  1.000000012: 1 cbr:  cbr: 10  0  0 [unknown] ([unknown])\n";
    static const struct {
        uint64_t time;
        double value;
    } VALUES[] = {{0, 2600}, {7, 4219}};
    struct error error = {0};
    struct timeline *timeline = decode(text, strlen(text), &error);
    struct span_source *source = timeline_spans(timeline, &error);
    struct span_event event;
    size_t count = 0;
    assert_int_equal(source->track_count, 1); /* one that only had a frequency is not shown */
    while (source->next(source, &event, &error)) {
        if (event.kind != SPAN_COUNTER)
            continue;
        assert_int_equal(event.time.value, VALUES[count].time);
        assert_true(event.value == VALUES[count].value);
        assert_string_equal(event.text, "frequency of [unnamed] 7 (MHz)");
        count++;
    }
    assert_int_equal(count, 2);
    source->close(source);
    timeline_free(timeline);
}

static void recursion_is_kept(void **state)
{
    assert_spans(
        START AT("10") "call  4010 main+0x10 (/p) => 4000 main+0x0 (/p)\n" AT(
            "20") "call  4010 main+0x10 (/p) => 4000 main+0x0 (/p)\n" AT("30") "return  4030 "
                                                                               "main+0x30 (/p) => "
                                                                               "4015 main+0x15 "
                                                                               "(/p)\n" AT(
                                                                                   "40") "r"
                                                                                         "e"
                                                                                         "t"
                                                                                         "u"
                                                                                         "r"
                                                                                         "n"
                                                                                         " "
                                                                                         " "
                                                                                         "4"
                                                                                         "0"
                                                                                         "3"
                                                                                         "0"
                                                                                         " "
                                                                                         "m"
                                                                                         "a"
                                                                                         "i"
                                                                                         "n"
                                                                                         "+"
                                                                                         "0"
                                                                                         "x"
                                                                                         "3"
                                                                                         "0"
                                                                                         " "
                                                                                         "("
                                                                                         "/"
                                                                                         "p"
                                                                                         ")"
                                                                                         " "
                                                                                         "="
                                                                                         ">"
                                                                                         " "
                                                                                         "4"
                                                                                         "0"
                                                                                         "1"
                                                                                         "5"
                                                                                         " "
                                                                                         "m"
                                                                                         "a"
                                                                                         "i"
                                                                                         "n"
                                                                                         "+"
                                                                                         "0"
                                                                                         "x"
                                                                                         "1"
                                                                                         "5"
                                                                                         " "
                                                                                         "("
                                                                                         "/"
                                                                                         "p"
                                                                                         ")"
                                                                                         "\n",
        "+main +main +main ---");
}

static void longjmp_ends_all_at_once(void **state)
{
    assert_spans(
        START AT("10") "call  4010 main+0x10 (/p) => 5000 f+0x0 (/p)\n" AT(
            "20") "call  5010 f+0x10 (/p) => 6000 g+0x0 (/p)\n" AT("30") "jmp  6010 "
                                                                         "g+0x10 (/p) => "
                                                                         "4018 main+0x18 "
                                                                         "(/p)\n" AT(
                                                                             "40") "call  4020 "
                                                                                   "main+0x20 (/p) "
                                                                                   "=> 6000 g+0x0 "
                                                                                   "(/p)\n",
        "+main +f +g --+g --");
}

static void system_calls_and_signals(void **state)
{
    assert_spans(
        START AT("10") "tr end  syscall  4010 main+0x10 (/p) => " NOWHERE "\n" AT(
            "20") "tr strt  " NOWHERE
                  " => 4012 main+0x12 (/p)\n" AT(
                      "30") "tr end  async  4014 main+0x14 (/p) => " NOWHERE
                            "\n" AT("40") "tr strt  " NOWHERE " => 5000 handler+0x0 (/p)\n" AT(
                                "50") "return  5010 handler+0x10 (/p) => 9000 __restore_rt+0x0 "
                                      "(/c)\n" AT("60") "tr end  syscall  9007 __restore_rt+0x7 "
                                                        "(/c) => " NOWHERE
                                                        "\n" AT("70") "tr strt  " NOWHERE
                                                                      " => 4014 main+0x14 (/p)\n",
        "+main +[syscall] -+[interrupt] -+handler -+__restore_rt +[syscall] ---");
}

static void exec_begins_again(void **state)
{
    assert_spans(START AT("10") "tr end  syscall  4010 main+0x10 (/p) => " NOWHERE
                                "\n" AT("20") "tr strt  " NOWHERE
                                              " => 1000 _start+0x0 (/lib/ld.so)\n",
                 "+main +[syscall] --+_start -");
}

static void transactions_that_fail(void **state)
{
    assert_spans(
        START AT("10") "call    (x)  4010 main+0x10 (/p) => 5000 f+0x0 (/p)\n" AT(
            "20") "tx abrt  5010 f+0x10 (/p) => 4018 main+0x18 (/p)\n" AT("30") "call  4020 "
                                                                                "main+0x20 (/p) => "
                                                                                "6000 g+0x0 (/p)\n",
        "+main +f -+g --");
}

static void callers_found_by_their_return(void **state)
{
    assert_spans(AT("10") "return  6010 g+0x10 (/p) => 5012 f+0x12 (/p)\n" AT(
                     "20") "return  5020 f+0x20 (/p) => 4015 main+0x15 (/p)\n",
                 "+main +f +g ---");
}

static void sampled_stacks(void **state)
{
    assert_spans(" 3/3 1.1: 9 cycles:u: \n\t 14 leaf+0x4 (/p)\n\t 34 main+0x4 (/p)\n\n"
                 " 3/3 1.2: 9 cycles:u: \n\t 18 leaf+0x8 (/p)\n\t 34 main+0x4 (/p)\n\n"
                 " 3/3 1.3: 9 cycles:u: \n\t 24 other+0x4 (/p)\n\t 38 main+0x8 (/p)\n\n",
                 "+[samples] +main +leaf -+other ---");
}

static void ten_thousand_mutants(void **state)
{
    uint64_t seed = 2;
    for (int i = 0; i < 10000; i++) {
        struct mutant mutant;
        struct error error = {0};
        text_mutate(&mutant, &seed);
        struct timeline *timeline = decode(mutant.bytes, mutant.size, &error);
        if (!timeline) {
            assert_int_not_equal(error.code, ERROR_NONE);
            continue;
        }
        free(spans_of(timeline));
        timeline_free(timeline);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls),
        cmocka_unit_test(changes_of_frequency_are_counters),
        cmocka_unit_test(recursion_is_kept),
        cmocka_unit_test(longjmp_ends_all_at_once),
        cmocka_unit_test(system_calls_and_signals),
        cmocka_unit_test(exec_begins_again),
        cmocka_unit_test(transactions_that_fail),
        cmocka_unit_test(callers_found_by_their_return),
        cmocka_unit_test(sampled_stacks),
        cmocka_unit_test(ten_thousand_mutants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
