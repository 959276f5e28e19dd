/* Fuzz target: any bytes as the packets of a thread or of a processor, over the code of
 * flow_program.S. The first byte says how they were recorded (enum option), the rest are packets.
 *
 * Holds: decoding ends, after an amount of work that is bounded by the number of bytes; the offset
 * and the time of the decoder never go back; the times of a thread's events never go back either,
 * and every event is one that stack/ knows. Inputs are changed packet by packet half of the time
 * (packet_mutator.h), for random bytes seldom reach the flow. FLOW_PROGRAM, a path, comes from
 * meson.build.
 */
#include "flow/decoder.h"
#include "packet_mutator.h"
#include "symbol/symbols.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t capacity, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t capacity); /* libFuzzer's own */

enum option {
    OPTION_PROCESSOR = 1,  /* a ring of a processor, on which two threads and nobody take turns */
    OPTION_LOST_AFTER = 2, /* more was lost behind the last byte */
    OPTION_KERNEL = 4,     /* the kernel was traced, too */
    OPTION_ERRATA = 8,     /* made by a processor with errata */
    OPTION_NEW_CODE = 16,  /* other code takes the place of the first page's, later */
    OPTION_TIMING = 32,    /* the recording says how MTC and CYC are to be read */
    OPTION_SLICES = 64,    /* decoded up to one time after the other */
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
    SLICE = 64,
    /* Blocks. A PSB+ with an address and a loop that no packet ends costs 25 bytes, and may cost as
     * many blocks as the decoder takes to give such a loop up: 2^20 instructions. */
    STEPS = 1 << 16,
    STEPS_PER_BYTE = 1 << 16,
};

static struct side_band_record mapping(uint32_t pid, uint64_t time, uint64_t start, uint64_t offset,
                                       uint64_t length)
{
    return (struct side_band_record){
        .kind = SIDE_BAND_MAPPING,
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

static struct perf_data perf_data(uint8_t options, struct side_band_record *records, size_t count)
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

static void *begin(void *context, const struct thread *thread)
{
    return context;
}

static void check_events(void *last_time, const struct flow_event *events, size_t count)
{
    uint64_t *last = last_time;
    for (size_t i = 0; i < count; i++) {
        if (events[i].time.value < *last || events[i].kind > FLOW_ABORT ||
            events[i].gap > FLOW_GAP_NO_IMAGE ||
            (events[i].kind == FLOW_GAP) != (events[i].gap > 0))
            abort();
        if (events[i].error && !decoder_error_text(events[i].error))
            abort();
        *last = events[i].time.value;
    }
}

static void end(void *last_time)
{
}

static void run(struct decoder *decoder, const struct decoder_input *input, uint8_t options)
{
    uint64_t limit = options & OPTION_SLICES ? SLICE : UINT64_MAX;
    uint64_t offset = 0, time = 0, runs = 0;
    const uint64_t most_runs = input->size * STEPS_PER_BYTE / STEPS + 2;
    bool more = true;
    while (more) {
        more = decoder_run(decoder, (struct ticks){limit}, STEPS);
        if (decoder_offset(decoder) < offset || decoder_offset(decoder) > input->size ||
            decoder_time(decoder).value < time)
            abort();
        offset = decoder_offset(decoder);
        time = decoder_time(decoder).value;
        if (time > limit)
            limit = time > UINT64_MAX / 2 ? UINT64_MAX : time + SLICE;
        else if (++runs > most_runs)
            abort();
    }
}

static void decode(struct decoder_shared *shared, const struct address_spaces *spaces,
                   const uint8_t *bytes, size_t size, uint8_t options)
{
    uint64_t last_times[2] = {0};
    const struct flow_sink sinks[] = {{&last_times[0], begin, check_events, end},
                                      {&last_times[1], begin, check_events, end}};
    struct thread_output outputs[] = {
        {.thread = address_spaces_thread(spaces, FIRST_PID), .sink = &sinks[0]},
        {.thread = address_spaces_thread(spaces, SECOND_PID), .sink = &sinks[1]},
    };
    struct schedule_entry entries[] = {
        {{0}, &outputs[0], address_spaces_process(spaces, FIRST_PID)},
        {{SWITCH_TIME}, &outputs[1], address_spaces_process(spaces, SECOND_PID)},
        {{2 * SWITCH_TIME}, NULL, NULL},
        {{3 * SWITCH_TIME}, &outputs[0], address_spaces_process(spaces, FIRST_PID)},
    };
    struct schedule schedule = {array_of(sizeof(struct schedule_entry))};
    array_add_all(&schedule.entries, entries, options & OPTION_PROCESSOR ? 4 : 1);
    struct decoder_input input = {.bytes = bytes,
                                  .size = size,
                                  .schedule = &schedule,
                                  .lost_after = options & OPTION_LOST_AFTER};
    struct decoder *decoder = decoder_open(shared, &input, NULL);
    if (!decoder)
        abort();
    run(decoder, &input, options);
    decoder_close(decoder);
    for (size_t i = 0; i < 2; i++)
        if (outputs[i].begun)
            thread_output_end(&outputs[i]);
    array_free(&schedule.entries);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size == 0)
        return 0;
    uint8_t options = bytes[0];
    struct side_band_record records[] = {
        mapping(FIRST_PID, 0, CODE, CODE_OFFSET, CODE_SIZE),
        mapping(SECOND_PID, 0, CODE, CODE_OFFSET, PAGE),
        mapping(FIRST_PID, NEW_CODE_TIME, CODE, CODE_OFFSET + PAGE, PAGE),
    };
    struct perf_data data = perf_data(options, records, options & OPTION_NEW_CODE ? 3 : 2);
    struct address_spaces spaces;
    if (!address_spaces_build(&spaces, &data, NULL, NULL))
        abort();
    struct symbols *symbols = symbols_open(&spaces, NULL);
    struct decoder_shared *shared = decoder_shared_open(&data, symbols, NULL);
    if (!shared)
        abort();
    /* A copy of its own, so that reading behind its end is seen. */
    uint8_t *packets = malloc(size - 1);
    memcpy(packets, bytes + 1, size - 1);
    decode(shared, &spaces, packets, size - 1, options);
    free(packets);
    decoder_shared_close(shared);
    symbols_close(symbols);
    address_spaces_free(&spaces);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t capacity, unsigned seed)
{
    static const struct packet_mutator mutator = {CODE, CODE + CODE_SIZE};
    if (size < 2 || seed % 2 == 0)
        return LLVMFuzzerMutate(bytes, size, capacity);
    return 1 + packet_mutator_change(&mutator, bytes + 1, size - 1, capacity - 1, seed);
}
