/* Loading the runtime into new programs, by a stand-in that counts its starts: programs of all kinds run as without it,
 * whatever happens while they are loaded.
 */
#include "engine/translator/inject/inject.h"

#include "process/exec_stop.h"
#include "process/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { ARENA_SIZE = 64 << 20, COUNT = TR_IMAGE_OFFSET + TR_IMAGE_LIMIT, PROGRAM_STATUS = 42 };

static const char *dynamic_program, *static_program, *program_32;

struct fixture {
    char path[64];
    uint8_t *arena;
    struct runtime_image image;
    struct signals signals;
    struct held_program held;
};

static struct injection injection_of(const struct fixture *fixture)
{
    return (struct injection){
        .arena = fixture->path,
        .arena_file = -1,
        .arena_size = ARENA_SIZE,
        .open_size = COUNT + TR_PAGE,
        .image = &fixture->image,
    };
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    *state = fixture;
    strcpy(fixture->path, "/tmp/inject_test.XXXXXX");
    int descriptor = mkstemp(fixture->path);
    assert_true(descriptor >= 0);
    assert_int_equal(ftruncate(descriptor, ARENA_SIZE), 0);
    fixture->arena = mmap(NULL, ARENA_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    assert_ptr_not_equal(fixture->arena, MAP_FAILED);
    close(descriptor);
    struct error error = {0};
    if (!runtime_image_embedded(&fixture->image, &error))
        fail_msg("%s", error.text);
    inject_store_image(fixture->arena, &fixture->image);
    assert_true(signals_hold(&fixture->signals, NULL));
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    signals_release(&fixture->signals, true);
    unlink(fixture->path);
    munmap(fixture->arena, ARENA_SIZE);
    runtime_image_free(&fixture->image);
    free(fixture);
    return 0;
}

static uint64_t word(const struct fixture *fixture, size_t number)
{
    return ((volatile uint64_t *)(fixture->arena + COUNT))[number];
}

static void hold(struct fixture *fixture, const char *const *arguments)
{
    struct error error = {0};
    if (!launch_held(&fixture->held, arguments[0], (char *const *)arguments, environ,
                     &fixture->signals, &error))
        fail_msg("%s", error.text);
}

static void reach(struct fixture *fixture)
{
    struct error error = {0};
    if (!exec_stop_reach(&fixture->held, &error))
        fail_msg("%s", error.text);
}

/* The status of the program that was let go. */
static int wait_for_end(struct fixture *fixture)
{
    int status;
    assert_int_equal(waitpid(fixture->held.child.pid, &status, 0), fixture->held.child.pid);
    close(fixture->held.child.descriptor);
    return status;
}

static int run(struct fixture *fixture, const char *const *arguments, struct error *error)
{
    struct injection injection = injection_of(fixture);
    hold(fixture, arguments);
    reach(fixture);
    bool ok = inject_watched(fixture->held.child.pid, &injection, error);
    assert_int_equal(ok, error->code == ERROR_NONE);
    if (!ok && error->code != ERROR_NOT_FOUND)
        exec_stop_release(&fixture->held.child);
    return wait_for_end(fixture);
}

static void test_programs_start_in_the_runtime(void **state)
{
    struct fixture *fixture = *state;
    const char *const programs[] = {dynamic_program, static_program};
    for (size_t i = 0; i < 2; i++) {
        struct error error = {0};
        int status = run(fixture, (const char *const[]){programs[i], "word", NULL}, &error);
        assert_string_equal(error.text, "");
        assert_int_equal(status, PROGRAM_STATUS << 8);
        assert_int_equal(word(fixture, 0), i + 1);
        assert_int_equal(word(fixture, 1),
                         0); /* all registers were 0, and what the file does not hold */
        assert_int_equal(word(fixture, 2), 4711);
    }
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    dynamic_program = argv[1];
    static_program = argv[2];
    program_32 = argv[3];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_programs_start_in_the_runtime, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
