/* What a trace says about its recorder. */
#include "stack/recorded_words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

static void assert_words(const char *engine, const char *clock, const char *part)
{
    struct arena arena = {0};
    const char *words =
        recorded_words(&arena, &(struct session){.engine = engine, .clock = clock}, false);
    if (part)
        assert_non_null(strstr(words, part));
    else
        assert_null(words);
    arena_free(&arena);
}

static void emulated_and_native_time_differ(void **state)
{
    (void)state;
    assert_words("translator", "default", "by the translator: computing took longer");
    assert_words("qemu", "host", "under emulation by qemu: computing took many times as long");
    assert_words("qemu", "host", "; clock: host");
    assert_words("pt", "default", "by Intel PT: times are native");
    assert_words("sample", "default", "Sampled");
}

static void preemption_may_be_unknown(void **state)
{
    (void)state;
    static const char unknown[] = "when threads were not running is unknown";
    const struct session recorded = {.engine = "translator", .clock = "default", .switches = true};
    struct arena arena = {0};
    assert_words("translator", "default", unknown);
    assert_words("qemu", "default", unknown);
    assert_words("pt", "default", unknown);
    assert_null(strstr(recorded_words(&arena, &recorded, false), unknown));
    assert_null(strstr(recorded_words(&arena, &(struct session){.engine = "pt"}, true), unknown));
    assert_null(
        strstr(recorded_words(&arena, &(struct session){.engine = "sample"}, false), unknown));
    arena_free(&arena);
}

static void older_names_of_engines_are_known(void **state)
{
    (void)state;
    assert_words("soft", "default", "under emulation by qemu");
    assert_words("step", "default", "by single steps");
}

static void instructions_are_no_time(void **state)
{
    (void)state;
    assert_words("translator", "instructions", "a nanosecond is an instruction");
    assert_words("soft", "instructions", "-engine qemu and -clock instructions");
}

static void an_unknown_engine_says_nothing(void **state)
{
    (void)state;
    assert_words(NULL, NULL, NULL);
    assert_words("other", "default", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(emulated_and_native_time_differ),
        cmocka_unit_test(preemption_may_be_unknown),
        cmocka_unit_test(older_names_of_engines_are_known),
        cmocka_unit_test(instructions_are_no_time),
        cmocka_unit_test(an_unknown_engine_says_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
