/* Whatever bytes a perf.data file has: reading it ends, and every string and chunk of the result
 * can be read. */
#include "base/file.h"
#include "recording/perf_data/perf_data_reader.h"
#include "recording/perf_data/recorded_stack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Keeps the reading of the result from being optimised away. */
static volatile uint64_t sink;

static void read_sample(const struct perf_data *data, const struct sideband_record *record)
{
    struct recorded_stack stack;
    uint64_t value = 0;
    sink += strlen(data->events[record->sample.event].name);
    if (!recorded_stack_read(data, record, &stack))
        return;
    for (size_t i = 0; i < stack.chain_count; i++)
        sink += recorded_stack_word(&stack, i);
    for (size_t i = 0; i < stack.call_count * sizeof(struct perf_branch_entry); i++)
        sink += stack.calls[i];
    for (unsigned i = 0; i < 64; i++)
        sink += recorded_stack_register(&stack, i, &value) ? value : 0;
    for (size_t i = 0; i < stack.size; i++)
        sink += stack.bytes[i];
}

static void read_result(const struct perf_data *data)
{
    for (size_t i = 0; i < data->record_count; i++) {
        const struct sideband_record *record = &data->records[i];
        if (i > 0 && record[-1].time.value > record->time.value)
            abort();
        if (record->kind == SIDEBAND_MAPPING)
            sink += strlen(record->mapping.path);
        else if (record->kind == SIDEBAND_NAME)
            sink += strlen(record->name.name);
        else if (record->kind == SIDEBAND_KERNEL_SYMBOL)
            sink += strlen(record->kernel_symbol.name);
        else if (record->kind == SIDEBAND_SAMPLE)
            read_sample(data, record);
        for (size_t j = 0; record->kind == SIDEBAND_CODE_CHANGE && j < record->code_change.size;
             j++)
            sink += record->code_change.bytes[j];
    }
    for (size_t i = 0; i < data->build_id_count; i++)
        sink += strlen(data->build_ids[i].path) + data->build_ids[i].id[0];
    for (size_t i = 0; i < data->chunk_count; i++)
        for (size_t j = 0; j < data->chunks[i].size; j++)
            sink += data->chunks[i].bytes[j];
    sink += clock_to_nanoseconds(&data->setup.clock, (struct ticks){UINT64_MAX}).value;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    int descriptor = memfd_create("perf.data", MFD_CLOEXEC);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    struct error error = {0};
    if (descriptor < 0 || !file_write_all(descriptor, bytes, size, path, &error))
        abort();
    struct perf_data data;
    if (perf_data_open(&data, path, &error)) {
        read_result(&data);
        perf_data_close(&data);
    } else if (error.code == ERROR_NONE) {
        abort();
    }
    close(descriptor);
    return 0;
}
