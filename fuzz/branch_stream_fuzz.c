/* Fuzz target: any bytes as the stream that our filter in perf hands over, over the code of
 * flow_program.S. The first byte says what recording it is of (enum option), the rest is the
 * stream; the packets of a thread's ring begin with the same bytes.
 *
 * Holds: decoding ends, and the times of a thread's events never go back. FLOW_PROGRAM, a path,
 * comes from meson.build.
 */
#include "base/file.h"
#include "base/memory.h"
#include "decode/perf/perf_decoder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerInitialize(int *argument_count, char ***arguments);

enum option {
    OPTION_PROCESSOR = 1, /* rings are those of processors */
    OPTION_KERNEL = 2,    /* the kernel was traced, too */
};

enum {
    CODE = 0x401000, /* where ld puts it, and */
    CODE_OFFSET = 0x1000,
    CODE_SIZE = 0x2000,
    PID = 1,
    PACKETS_SIZE = 256,
};

struct followed {
    struct ticks newest;
};

/* Made once: reading the program's symbols takes longer than a stream. */
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

static struct sideband_record mapping = {
    .kind = SIDEBAND_MAPPING,
    .pid = PID,
    .tid = PID,
    .cpu = UINT32_MAX,
    .mapping = {.start = CODE,
                .length = CODE_SIZE,
                .file_offset = CODE_OFFSET,
                .protection = PROT_READ | PROT_EXEC,
                .flags = MAP_PRIVATE,
                .executable = true,
                .path = FLOW_PROGRAM},
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

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 1)
        return 0;
    struct aux_chunk chunk = {.tid = PID,
                              .cpu = UINT32_MAX,
                              .bytes = bytes + 1,
                              .size = size - 1 < PACKETS_SIZE ? size - 1 : PACKETS_SIZE};
    struct perf_data data = {.setup = {.clock = {.mult = 1},
                                       .per_cpu = bytes[0] & OPTION_PROCESSOR,
                                       .kernel = bytes[0] & OPTION_KERNEL},
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
