/* Following what traced processes execute: processes that ask as the runtime does, and a runtime that
 * stands in for the real one and counts its starts.
 */
#include "engine/translator/exec_requests.h"

#include "engine/packets/log_reader.h"
#include "engine/supervise.h"
#include "engine/translator/inject/inject.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { PROGRAM_STATUS = 42, REFUSED = 43, GAVE_UP = 44, PARALLEL_RUNS = 200, VFORK_RUNS = 25 };

static char *requesting_program, *started_program, *program_32;

struct fixture {
    char directory[64];
    struct translator_arena arena;
    struct runtime_image image;
    struct seen_files files;
    struct exec_requests requests;
    struct supervision supervision;
    struct signals signals;
};

static void never(void *context)
{
    (void)context;
    fail_msg("nothing freezes here");
}

static void serve(void *fixture)
{
    exec_requests_serve(&((struct fixture *)fixture)->requests);
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct tr_options options = {.ring_size = 64 << 10, .tsc_hz = 1000000000, .follow = true};
    struct error error = {0};
    fixture->files = seen_files_begin();
    *state = fixture;
    strcpy(fixture->directory, "/tmp/exec_requests_test.XXXXXX");
    assert_non_null(mkdtemp(fixture->directory));
    if (!translator_arena_create(&fixture->arena, fixture->directory, &options, &error) ||
        !runtime_image_embedded(&fixture->image, &error) ||
        !exec_requests_begin(&fixture->requests, &fixture->arena, &fixture->image, &fixture->files,
                             &error) ||
        !signals_hold(&fixture->signals, &error))
        fail_msg("%s", error.text);
    inject_store_image(fixture->arena.bytes, &fixture->image);
    /* The stand-in writes after the image, where the log is: into bytes that the log has used. */
    atomic_store(&fixture->arena.control->log_tail, TR_PAGE);
    struct tr_control *control = fixture->arena.control;
    fixture->supervision = (struct supervision){
        .program.signals = &fixture->signals,
        .shared = {&control->frozen, &control->snapshots, &control->freeze_at,
                   &control->longest_delay},
        .freeze = never,
        .serve = serve,
        .descriptor = fixture->requests.descriptor,
        .recording = fixture,
        .is_traced = {process_maps_file, &fixture->arena.file},
    };
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    exec_requests_end(&fixture->requests);
    seen_files_free(&fixture->files);
    signals_release(&fixture->signals, true);
    runtime_image_free(&fixture->image);
    translator_arena_close(&fixture->arena);
    translator_arena_remove(fixture->directory);
    rmdir(fixture->directory);
    free(fixture);
    return 0;
}

static uint64_t starts(const struct fixture *fixture)
{
    return *(volatile uint64_t *)(fixture->arena.bytes + fixture->arena.geometry.log_offset);
}

/* Status as from waitpid of a process that does `action` with `program`. */
static int run(struct fixture *fixture, const char *action, char *program)
{
    char *arguments[] = {
        requesting_program, fixture->arena.path, (char *)action, program, "word", NULL};
    struct error error = {0};
    if (!launch(&fixture->supervision.program.child, arguments, environ, &fixture->signals, false,
                &error))
        fail_msg("%s", error.text);
    fixture->requests.program = fixture->supervision.program.child.pid;
    return supervise(&fixture->supervision);
}

static void assert_no_request_is_left(const struct fixture *fixture)
{
    for (size_t i = 0; i < TR_REQUESTS; i++)
        assert_int_equal(fixture->arena.control->requests[i].state, TR_REQUEST_FREE);
    assert_int_equal(fixture->requests.followed.count, 0);
}

static void assert_loaded(struct fixture *fixture, const char *action)
{
    assert_int_equal(run(fixture, action, started_program), PROGRAM_STATUS << 8);
    assert_int_equal(starts(fixture), 1);
    assert_no_request_is_left(fixture);
}

static void test_the_program_executes_another(void **state)
{
    assert_loaded(*state, "exec");
}

static void test_a_thread_executes(void **state)
{
    assert_loaded(*state, "thread");
}

static void test_the_first_execution_fails(void **state)
{
    assert_loaded(*state, "missing");
}

static void test_in_another_pid_namespace(void **state)
{
    if (geteuid() != 0)
        skip();
    assert_loaded(*state, "namespace");
}

static void test_children_by_vfork(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(run(fixture, "vfork", started_program), 0);
    assert_int_equal(starts(fixture), VFORK_RUNS);
    assert_no_request_is_left(fixture);
}

static void test_many_at_once(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(run(fixture, "fork", started_program), 0);
    assert_int_equal(starts(fixture), PARALLEL_RUNS);
    assert_no_request_is_left(fixture);
}

static void test_who_does_not_prove_to_be_the_one_is_refused(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(run(fixture, "stranger", started_program), REFUSED << 8);
    assert_int_equal(starts(fixture), 0);
    assert_no_request_is_left(fixture);
}

/* A kernel may run no programs of 32 bits. */
static bool runs_natively(const char *path)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        execl(path, path, NULL);
        _exit(EXIT_FAILURE);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status == PROGRAM_STATUS << 8;
}

static void test_what_cannot_be_loaded_runs_untraced(void **state)
{
    struct fixture *fixture = *state;
    if (!runs_natively(program_32))
        skip();
    assert_int_equal(run(fixture, "exec", program_32), PROGRAM_STATUS << 8);
    assert_int_equal(starts(fixture), 0);
    assert_no_request_is_left(fixture);
    struct log_reader reader = {
        .log = fixture->arena.bytes + fixture->arena.geometry.log_offset,
        .size = atomic_load(&fixture->arena.control->log_tail),
    };
    const struct logged_untraced *untraced = (const void *)log_reader_next(&reader);
    assert_non_null(untraced);
    assert_int_equal(untraced->record.kind, LOGGED_UNTRACED);
    assert_string_equal(untraced->name, "program_32");
    assert_string_equal(untraced->name + strlen(untraced->name) + 1, "it is a 32-bit program");
}

static void test_nobody_is_followed_after_the_end(void **state)
{
    struct fixture *fixture = *state;
    translator_arena_freeze(&fixture->arena);
    assert_int_equal(run(fixture, "exec", started_program), REFUSED << 8);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    requesting_program = argv[1];
    started_program = argv[2];
    program_32 = argv[3];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_program_executes_another, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_thread_executes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_first_execution_fails, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_in_another_pid_namespace, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_children_by_vfork, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many_at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_who_does_not_prove_to_be_the_one_is_refused, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_what_cannot_be_loaded_runs_untraced, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_nobody_is_followed_after_the_end, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
