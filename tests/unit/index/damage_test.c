/* Damaged index files: errors, never a crash (the sanitizers look on) and never a hang. */
#include "ask_everything.h"
#include "index/build/index_build.h"
#include "made_trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { TRACES = 20, DAMAGES = 300 };

static char *index_bytes(uint64_t seed, size_t *size)
{
    struct made_trace *trace = made_trace_new(seed, 300);
    const struct index_layout layout = {
        .chunk_items = 7, .level_ratio = 2, .level_enough = 5, .bucket_calls = 20};
    char path[] = "/tmp/magic-trace-index-damage.XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    struct error error = {0};
    if (!index_build_as(made_trace_source(trace), path, 1, &layout, &error))
        fail_msg("%s", error.text);
    char *bytes = file_read(path, size, &error);
    assert_non_null(bytes);
    unlink(path);
    made_trace_free(trace);
    return bytes;
}

/* Changes one to three bytes or words. */
static void damage(uint8_t *bytes, size_t size, uint64_t *random)
{
    for (uint64_t i = made_random(random, 3); i < 3; i++) {
        size_t place = made_random(random, size);
        uint64_t value = made_random(random, 2) ? UINT64_MAX : made_random(random, size);
        size_t width = (size_t)1 << made_random(random, 4);
        memcpy(bytes + place, &value, width < size - place ? width : size - place);
    }
}

static void test_damaged_bytes(void **state)
{
    uint64_t random = 1;
    for (uint64_t seed = 1; seed <= TRACES; seed++) {
        size_t size;
        char *whole = index_bytes(seed, &size);
        uint8_t *bytes = malloc(size);
        for (int i = 0; i < DAMAGES; i++) {
            memcpy(bytes, whole, size);
            damage(bytes, size, &random);
            ask_everything(bytes, size, random);
        }
        free(bytes);
        free(whole);
    }
}

static void test_cut_file(void **state)
{
    size_t size;
    char *whole = index_bytes(3, &size);
    for (size_t cut = 0; cut < size; cut += 1 + cut / 8)
        ask_everything((const uint8_t *)whole, cut, cut);
    ask_everything((const uint8_t *)whole, size, 1);
    free(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damaged_bytes),
        cmocka_unit_test(test_cut_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
