#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made_folder.h"

#include "base/file.h"
#include "perf_event/threads.h"

#include <stdlib.h>
#include <string.h>

/* A /proc of our own, with a process 40 that has the threads 40 and 42. */
struct fixture {
    struct made_folder folder;
    struct kernel kernel;
    struct array known;
    struct thread_search search;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    fixture = (struct fixture){.kernel = kernel_real, .known = array_of(sizeof(uint32_t))};
    made_folder_begin(&fixture.folder);
    made_folder_make(&fixture.folder, "40/task/42");
    made_folder_make(&fixture.folder, "40/task/40");
    fixture.kernel.proc = fixture.folder.path;
    thread_search_begin(&fixture.search, &fixture.kernel, 40, &fixture.known);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    thread_search_end(&fixture->search);
    array_free(&fixture->known);
    made_folder_end(&fixture->folder);
    return 0;
}

static void look(struct fixture *fixture, size_t found, bool over)
{
    struct error error = {0};
    if (!thread_search_look(&fixture->search, &error))
        fail_msg("%s", error.text);
    assert_int_equal(fixture->search.found.count, found);
    assert_int_equal(fixture->search.over, over);
}

static void it_is_over_when_nothing_new_was_seen_twice(void **state)
{
    struct fixture *fixture = *state;
    look(fixture, 2, false);
    look(fixture, 0, false);
    made_folder_make(&fixture->folder, "40/task/41");
    look(fixture, 1, false);
    assert_int_equal(*(uint32_t *)array_at(&fixture->search.found, 0), 41);
    look(fixture, 0, false);
    look(fixture, 0, true);
}

static void what_is_known_stays_in_order_and_is_not_found_again(void **state)
{
    struct fixture *fixture = *state;
    look(fixture, 2, false);
    assert_int_equal(fixture->known.count, 2);
    assert_int_equal(*(uint32_t *)array_at(&fixture->known, 0), 40);
    assert_int_equal(*(uint32_t *)array_at(&fixture->known, 1), 42);
    assert_true(threads_contain(&fixture->known, 42));
    assert_false(threads_contain(&fixture->known, 41));
    assert_false(threads_contain(&fixture->known, 43));
    thread_search_end(&fixture->search);
    thread_search_begin(&fixture->search, &fixture->kernel, 40, &fixture->known);
    look(fixture, 0, false);
    look(fixture, 0, true);
}

static void a_process_that_has_ended_is_no_error(void **state)
{
    struct fixture *fixture = *state;
    look(fixture, 2, false);
    char *path = made_folder_path(&fixture->folder, "40");
    assert_true(file_remove_tree(path, NULL));
    free(path);
    look(fixture, 0, true);
}

static void threads_that_cannot_be_listed_are_an_error(void **state)
{
    struct fixture *fixture = *state;
    struct error error = {0};
    made_folder_put(&fixture->folder, "41/task", "no folder");
    thread_search_end(&fixture->search);
    thread_search_begin(&fixture->search, &fixture->kernel, 41, &fixture->known);
    assert_false(thread_search_look(&fixture->search, &error));
    assert_non_null(strstr(error.text, "cannot list the threads of process 41"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(it_is_over_when_nothing_new_was_seen_twice),
        TEST(what_is_known_stays_in_order_and_is_not_found_again),
        TEST(a_process_that_has_ended_is_no_error),
        TEST(threads_that_cannot_be_listed_are_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
