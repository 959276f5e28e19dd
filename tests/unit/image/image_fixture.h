/* Sideband records and files made by hand. */
#ifndef MAGIC_TRACE_TESTS_IMAGE_FIXTURE_H
#define MAGIC_TRACE_TESTS_IMAGE_FIXTURE_H

#include "base/array.h"
#include "recording/perf_data/perf_data_reader.h"

#include <stddef.h>
#include <stdint.h>

/* Records in the order in which they are added; times in nanoseconds, which the clock of
 * recording_of makes the same number of ticks. */
struct recording {
    struct array records; /* of struct sideband_record */
};

struct recording recording_new(void);
void recording_free(struct recording *recording);
struct perf_data recording_of(const struct recording *recording);

void add_mapping(struct recording *recording, uint64_t time, uint32_t pid, uint64_t start,
                 uint64_t end, uint64_t file_offset, const char *path);
void add_name(struct recording *recording, uint64_t time, uint32_t pid, uint32_t tid,
              const char *name, bool exec);
void add_fork(struct recording *recording, uint64_t time, uint32_t parent_pid, uint32_t parent_tid,
              uint32_t pid, uint32_t tid);
void add_exit(struct recording *recording, uint64_t time, uint32_t pid, uint32_t tid);

/* Makes the missing folders too. */
void write_file(const char *path, const void *bytes, size_t size);

/* A fresh folder; free with remove_test_folder. */
char *make_test_folder(void);
void remove_test_folder(char *folder);

/* The same as cmocka's setup and teardown: *state is the folder. */
int make_folder(void **state);
int remove_folder(void **state);

#endif
