#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made_folder.h"

#include "base/memory.h"
#include "perf_event/pmu.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A sysfs of our own. */
struct fixture {
    struct made_folder folder;
    struct kernel kernel;
};

static void put(const struct fixture *fixture, const char *name, const char *text)
{
    char *file = memory_format("bus/event_source/devices/unit/%s", name);
    made_folder_put(&fixture->folder, file, text);
    free(file);
}

static int set_up(void **state)
{
    struct fixture *fixture = memory_allocate_zeroed(sizeof *fixture);
    made_folder_begin(&fixture->folder);
    fixture->kernel = kernel_real;
    fixture->kernel.sysfs = fixture->folder.path;
    put(fixture, "type", "11\n");
    put(fixture, "nr_addr_filters", "2\n");
    put(fixture, "caps/mtc_periods", "249\n");
    put(fixture, "format/cyc", "config:1\n");
    put(fixture, "format/mtc_period", "config:14-17\n");
    put(fixture, "format/split", "config1:0-3,32-35\n");
    put(fixture, "format/all", "config2:0-63\n");
    put(fixture, "format/broken", "config:60-70\n");
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    made_folder_end(&fixture->folder);
    free(fixture);
    return 0;
}

static struct pmu open_unit(const struct fixture *fixture)
{
    struct pmu pmu;
    struct error error = {0};
    assert_true(pmu_open(&pmu, &fixture->kernel, "unit", &error));
    return pmu;
}

static void a_unit_has_a_number_and_abilities(void **state)
{
    struct pmu pmu = open_unit(*state);
    assert_int_equal(pmu.type, 11);
    assert_int_equal(pmu_number(&pmu, "nr_addr_filters"), 2);
    assert_int_equal(pmu_number(&pmu, "max_nonturbo_ratio"), 0);
    assert_int_equal(pmu_capability(&pmu, "mtc_periods"), 0x249);
    assert_int_equal(pmu_capability(&pmu, "psb_cyc"), 0);
}

static void a_unit_that_is_not_there_is_named(void **state)
{
    struct fixture *fixture = *state;
    struct pmu pmu;
    struct error error = {0};
    assert_false(pmu_open(&pmu, &fixture->kernel, "intel_pt", &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    assert_non_null(strstr(error.text, "intel_pt"));
    put(fixture, "type", "many\n");
    assert_false(pmu_open(&pmu, &fixture->kernel, "unit", &error));
    assert_int_equal(error.code, ERROR_FORMAT);
}

static void bits_are_those_of_the_first_word(void **state)
{
    struct pmu pmu = open_unit(*state);
    assert_int_equal(pmu_config_bits(&pmu, "cyc"), 2);
    assert_int_equal(pmu_config_bits(&pmu, "mtc_period"), 0xf << 14);
    assert_int_equal(pmu_config_bits(&pmu, "split"), 0);
    assert_int_equal(pmu_config_bits(&pmu, "broken"), 0);
    assert_int_equal(pmu_config_bits(&pmu, "none"), 0);
}

static void values_go_where_the_field_lies(void **state)
{
    struct pmu pmu = open_unit(*state);
    struct perf_event_attr attributes = {.config = UINT64_C(0xf) << 13};
    assert_true(pmu_set(&pmu, &attributes, "cyc", 1, NULL));
    assert_true(pmu_set(&pmu, &attributes, "mtc_period", 9, NULL));
    assert_int_equal(attributes.config, 9 << 14 | 1 << 13 | 2);
    assert_true(pmu_set(&pmu, &attributes, "split", 0xa5, NULL));
    assert_int_equal(attributes.config1, UINT64_C(0xa) << 32 | 5);
    assert_true(pmu_set(&pmu, &attributes, "all", UINT64_MAX, NULL));
    assert_int_equal(attributes.config2, UINT64_MAX);
}

static void values_that_do_not_fit_are_refused(void **state)
{
    struct pmu pmu = open_unit(*state);
    struct perf_event_attr attributes = {0};
    struct error error = {0};
    assert_false(pmu_set(&pmu, &attributes, "mtc_period", 16, &error));
    assert_int_equal(error.code, ERROR_USAGE);
    assert_non_null(strstr(error.text, "0 to 15"));
    assert_false(pmu_set(&pmu, &attributes, "none", 1, &error));
    assert_int_equal(error.code, ERROR_UNSUPPORTED);
    assert_false(pmu_set(&pmu, &attributes, "broken", 1, &error));
    assert_int_equal(attributes.config, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_unit_has_a_number_and_abilities, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_unit_that_is_not_there_is_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bits_are_those_of_the_first_word, set_up, tear_down),
        cmocka_unit_test_setup_teardown(values_go_where_the_field_lies, set_up, tear_down),
        cmocka_unit_test_setup_teardown(values_that_do_not_fit_are_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
