/* Names of JIT code are copied into the recording. */
#include "engine/perf_map_copy.h"

#include "base/file.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { PID = 77, RECORDED_PID = 1, WRITTEN = 1000 /* seconds */ };

static const uint64_t second = 1000000000;

static int make_folder(void **state)
{
    static char folder[64];
    strcpy(folder, "/tmp/magic-trace-maps-XXXXXX");
    *state = mkdtemp(folder);
    char *images = memory_format("%s/images", folder);
    bool ok = *state && mkdir(images, 0700) == 0;
    free(images);
    return !ok;
}

static int remove_folder(void **state)
{
    return !file_remove_tree(*state, NULL);
}

static void make_map(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fflush(file);
    struct timespec times[] = {{.tv_sec = WRITTEN}, {.tv_sec = WRITTEN}};
    assert_int_equal(futimens(fileno(file), times), 0);
    fclose(file);
}

/* The copy in the recording; NULL: none. The caller frees. */
static char *keep(const char *folder, uint64_t begun_seconds)
{
    perf_map_keep(&(struct perf_map_copy){
        .from = folder,
        .directory = folder,
        .pid = PID,
        .recorded_pid = RECORDED_PID,
        .begun = begun_seconds * second,
    });
    char *path = memory_format("%s/images/perf-%d.map", folder, RECORDED_PID);
    char *text = file_read(path, NULL, NULL);
    free(path);
    return text;
}

static void a_map_is_kept_under_the_recorded_number_once(void **state)
{
    char *map = memory_format("%s/perf-%d.map", (char *)*state, PID);
    assert_null(keep(*state, WRITTEN));
    make_map(map, "1000 10 f\n");
    char *kept = keep(*state, WRITTEN);
    assert_string_equal(kept, "1000 10 f\n");
    free(kept);
    make_map(map, "2000 20 g\n");
    kept = keep(*state, WRITTEN);
    assert_string_equal(kept, "1000 10 f\n");
    free(kept);
    free(map);
}

static void a_map_of_a_former_process_is_not_kept(void **state)
{
    char *map = memory_format("%s/perf-%d.map", (char *)*state, PID);
    make_map(map, "1000 10 f\n");
    assert_null(keep(*state, WRITTEN + 1));
    free(map);
}

static void links_and_fifos_are_let_alone(void **state)
{
    char *map = memory_format("%s/perf-%d.map", (char *)*state, PID);
    char *secret = memory_format("%s/secret", (char *)*state);
    make_map(secret, "secret\n");
    assert_int_equal(symlink(secret, map), 0);
    assert_null(keep(*state, WRITTEN));
    unlink(map);
    assert_int_equal(mkfifo(map, 0600), 0);
    assert_null(keep(*state, 0));
    free(secret);
    free(map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_map_is_kept_under_the_recorded_number_once, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(a_map_of_a_former_process_is_not_kept, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(links_and_fifos_are_let_alone, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
