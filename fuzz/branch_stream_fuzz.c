/* Whatever bytes our filter's stream has: decoding it ends, and times of a thread never go back.
 * The branches lead through this very program, so that there is code to walk. */
#include "base/file.h"
#include "base/memory.h"
#include "flow/perf_decoder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerInitialize(int *argument_count, char ***arguments);

enum { START = 0x10000000, LENGTH = 1 << 20, PID = 1, PACKET_TID = 2 };

struct followed {
    struct ticks newest;
};

/* Made once: reading a program's symbols takes longer than a stream. */
static struct address_spaces spaces;
static struct symbols *symbols;

static void *begin(void *context, const struct thread *thread)
{
    return memory_allocate_zeroed(sizeof(struct followed));
}

static void take(void *object, const struct flow_event *events, size_t count)
{
    struct followed *followed = object;
    for (size_t i = 0; i < count; i++) {
        if (events[i].time.value < followed->newest.value)
            abort();
        followed->newest = events[i].time;
    }
}

static void end(void *object)
{
    free(object);
}

static struct side_band_record mapping = {
    .kind = SIDE_BAND_MAPPING,
    .pid = PID,
    .tid = PID,
    .mapping = {.start = START, .length = LENGTH, .executable = true, .path = "/proc/self/exe"},
};

int LLVMFuzzerInitialize(int *argument_count, char ***arguments)
{
    struct perf_data data = {.records = &mapping, .record_count = 1};
    if (!address_spaces_build(&spaces, &data, NULL, NULL))
        abort();
    symbols = symbols_open(&spaces, NULL);
    return 0;
}

static int open_bytes(const uint8_t *bytes, size_t size)
{
    int descriptor = memfd_create("stream", MFD_CLOEXEC);
    if (descriptor < 0 || !file_write_all(descriptor, bytes, size, "stream", NULL) ||
        lseek(descriptor, 0, SEEK_SET) != 0)
        abort();
    return descriptor;
}

/* The first byte says what recording it is of; the packets of a ring begin like the stream. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 1)
        return 0;
    struct aux_chunk chunk = {.tid = PACKET_TID,
                              .cpu = UINT32_MAX,
                              .bytes = bytes + 1,
                              .size = size - 1 < 256 ? size - 1 : 256};
    struct perf_data data = {
        .setup = {.clock = {.mult = 1}, .per_cpu = bytes[0] & 1, .kernel = (bytes[0] & 2) != 0},
        .records = &mapping,
        .record_count = 1,
        .chunks = &chunk,
        .chunk_count = 1};
    struct trace_streams streams;
    trace_streams_cut(&streams, &data);
    struct flow_options options = {.cores = 1};
    struct flow_sink sink = {.begin = begin, .events = take, .end = end};
    struct perf_decode_request request = {.data = &data,
                                          .spaces = &spaces,
                                          .streams = &streams,
                                          .symbols = symbols,
                                          .sink = &sink,
                                          .options = &options};
    struct flow_statistics statistics = {0};
    struct error damage;
    int descriptor = open_bytes(bytes + 1, size - 1);
    perf_decode_stream(&request, descriptor, &statistics, &damage);
    close(descriptor);
    trace_streams_free(&streams);
    return 0;
}
