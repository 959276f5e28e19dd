/* The records of a running process: this test itself. */
#include "perf_event/running_process.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct sleeper {
    pthread_barrier_t named, done;
    pid_t tid;
};

static void *sleep_with_a_name(void *argument)
{
    struct sleeper *sleeper = argument;
    prctl(PR_SET_NAME, "sleeper");
    sleeper->tid = gettid();
    pthread_barrier_wait(&sleeper->named);
    pthread_barrier_wait(&sleeper->done);
    return NULL;
}

static size_t count(const struct running_processes *processes, enum sideband_kind kind, pid_t tid)
{
    size_t found = 0;
    for (size_t i = 0; i < processes->records.count; i++) {
        const struct sideband_record *record = array_at(&processes->records, i);
        found += record->kind == kind && record->tid == (uint32_t)tid &&
                 record->pid == (uint32_t)getpid();
    }
    return found;
}

static const struct sideband_record *mapping_of(const struct running_processes *processes,
                                                const void *code)
{
    for (size_t i = 0; i < processes->records.count; i++) {
        const struct sideband_record *record = array_at(&processes->records, i);
        if (record->kind == SIDEBAND_MAPPING &&
            (uintptr_t)code - record->mapping.start < record->mapping.length)
            return record;
    }
    return NULL;
}

static void threads_have_names_and_code_has_files(void **state)
{
    char folder[] = "/tmp/running_process_test.XXXXXX", images[64];
    assert_non_null(mkdtemp(folder));
    snprintf(images, sizeof images, "%s/images", folder);
    assert_int_equal(mkdir(images, 0700), 0);
    struct sleeper sleeper;
    pthread_barrier_init(&sleeper.named, NULL, 2);
    pthread_barrier_init(&sleeper.done, NULL, 2);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, sleep_with_a_name, &sleeper), 0);
    pthread_barrier_wait(&sleeper.named);

    struct running_processes processes;
    running_processes_begin(&processes, folder);
    running_processes_add(&processes, getpid());
    running_processes_add(&processes, getpid()); /* says nothing twice */
    assert_int_equal(count(&processes, SIDEBAND_NAME, sleeper.tid), 1);
    assert_int_equal(count(&processes, SIDEBAND_FORK, sleeper.tid), 1);
    assert_int_equal(count(&processes, SIDEBAND_NAME, getpid()), 1);
    assert_int_equal(count(&processes, SIDEBAND_FORK, getpid()), 0);
    const struct sideband_record *record = mapping_of(&processes, (void *)mapping_of);
    assert_non_null(record);
    char self[4096] = "";
    assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    assert_string_equal(record->mapping.path, self);
    /* perf converts times to ticks. Where tick 0 is later than the machine's start, or is taken to be by a small error of the
     * clock's rate, it takes 1 ns for later than all packets, and decodes them without this code. */
    for (size_t i = 0; i < processes.records.count; i++)
        assert_int_equal(((struct sideband_record *)array_at(&processes.records, i))->time.value,
                         0);
    running_processes_free(&processes);

    pthread_barrier_wait(&sleeper.done);
    pthread_join(thread, NULL);
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static void a_process_that_has_ended_is_nothing(void **state)
{
    struct running_processes processes;
    running_processes_begin(&processes, "/nonexistent");
    running_processes_add(&processes, 0x7ffffff0);
    assert_int_equal(processes.records.count, 0);
    running_processes_free(&processes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_have_names_and_code_has_files),
        cmocka_unit_test(a_process_that_has_ended_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
