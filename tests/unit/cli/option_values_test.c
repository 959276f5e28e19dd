/* The arguments of -timer-resolution, -callgraph-mode and -events. */
#include "cli/options/callgraph_mode.h"
#include "cli/options/event_list.h"
#include "cli/options/sexp.h"
#include "cli/options/timer_resolution.h"

#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void records_are_read_in_all_forms(void **state)
{
    struct sexp_record record;
    static const char *const same[] = {"(Sample((freq 7)))", "(Sample (freq 7))",
                                       " ( Sample ( ( freq 7 ) ) ) "};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        assert_true(sexp_read_record(&record, same[i]));
        assert_string_equal(record.constructor, "Sample");
        assert_int_equal(record.count, 1);
        assert_string_equal(record.fields[0].name, "freq");
        assert_string_equal(record.fields[0].value, "7");
    }
    assert_true(sexp_read_record(&record, "((a (B 5))(c d))"));
    assert_string_equal(record.constructor, "");
    assert_string_equal(record.fields[0].kind, "B");
    assert_string_equal(record.fields[0].value, "5");
    assert_string_equal(record.fields[1].value, "d");
}

static void damaged_records_are_refused(void **state)
{
    struct sexp_record record;
    static const char *const wrong[] = {
        "",
        "(",
        ")",
        "()x",
        "(a",
        "(a (b)",
        "(a (b c)",
        "(a (b c",
        "((a b)",
        "((a b)))",
        "(a b)",
        "((a ()))",
        "((a (b)))",
        "((a (b c d)))",
        "((a (b c))",
        "(a ((b c))",
        "(a) (b)",
        "((a 1)(b 2)(c 3)(d 4)(e 5)(f 6)(g 7)(h 8)(i 9))",
        "((aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 1))",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(sexp_read_record(&record, wrong[i]));
}

static struct timer_resolution resolution(const char *text)
{
    struct timer_resolution timer;
    struct error error = {0};
    if (!timer_resolution_parse(&timer, text, &error))
        fail_msg("%s: %s", text, error.text);
    return timer;
}

static void timer_resolutions_have_names(void **state)
{
    assert_int_equal(resolution("Low").kind, TIMER_LOW);
    assert_int_equal(resolution("normal").kind, TIMER_NORMAL);
    assert_int_equal(resolution("High").kind, TIMER_HIGH);
}

static void a_timer_resolution_is_a_frequency(void **state)
{
    struct timer_resolution timer = resolution("(Sample((freq 10_000)))");
    assert_int_equal(timer.kind, TIMER_SAMPLE);
    assert_int_equal(timer.frequency, 10000);
}

static void a_custom_timer_resolution_has_fields(void **state)
{
    struct timer_resolution timer =
        resolution("(Custom((noretcomp false)(cyc true)(cyc_thresh 3)(psb_period 15)))");
    assert_int_equal(timer.kind, TIMER_CUSTOM);
    assert_true(timer.given[TIMER_CYC] && timer.values[TIMER_CYC] == 1);
    assert_true(timer.given[TIMER_CYC_THRESH] && timer.values[TIMER_CYC_THRESH] == 3);
    assert_true(timer.given[TIMER_NORETCOMP] && timer.values[TIMER_NORETCOMP] == 0);
    assert_true(timer.given[TIMER_PSB_PERIOD] && timer.values[TIMER_PSB_PERIOD] == 15);
    assert_false(timer.given[TIMER_MTC] || timer.given[TIMER_MTC_PERIOD]);
    assert_int_equal(resolution("(Custom())").kind, TIMER_CUSTOM);
}

static void wrong_timer_resolutions_say_what_is_wrong(void **state)
{
    static const struct {
        const char *text, *complaint;
    } wrong[] = {
        {"", "is Low, Normal, High"},
        {"Medium", "not `Medium`"},
        {"(Medium((freq 1)))", "is Low, Normal, High"},
        {"(Sample((freq 0)))", "1 to 1000000"},
        {"(Sample((freq x)))", "1 to 1000000"},
        {"(Sample((freq 1)(freq 2)))", "1 to 1000000"},
        {"(Sample((freq 99999999999999999999)))", "1 to 1000000"},
        {"(Custom((cyc 2)))", "true or false, not `2`"},
        {"(Custom((cyc true)(cyc true)))", "once"},
        {"(Custom((mtc_period 16)))", "a number up to 15, not `16`"},
        {"(Custom((tsc true)))", "no field tsc"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct timer_resolution timer;
        struct error error = {0};
        assert_false(timer_resolution_parse(&timer, wrong[i].text, &error));
        assert_int_equal(error.code, ERROR_USAGE);
        assert_non_null(strstr(error.text, wrong[i].complaint));
    }
}

static void callgraph_modes_have_two_spellings(void **state)
{
    static const struct {
        const char *text;
        enum callgraph_mode mode;
    } modes[] = {
        {"lbr", CALLGRAPH_LBR},
        {"lbr-no-stitch", CALLGRAPH_LBR_NO_STITCH},
        {"dwarf", CALLGRAPH_DWARF},
        {"Dwarf", CALLGRAPH_DWARF},
        {"fp", CALLGRAPH_FRAME_POINTERS},
        {"Frame_pointers", CALLGRAPH_FRAME_POINTERS},
        {"(Last_branch_record((stitched true)))", CALLGRAPH_LBR},
        {"(Last_branch_record((stitched false)))", CALLGRAPH_LBR_NO_STITCH},
    };
    enum callgraph_mode mode;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        assert_true(callgraph_mode_parse(&mode, modes[i].text));
        assert_int_equal(mode, modes[i].mode);
    }
    assert_false(callgraph_mode_parse(&mode, ""));
    assert_false(callgraph_mode_parse(&mode, "orc"));
    assert_false(callgraph_mode_parse(&mode, "(Last_branch_record((stitched maybe)))"));
}

static void events_are_names_and_records(void **state)
{
    struct processor_options options = {0};
    struct error error = {0};
    assert_true(event_list_parse(&options,
                                 "branch-misses,((when_to_sample (Frequency 100))(name "
                                 "Cache_misses)(precision Request_zero_skid)),page-faults",
                                 &error));
    assert_int_equal(options.event_count, 3);
    const struct extra_event *event = options.events;
    assert_string_equal(event[0].kind->name, "branch-misses");
    assert_int_equal(event[0].count, 50);
    assert_false(event[0].by_frequency);
    assert_int_equal(event[0].precision, EVENT_PRECISION_HIGHEST);
    assert_string_equal(event[1].kind->name, "cache-misses");
    assert_int_equal(event[1].kind->config, PERF_COUNT_HW_CACHE_MISSES);
    assert_true(event[1].by_frequency);
    assert_int_equal(event[1].count, 100);
    assert_int_equal(event[1].precision, 2);
    assert_int_equal(event[2].kind->type, PERF_TYPE_SOFTWARE);
    assert_int_equal(event[2].precision, 0);
}

static void wrong_events_say_what_is_wrong(void **state)
{
    static const struct {
        const char *text, *complaint;
    } wrong[] = {
        {"", "knows no event ``"},
        {"cache-misses,", "knows no event ``"},
        {"cash-misses", "There are: branch-misses"},
        {"((name Cash_misses))", "There are: branch-misses"},
        {"((name Cache_misses)(when_to_sample (Period 0)))", "takes names"},
        {"((name Cache_misses)(when_to_sample 5))", "takes names"},
        {"((name Cache_misses)(precision High))", "takes names"},
        {"((when_to_sample (Period 1)))", "takes names"},
        {"((name Cache_misses)", "takes names"},
        {"page-faults,page-faults,page-faults,page-faults,page-faults,page-faults,page-faults,"
         "page-faults,page-faults",
         "at most 8"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct processor_options options = {0};
        struct error error = {0};
        assert_false(event_list_parse(&options, wrong[i].text, &error));
        assert_int_equal(error.code, ERROR_USAGE);
        assert_non_null(strstr(error.text, wrong[i].complaint));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_read_in_all_forms),
        cmocka_unit_test(damaged_records_are_refused),
        cmocka_unit_test(timer_resolutions_have_names),
        cmocka_unit_test(a_timer_resolution_is_a_frequency),
        cmocka_unit_test(a_custom_timer_resolution_has_fields),
        cmocka_unit_test(wrong_timer_resolutions_say_what_is_wrong),
        cmocka_unit_test(callgraph_modes_have_two_spellings),
        cmocka_unit_test(events_are_names_and_records),
        cmocka_unit_test(wrong_events_say_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
