/* A small recording with every kind of record but LOST (of which perf warns), for the tests of this
 * directory: two threads of a tiny program whose packets were encoded by hand, so that perf can
 * decode them.
 */
#ifndef MAGIC_TRACE_TESTS_SAMPLE_RECORDING_H
#define MAGIC_TRACE_TESTS_SAMPLE_RECORDING_H

#include "recording/perf_data/perf_data_writer.h"

#include <stddef.h>
#include <stdint.h>

enum {
    SAMPLE_PID = 500,
    SAMPLE_CODE_ADDRESS = 0x400000, /* where the tiny program is mapped */
    SAMPLE_CODE_OFFSET = 0x100,     /* of the first instruction, in the file and from the address */
};

/* The thread's packets: a jump that is taken, a call, a compressed return, a return that ends the
 * trace. */
extern const uint8_t sample_packets[];
extern const size_t sample_packets_size;

extern const struct pt_setup sample_setup;

/* Sideband records as sample_recording_write writes them, in the order of their times. */
extern const struct sideband_record sample_records[];
extern const size_t sample_record_count;

/* The ELF file that the recording's mapping names. */
void sample_program_write(const char *path);

/* The mapping names `program`. Two chunks for each of two rings. */
void sample_recording_write(const char *path, const char *program);

/* The same program, recorded per CPU: thread 500 ran on CPU 0 and thread 501 on CPU 1, one chunk
 * each. */
void sample_recording_write_per_cpu(const char *path, const char *program);

/* For setup and teardown of tests: a new folder, whose name is the state. */
int sample_folder_make(void **state);
int sample_folder_remove(void **state);

#endif
