/* Where the index of a trace file lies, and when it is built again. */
#include "base/file.h"
#include "base/memory.h"
#include "index/build/index_builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* The magic number of the format, which is a whole, empty trace. */
static const uint8_t NOTHING[] = {0x10, 0x00, 0x04, 0x46, 0x78, 0x54, 0x16, 0x00};
/* A record of an unknown kind, of one word. */
static const uint8_t UNKNOWN[] = {0x1d, 0, 0, 0, 0, 0, 0, 0};

struct place {
    char *folder, *trace, *beside, *cache;
};

static char *in(const struct place *place, const char *name)
{
    return memory_format("%s/%s", place->folder, name);
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    int descriptor = file_create_private(path, NULL);
    assert_true(descriptor >= 0);
    assert_true(file_write_all(descriptor, bytes, size, path, NULL));
    close(descriptor);
}

static int set_up(void **state)
{
    struct place *place = memory_allocate_zeroed(sizeof *place);
    place->folder = memory_copy_string("/tmp/magic-trace-place.XXXXXX");
    assert_non_null(mkdtemp(place->folder));
    place->trace = in(place, "trace.fxt");
    place->beside = in(place, "trace.fxt.magic-trace-index");
    place->cache = in(place, "cache");
    setenv("XDG_CACHE_HOME", place->cache, 1);
    write_file(place->trace, NOTHING, sizeof NOTHING);
    *state = place;
    return 0;
}

static int tear_down(void **state)
{
    struct place *place = *state;
    file_remove_tree(place->folder, NULL);
    free(place->folder);
    free(place->trace);
    free(place->beside);
    free(place->cache);
    free(place);
    return 0;
}

static uint64_t index_trace(const struct place *place)
{
    struct error error = {0};
    struct trace_index *index = index_of_trace(place->trace, &error);
    if (!index)
        fail_msg("%s", error.text);
    uint64_t id = trace_index_facts(index)->id;
    trace_index_close(index);
    return id;
}

static ino_t file_number(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? status.st_ino : 0;
}

static void test_kept_beside_the_trace(void **state)
{
    const struct place *place = *state;
    uint64_t id = index_trace(place);
    ino_t first = file_number(place->beside);
    assert_true(first != 0);
    assert_int_equal(index_trace(place), id);
    assert_int_equal(file_number(place->beside), first);
    assert_true(index_is_current(place->trace, id));
    assert_int_equal(access(place->cache, F_OK), -1);
}

static void test_made_again_when_the_trace_changes(void **state)
{
    const struct place *place = *state;
    uint64_t id = index_trace(place);
    uint8_t more[sizeof NOTHING + sizeof UNKNOWN];
    memcpy(more, NOTHING, sizeof NOTHING);
    memcpy(more + sizeof NOTHING, UNKNOWN, sizeof UNKNOWN);
    write_file(place->trace, more, sizeof more);
    assert_false(index_is_current(place->trace, id));
    assert_true(index_trace(place) != id);
    char *old = in(place, "trace.fxt.magic-trace-index.old");
    assert_int_equal(access(old, F_OK), -1);
    free(old);
}

static void test_made_again_when_it_is_damaged(void **state)
{
    const struct place *place = *state;
    uint64_t id = index_trace(place);
    write_file(place->beside, NOTHING, sizeof NOTHING);
    assert_int_equal(index_trace(place), id);
}

/* Also for the superuser: a folder lies where the index would. */
static void test_goes_to_the_cache(void **state)
{
    const struct place *place = *state;
    assert_int_equal(mkdir(place->beside, 0700), 0);
    uint64_t id = index_trace(place);
    assert_int_equal(access(place->cache, F_OK), 0);
    assert_int_equal(index_trace(place), id);
}

static void test_does_not_follow_links(void **state)
{
    const struct place *place = *state;
    char *other = in(place, "other");
    write_file(other, "mine", 4);
    assert_int_equal(symlink(other, place->beside), 0);
    index_trace(place);
    char *bytes = file_read(other, NULL, NULL);
    assert_string_equal(bytes, "mine");
    free(bytes);
    free(other);
}

static void test_no_trace(void **state)
{
    const struct place *place = *state;
    struct error error = {0};
    char *missing = in(place, "missing"), *fifo = in(place, "fifo"), *text = in(place, "text");
    assert_null(index_of_trace(missing, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_null(index_of_trace(fifo, &error));
    assert_int_equal(error.code, ERROR_USAGE);
    write_file(text, "no trace at all", 15);
    assert_null(index_of_trace(text, &error));
    assert_int_equal(error.code, ERROR_FORMAT);
    assert_false(index_is_current(missing, 1));
    free(missing);
    free(fifo);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_kept_beside_the_trace, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_made_again_when_the_trace_changes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_made_again_when_it_is_damaged, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_goes_to_the_cache, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_does_not_follow_links, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_trace, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
