/* The writer: what it leaves on disk when all goes well and when not, and what stock perf makes of
 * it. */
#include "sample_recording.h"

#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

static char *in_folder(void **state, const char *name)
{
    return memory_format("%s/%s", (char *)*state, name);
}

static void only_the_owner_may_read_it(void **state)
{
    char *path = in_folder(state, "perf.data");
    mode_t old = umask(0);
    sample_recording_write(path, "/nonexistent");
    umask(old);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    free(path);
}

static void older_recording_stays_until_the_new_one_is_complete(void **state)
{
    char *path = in_folder(state, "perf.data");
    sample_recording_write(path, "/nonexistent");
    struct stat before, during;
    assert_int_equal(stat(path, &before), 0);
    struct perf_data_writer *writer = perf_data_writer_open(path, &sample_setup, NULL, NULL);
    assert_non_null(writer);
    assert_int_equal(stat(path, &during), 0);
    assert_int_equal(during.st_ino, before.st_ino);
    assert_true(perf_data_writer_close(writer, NULL));
    assert_int_equal(stat(path, &during), 0);
    assert_true(during.st_ino != before.st_ino);
    free(path);
}

static void abandoning_leaves_nothing(void **state)
{
    char *path = in_folder(state, "perf.data");
    struct perf_data_writer *writer = perf_data_writer_open(path, &sample_setup, NULL, NULL);
    assert_non_null(writer);
    perf_data_writer_abandon(writer);
    assert_int_equal(rmdir(*state), 0); /* works on an empty folder only */
    assert_int_equal(mkdir(*state, 0700), 0);
    free(path);
}

static void full_disk_is_said_and_leaves_nothing(void **state)
{
    char *path = in_folder(state, "perf.data");
    char *temporary_path = in_folder(state, "perf.data.partial");
    /* Like /dev/full (Documentation/admin-guide/devices.txt of Linux); links are not followed. */
    if (mknod(temporary_path, S_IFCHR | 0600, makedev(1, 7)) != 0) {
        free(temporary_path);
        free(path);
        skip(); /* only root may make devices */
    }
    struct error error = {0};
    struct perf_data_writer *writer = perf_data_writer_open(path, &sample_setup, NULL, &error);
    assert_non_null(writer); /* nothing was flushed yet */
    static uint8_t packets[1 << 20];
    const struct iovec part = {packets, sizeof packets};
    const struct aux_chunk chunk = {.tid = 1, .cpu = UINT32_MAX, .reference = {1}};
    assert_false(perf_data_write_aux(writer, &chunk, &part, 1, &error));
    assert_int_equal(error.code, ERROR_IO);
    assert_non_null(strstr(error.text, "disk is full"));
    assert_non_null(strstr(error.text, path));
    error = (struct error){0};
    assert_false(perf_data_writer_close(writer, &error));
    assert_non_null(strstr(error.text, "disk is full"));
    assert_int_equal(access(path, F_OK), -1);
    struct stat status;
    assert_int_equal(lstat(temporary_path, &status), -1);
    free(temporary_path);
    free(path);
}

/* A recording with a part of the view, twice. The caller frees its bytes. */
static char *write_chunks(const char *path, const struct file_view *view, int descriptor,
                          size_t *size)
{
    enum { FROM = 12345, COUNT = 300001 }; /* no borders of pages */
    struct perf_data_writer *writer = perf_data_writer_open(path, &sample_setup, NULL, NULL);
    const struct iovec part = {(void *)(view->bytes + FROM), COUNT};
    const struct aux_chunk chunk = {.tid = 1, .cpu = UINT32_MAX, .reference = {1}};
    assert_non_null(writer);
    perf_data_set_source(writer, view, descriptor);
    assert_true(perf_data_write_aux(writer, &chunk, &part, 1, NULL));
    assert_true(perf_data_write_aux(writer, &chunk, &part, 1, NULL));
    assert_true(perf_data_writer_close(writer, NULL));
    return file_read(path, size, NULL);
}

/* The kernel copies from the file, or, where it cannot, the bytes are written from memory. */
static void chunks_of_a_mapped_file_are_what_they_are_in_memory(void **state)
{
    char *path = in_folder(state, "perf.data"), *source = in_folder(state, "source");
    FILE *file = fopen(source, "w+");
    for (unsigned i = 0; i < 100000; i++)
        fprintf(file, "%08x", i * 2654435761U);
    fflush(file);
    struct file_view view;
    assert_true(file_map(&view, source, NULL));
    int directory = open(*state, O_RDONLY | O_DIRECTORY);
    size_t expected_size, size;
    char *expected = write_chunks(path, &view, -1, &expected_size);
    const int descriptors[] = {fileno(file), directory};
    for (size_t i = 0; i < sizeof descriptors / sizeof *descriptors; i++) {
        char *content = write_chunks(path, &view, descriptors[i], &size);
        assert_int_equal(size, expected_size);
        assert_memory_equal(content, expected, size);
        free(content);
    }
    free(expected);
    close(directory);
    file_unmap(&view);
    fclose(file);
    free(source);
    free(path);
}

static void missing_folder_is_an_error(void **state)
{
    struct error error = {0};
    assert_null(
        perf_data_writer_open("/nonexistent/folder/perf.data", &sample_setup, NULL, &error));
    assert_int_equal(error.code, ERROR_IO);
    assert_non_null(strstr(error.text, "/nonexistent/folder"));
}

/* What `perf ARGUMENTS -i FILE` prints on both outputs; NULL when there is no perf. The caller
 * frees. */
static char *perf(const char *arguments, const char *file)
{
    /* Without configuration and build-id cache of whoever runs the test. */
    char *command =
        memory_format("command -v perf >/dev/null || exit 99; HOME=/nonexistent PAGER=cat "
                      "perf %s -i %s </dev/null 2>&1",
                      arguments, file);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t capacity = 1 << 16;
    char *text = memory_allocate(capacity);
    size_t size = fread(text, 1, capacity - 1, pipe);
    text[size] = 0;
    assert_true(feof(pipe)); /* it all fits */
    int status = pclose(pipe);
    free(command);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 99) {
        print_message("skipped: perf is not installed (Debian package linux-perf)\n");
        free(text);
        return NULL;
    }
    assert_int_equal(status, 0);
    return text;
}

static size_t count_of(const char *text, const char *word)
{
    size_t count = 0;
    while ((text = strstr(text, word))) {
        text += strlen(word);
        count++;
    }
    return count;
}

static void perf_decodes_the_expected_branches(void **state)
{
    char *path = in_folder(state, "perf.data");
    char *program = in_folder(state, "tiny");
    sample_program_write(program);
    sample_recording_write(path, program);
    char *text = perf("script --itrace=bei1i -F comm,tid,time,event,ip,addr,flags", path);
    if (text) {
        assert_int_equal(count_of(text, "error"), 0);
        assert_int_equal(count_of(text, "Warning"), 0);
        /* For each thread, in each of its two chunks: */
        assert_int_equal(count_of(text, "tr strt"), 4);
        assert_int_equal(
            count_of(text, "jcc                              400100 =>           400104"), 4);
        assert_int_equal(
            count_of(text, "call                             400104 =>           40010a"), 4);
        assert_int_equal(
            count_of(text, "return                           40010a =>           400109"), 4);
        assert_int_equal(
            count_of(text, "tr end  return                   400109 =>                0"), 4);
        assert_int_equal(count_of(text, "instructions:"), 4 * 4);
        assert_int_equal(count_of(text, "tiny"), 4 * 5 + 4 * 4);
        assert_int_equal(count_of(text, "  501 "), 2 * 5 + 2 * 4);
    }
    free(text);
    free(program);
    free(path);
}

static void perf_decodes_rings_of_cpus(void **state)
{
    char *path = in_folder(state, "perf.data");
    char *program = in_folder(state, "tiny");
    sample_program_write(program);
    sample_recording_write_per_cpu(path, program);
    char *text = perf("script --itrace=be -F tid,cpu,event,ip,addr", path);
    if (text) {
        assert_int_equal(count_of(text, "error"), 0);
        assert_int_equal(count_of(text, "Warning"), 0);
        assert_int_equal(count_of(text, "branches:"), 2 * 5);
        assert_int_equal(count_of(text, "500 [000]"), 5);
        assert_int_equal(count_of(text, "501 [001]"), 5);
        assert_int_equal(count_of(text, "400104 =>           40010a"), 2);
    }
    free(text);
    free(program);
    free(path);
}

static void perf_reads_every_record(void **state)
{
    char *path = in_folder(state, "perf.data");
    sample_recording_write(path, "/nonexistent/tiny");
    char *text = perf("script -D", path);
    if (text) {
        static const char *const expected[] = {
            "PERF_RECORD_AUXTRACE_INFO",
            "PERF_RECORD_COMM exec: tiny:500/500",
            "PERF_RECORD_MMAP2 500/500: [0x400000(0x1000) @ 0 08:01 77 0]: r-xp /nonexistent/tiny",
            "PERF_RECORD_MMAP2 500/500: [0x500000(0x2000) @ 0x3000 00:00 0 0]: rw-s //anon",
            "PERF_RECORD_FORK(500:501):(500:500)",
            "PERF_RECORD_EXIT(500:501):(1:1)",
            "PERF_RECORD_ITRACE_START pid: 500 tid: 500",
            "PERF_RECORD_AUX offset: 0x40 size: 0x31 flags: 0 []",
            "PERF_RECORD_SWITCH OUT",
            "size: 0x38  offset: 0x40  ref: 0xf4250  idx: 1  tid: 501  cpu: -1",
        };
        for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
            if (!strstr(text, expected[i]))
                fail_msg("perf script -D does not print \"%s\" but:\n%s", expected[i], text);
        assert_int_equal(count_of(text, "Bad packet"), 0);
        assert_int_equal(count_of(text, "unhandled"), 0);
    }
    free(text);
    text = perf("report --header-only", path);
    if (text) {
        assert_int_equal(count_of(text, "# cmdline : magic-trace run ./tiny"), 1);
        assert_int_equal(count_of(text, "name = intel_pt//u"), 1);
        assert_int_equal(count_of(text, "# time of last sample : 0.001000"), 1);
    }
    free(text);
    free(path);
}

int main(void)
{
#define IN_FOLDER(test)                                                                            \
    cmocka_unit_test_setup_teardown(test, sample_folder_make, sample_folder_remove)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(only_the_owner_may_read_it),
        IN_FOLDER(older_recording_stays_until_the_new_one_is_complete),
        IN_FOLDER(abandoning_leaves_nothing),
        IN_FOLDER(full_disk_is_said_and_leaves_nothing),
        IN_FOLDER(chunks_of_a_mapped_file_are_what_they_are_in_memory),
        cmocka_unit_test(missing_folder_is_an_error),
        IN_FOLDER(perf_decodes_the_expected_branches),
        IN_FOLDER(perf_decodes_rings_of_cpus),
        IN_FOLDER(perf_reads_every_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
