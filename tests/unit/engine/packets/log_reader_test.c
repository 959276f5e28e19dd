/* The sideband log, with the holes that killed writers leave. */
#include "engine/packets/log_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { RECORD_SIZE = 64 };

struct test_log {
    _Alignas(16) unsigned char bytes[1024];
    size_t used;
};

static struct logged_name *add_name(struct test_log *log, const char *name)
{
    struct logged_name *added = (struct logged_name *)(log->bytes + log->used);
    memset(added, 0, RECORD_SIZE);
    added->record.magic = LOGGED_MAGIC;
    added->record.kind = LOGGED_NAME;
    added->record.size = RECORD_SIZE;
    strcpy(added->name, name);
    atomic_store(&added->record.ready, 1);
    log->used += RECORD_SIZE;
    return added;
}

static void expect_names(const struct test_log *log, const char *const *names)
{
    struct log_reader reader = {.log = log->bytes, .size = log->used};
    for (; *names; names++) {
        const struct logged_record *record = log_reader_next(&reader);
        assert_non_null(record);
        assert_string_equal(((const struct logged_name *)record)->name, *names);
    }
    assert_null(log_reader_next(&reader));
    assert_null(log_reader_next(&reader));
}

static void complete_records_come_in_order(void **state)
{
    struct test_log log = {0};
    add_name(&log, "a");
    add_name(&log, "b");
    expect_names(&log, (const char *[]){"a", "b", NULL});
    log.used = 0;
    expect_names(&log, (const char *[]){NULL});
}

static void holes_are_stepped_over(void **state)
{
    struct test_log log = {0};
    log.used = 48; /* reserved, never written */
    add_name(&log, "after zeros");
    atomic_store(&add_name(&log, "unfinished")->record.ready, 0);
    add_name(&log, "last");
    log.used += 16;
    expect_names(&log, (const char *[]){"after zeros", "last", NULL});
}

static void sizes_that_do_not_fit_are_not_believed(void **state)
{
    static const uint32_t sizes[] = {0, 16, 40, 63, 4096, UINT32_MAX, UINT32_MAX - 15};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct test_log log = {0};
        add_name(&log, "bad")->record.size = sizes[i];
        add_name(&log, "good");
        expect_names(&log, (const char *[]){"good", NULL});
    }
}

static void strings_without_end_and_unknown_kinds_are_left_out(void **state)
{
    struct test_log log = {0};
    struct logged_name *endless = add_name(&log, "");
    memset(endless->name, 'x', RECORD_SIZE - offsetof(struct logged_name, name));
    add_name(&log, "unknown")->record.kind = 999;
    add_name(&log, "good");
    expect_names(&log, (const char *[]){"good", NULL});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(complete_records_come_in_order),
        cmocka_unit_test(holes_are_stepped_over),
        cmocka_unit_test(sizes_that_do_not_fit_are_not_believed),
        cmocka_unit_test(strings_without_end_and_unknown_kinds_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
