/* Fuzz target: any bytes as the packets of a thread or of a processor, over the code of
 * flow_program.S. The first byte says how they were recorded (enum option), the rest are packets.
 *
 * Holds: decoding ends, after an amount of work that is bounded by the number of bytes; the times
 * of a thread's events never go back, and every event is one that stack/ knows; two cores make the
 * same events of it as one, and so does the slow path, which the decoder takes for an observer; steps
 * reported with their numbers are those reported one by one.
 * Inputs are changed packet by packet half of the time (packet_mutator.h), for random bytes seldom
 * reach the flow. FLOW_PROGRAM, a path, comes from meson.build.
 */
#include "decode/flow.h"
#include "decode/pt/decode_jobs.h"
#include "packet_mutator.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t capacity, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t capacity); /* libFuzzer's own */

enum option {
    OPTION_PROCESSOR = 1, /* a ring of a processor, on which two threads and nobody take turns */
    OPTION_LOST = 2,      /* something was lost in the middle */
    OPTION_KERNEL = 4,    /* the kernel was traced, too */
    OPTION_ERRATA = 8,    /* made by a processor with errata */
    OPTION_NEW_CODE = 16, /* other code takes the place of the first page's, later */
    OPTION_TIMING = 32,   /* the recording says how MTC and CYC are to be read */
    OPTION_TWO_CORES = 64,
    OPTION_AGAIN = 128, /* all the packets several times, so that the packet-sequence cache fills */
};

enum {
    CODE = 0x401000, /* where ld puts it, and */
    CODE_OFFSET = 0x1000,
    CODE_SIZE = 0x2000,
    PAGE = 0x1000,
    FIRST_PID = 1,
    SECOND_PID = 2,
    /* Ticks, in what the seeds take. */
    SWITCH_TIME = 200,
    NEW_CODE_TIME = 1000,
    TIMES = 5, /* of OPTION_AGAIN */
    /* Instructions. A PSB+ with an address and a loop that no packet ends costs 25 bytes, and may
     * cost as much as the decoder takes to give such a loop up: 2^20. */
    INSTRUCTIONS_PER_BYTE = 1 << 16,
};

static struct sideband_record mapping(uint32_t pid, uint64_t time, uint64_t start, uint64_t offset,
                                      uint64_t length)
{
    return (struct sideband_record){
        .kind = SIDEBAND_MAPPING,
        .time = {time},
        .pid = pid,
        .tid = pid,
        .cpu = UINT32_MAX,
        .mapping = {.start = start,
                    .length = length,
                    .file_offset = offset,
                    .protection = PROT_READ | PROT_EXEC,
                    .flags = MAP_PRIVATE,
                    .executable = true,
                    .path = FLOW_PROGRAM},
    };
}

static struct perf_data perf_data(uint8_t options, struct sideband_record *records, size_t count)
{
    struct perf_data data = {
        .path = (char *)"fuzzed",
        .setup = {.clock = {.mult = 1},
                  .has_clock = true,
                  .config = 0x2403,
                  .tsc_bit = 0x400,
                  .cyc_bit = 2,
                  .no_return_compression_bit = 0x800,
                  .max_nonturbo_ratio = 10,
                  .per_cpu = options & OPTION_PROCESSOR,
                  .kernel = options & OPTION_KERNEL},
        .has_setup = true,
        .records = records,
        .record_count = count,
    };
    if (options & OPTION_TIMING) {
        data.setup.config |= 0x4200;
        data.setup.mtc_bit = 0x200;
        data.setup.mtc_period_bits = 0x3c000;
        data.setup.tsc_ctc_numerator = 250;
        data.setup.tsc_ctc_denominator = 3;
    }
    if (options & OPTION_ERRATA) /* Skylake, of captures/perf_data_converter */
        data.cpu = (struct cpu_identity){.family = 6, .model = 78, .stepping = 3, .intel = true};
    return data;
}

/* The events of all threads: their number, and a hash of each thread's. */
struct seen {
    struct seen_thread {
        uint64_t tid, last_time, count, hash;
    } threads[3];
};

static void *begin(void *context, const struct thread *thread)
{
    struct seen *seen = context;
    struct seen_thread *mine = &seen->threads[thread->tid % 3];
    mine->tid = thread->tid;
    return mine;
}

static void check_events(void *thread, const struct flow_event *events, size_t count)
{
    struct seen_thread *seen = thread;
    for (size_t i = 0; i < count; i++) {
        const struct flow_event *event = &events[i];
        if (event->time.value < seen->last_time || event->kind >= FLOW_KIND_COUNT ||
            event->gap > FLOW_GAP_NO_IMAGE || (event->kind == FLOW_GAP) != (event->gap > 0) ||
            (event->error && !flow_error_text(event->error)))
            abort();
        seen->last_time = event->time.value;
        uint64_t all = event->time.value ^ event->from << 8 ^ event->to << 24 ^
                       (uint64_t)event->kind << 48 ^ (uint64_t)event->flags << 56;
        seen->hash = (seen->hash ^ all) * UINT64_C(0x9e3779b97f4a7c15);
        seen->hash = seen->hash << 29 | seen->hash >> 35;
        seen->count++;
    }
}

static void end(void *thread)
{
}

static void look_away(void *context, const struct flow_step *step)
{
}

static struct seen decode(struct decode_request request, unsigned cores)
{
    struct seen seen = {0};
    struct flow_sink sink = {.context = &seen, .begin = begin, .events = check_events, .end = end};
    struct flow_options options = {.cores = cores};
    struct flow_statistics statistics = {0};
    request.sink = &sink;
    request.options = &options;
    decode_all(&request, &statistics);
    uint64_t size = 0;
    for (size_t i = 0; i < request.data->chunk_count; i++)
        size += request.data->chunks[i].size;
    if (statistics.instructions > (size + PAGE) * INSTRUCTIONS_PER_BYTE)
        abort();
    return seen;
}

/* Adds what depends on the step, but on no order of steps. */
static void sum_repeated(void *context, const struct flow_step *step, uint64_t count)
{
    uint64_t *sum = context;
    uint64_t mixed = (step->from + step->kind) * UINT64_C(0x9e3779b97f4a7c15);
    mixed = ((mixed ^ mixed >> 29) + step->to) * UINT64_C(0xbf58476d1ce4e5b9);
    *sum += (mixed ^ mixed >> 32) * count;
}

static void sum_step(void *context, const struct flow_step *step)
{
    sum_repeated(context, step, 1);
}

/* Every second quarter of a microsecond of a thread; of its neighbours, the others. */
static bool counts_at(void *context, const struct thread *thread, struct ticks time,
                      struct ticks *until)
{
    uint64_t quarters = time.value >> 8;
    until->value = quarters == UINT64_MAX >> 8 ? UINT64_MAX : (quarters + 1) << 8;
    return (quarters + (thread ? thread->tid : 0)) % 2 == 0;
}

static void sum_step_of_part(void *context, const struct flow_step *step)
{
    struct ticks until;
    if (counts_at(context, step->thread, step->time, &until))
        sum_step(context, step);
}

/* Steps that are reported with their numbers must be those that are reported one by one. */
static void compare_counts(struct decode_request *request, bool of_part)
{
    uint64_t one_by_one = 0, repeated = 0;
    struct flow_observer observer = {
        .context = &one_by_one, .blocks = true, .step = of_part ? sum_step_of_part : sum_step};
    request->observer = &observer;
    decode(*request, 1);
    observer.context = &repeated;
    observer.repeated = sum_repeated;
    observer.counts = of_part ? counts_at : NULL;
    decode(*request, 1);
    if (one_by_one != repeated)
        abort();
}

static void decode_packets(const struct perf_data *data, uint8_t options)
{
    struct address_spaces spaces;
    struct trace_streams streams;
    if (!address_spaces_build(&spaces, data, NULL, NULL))
        abort();
    struct symbols *symbols = symbols_open(&spaces, NULL);
    struct decoder_shared *shared = decoder_shared_open(data, symbols);
    if (!shared)
        abort();
    trace_streams_cut(&streams, data);
    struct decode_request request = {
        .data = data, .spaces = &spaces, .streams = &streams, .shared = shared};
    struct seen one = decode(request, 1);
    if (options & OPTION_TWO_CORES) {
        struct seen two = decode(request, 2);
        if (memcmp(&one, &two, sizeof(one)) != 0)
            abort();
    }
    static const struct flow_observer observer = {.step = look_away};
    request.observer = &observer;
    struct seen at_length = decode(request, 1);
    if (memcmp(&one, &at_length, sizeof(one)) != 0)
        abort();
    compare_counts(&request, false);
    compare_counts(&request, true);
    decoder_shared_close(shared);
    trace_streams_free(&streams);
    symbols_close(symbols);
    address_spaces_free(&spaces);
}

static struct sideband_record turn(uint32_t pid, uint64_t time)
{
    return (struct sideband_record){
        .kind = SIDEBAND_CONTEXT_SWITCH, .time = {time}, .pid = pid, .tid = pid, .cpu = 0};
}

/* Owned; of the exact size, so that reading past the end is seen. */
struct packets {
    uint8_t *bytes;
    size_t size;
};

static struct packets repeat(const uint8_t *bytes, size_t size, size_t times)
{
    struct packets packets = {malloc(size * times), size * times};
    for (size_t i = 0; i < times; i++)
        memcpy(packets.bytes + i * size, bytes, size);
    return packets;
}

static struct packets part(const struct packets *of, size_t start, size_t end)
{
    return repeat(of->bytes + start, end - start, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size == 0)
        return 0;
    uint8_t options = bytes[0];
    bool processor = options & OPTION_PROCESSOR;
    struct sideband_record records[] = {
        mapping(FIRST_PID, 0, CODE, CODE_OFFSET, CODE_SIZE),
        mapping(SECOND_PID, 0, CODE, CODE_OFFSET, PAGE),
        turn(FIRST_PID, 1),
        turn(SECOND_PID, SWITCH_TIME),
        turn(0, 2 * SWITCH_TIME),
        turn(FIRST_PID, 3 * SWITCH_TIME),
        mapping(FIRST_PID, NEW_CODE_TIME, CODE, CODE_OFFSET + PAGE, PAGE),
    };
    size_t count = sizeof(records) / sizeof(*records) - !(options & OPTION_NEW_CODE);
    struct perf_data data = perf_data(options, records, count);
    struct packets packets = repeat(bytes + 1, size - 1, options & OPTION_AGAIN ? TIMES : 1);
    struct packets first = packets, second = {0};
    if (options & OPTION_LOST) {
        first = part(&packets, 0, packets.size / 2);
        second = part(&packets, packets.size / 2, packets.size);
    }
    struct aux_chunk chunks[] = {
        {.tid = processor ? UINT32_MAX : FIRST_PID,
         .cpu = processor ? 0 : UINT32_MAX,
         .bytes = first.bytes,
         .size = first.size},
        {.tid = processor ? UINT32_MAX : FIRST_PID,
         .cpu = processor ? 0 : UINT32_MAX,
         .offset = first.size + PAGE,
         .bytes = second.bytes,
         .size = second.size},
    };
    data.chunks = chunks;
    data.chunk_count = second.size ? 2 : 1;
    decode_packets(&data, options);
    if (options & OPTION_LOST) {
        free(first.bytes);
        free(second.bytes);
    }
    free(packets.bytes);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t capacity, unsigned seed)
{
    static const struct packet_mutator mutator = {CODE, CODE + CODE_SIZE};
    if (size < 2 || seed % 2 == 0)
        return LLVMFuzzerMutate(bytes, size, capacity);
    return 1 + packet_mutator_change(&mutator, bytes + 1, size - 1, capacity - 1, seed);
}
