/* A filter that perf script loads (perf script --dlfilter): passes all branches to magic-trace, in
 * the form of recording/perf_script/branch_stream.h, and leaves perf nothing to print.
 *
 * `magic-trace decode -decoder perf` starts perf with it and reads perf's standard output
 * (recording/perf_script/perf_script.h). The filter selects by the kind of the event alone: taken
 * branches, beginnings and ends of tracing, and recorded stack pointers. It does not resolve
 * symbols: magic-trace has the recording's mappings itself, and resolving takes perf longer than
 * decoding. It passes on conditional branches inside a function too, because they show which
 * instructions ran, and so which exception handlers were set up and how far a time reaches; 24
 * bytes in a pipe cost little compared with perf's work for the sample.
 *
 * Runs inside perf: the only parts of magic-trace that it needs are that header and
 * packet/call_values_head.h.
 */
#include "packet/call_values_head.h"
#include "perf_api.h"
#include "recording/perf_script/branch_stream.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* perf allows one filter at a time, and calls it from one thread. */
struct branch_filter {
    uint64_t records;
    struct branch_stream_thread thread;
    struct branch_stream_time time;
    uint32_t call_values; /* PTWRITE packets with words of a call's values come next */
    bool failed;
};

/* The data that perf synthesizes for a PTWRITE packet: struct perf_synth_intel_ptwrite of
 * tools/perf (event.h of lib/perf or util), after its alignment word: flags, then the payload. */
enum { PTWRITE_PAYLOAD_OFFSET = 4, PTWRITE_SIZE = PTWRITE_PAYLOAD_OFFSET + sizeof(uint64_t) };

enum { OUTPUT_BUFFER_SIZE = 1 << 16 };

struct perf_api_functions perf_dlfilter_fns;

static void write_record(struct branch_filter *filter, const void *record, size_t size)
{
    filter->failed |= fwrite_unlocked(record, size, 1, stdout) != 1;
    filter->records++;
}

/* True for an event called `name`, with or without modifiers: "branches:u". */
static bool is_event(const struct perf_api_sample *sample, const char *name)
{
    size_t size = strlen(name);
    return sample->event && strncmp(sample->event, name, size) == 0 &&
           (sample->event[size] == 0 || sample->event[size] == ':');
}

static void say_who_and_when(struct branch_filter *filter, const struct perf_api_sample *sample)
{
    struct branch_stream_thread thread = {.kind = BRANCH_STREAM_THREAD,
                                          .pid = (uint32_t)sample->pid,
                                          .tid = (uint32_t)sample->tid,
                                          .processor = (uint32_t)sample->cpu};
    struct branch_stream_time time = {.kind = BRANCH_STREAM_TIME, .nanoseconds = sample->time};
    if (memcmp(&thread, &filter->thread, sizeof thread) != 0)
        write_record(filter, &thread, sizeof thread);
    if (memcmp(&time, &filter->time, sizeof time) != 0)
        write_record(filter, &time, sizeof time);
    filter->thread = thread;
    filter->time = time;
}

static void hand_branch_over(struct branch_filter *filter, const struct perf_api_sample *sample)
{
    struct branch_stream_branch branch = {.kind = BRANCH_STREAM_BRANCH,
                                          .flags = sample->flags,
                                          .from = sample->ip,
                                          .to = sample->addr};
    say_who_and_when(filter, sample);
    write_record(filter, &branch, sizeof branch);
}

/* Whether the code there writes PTWRITE packets of its own. SDM volume 2, "PTWRITE": F3 (REX.W) 0F
 * AE /4. */
static bool is_ptwrite(void *context, uint64_t address)
{
    enum { EXTENSION = 4 };
    uint8_t code[5] = {0};
    int32_t got = perf_dlfilter_fns.object_code(context, address, code, sizeof code);
    const uint8_t *opcode = (code[1] & 0xf0) == 0x40 ? code + 2 : code + 1;
    return got == sizeof code && code[0] == 0xf3 && opcode[0] == 0x0f && opcode[1] == 0xae &&
           (opcode[2] >> 3 & 7) == EXTENSION;
}

/* Arguments and results of calls are not passed on. */
static bool is_call_value(struct branch_filter *filter, uint64_t value)
{
    struct call_values_head head;
    if (filter->call_values > 0) {
        filter->call_values--;
        return true;
    }
    if (!call_values_head_of(value, &head))
        return false;
    filter->call_values = head.words;
    return true;
}

static void hand_stack_pointer_over(struct branch_filter *filter,
                                    const struct perf_api_sample *sample, void *context)
{
    struct branch_stream_stack stack = {.kind = BRANCH_STREAM_STACK, .address = sample->ip};
    if (sample->raw_size < PTWRITE_SIZE || !sample->ip || is_ptwrite(context, sample->ip))
        return;
    memcpy(&stack.value, (const char *)sample->raw_data + PTWRITE_PAYLOAD_OFFSET,
           sizeof stack.value);
    if (is_call_value(filter, stack.value))
        return;
    say_who_and_when(filter, sample);
    write_record(filter, &stack, sizeof stack);
}

int start(void **data, void *context)
{
    struct branch_stream_begin begin = {.kind = BRANCH_STREAM_BEGIN,
                                        .version = BRANCH_STREAM_VERSION};
    struct branch_filter *filter = calloc(1, sizeof *filter);
    if (!filter)
        return -1;
    setvbuf(stdout, NULL, _IOFBF, OUTPUT_BUFFER_SIZE);
    memcpy(begin.magic, branch_stream_magic, sizeof begin.magic);
    write_record(filter, &begin, sizeof begin);
    *data = filter;
    return 0;
}

int filter_event_early(void *data, const struct perf_api_sample *sample, void *context)
{
    struct branch_filter *filter = data;
    if (is_event(sample, "branches"))
        hand_branch_over(filter, sample);
    else if (is_event(sample, "ptwrite"))
        hand_stack_pointer_over(filter, sample, context);
    /* The reader is gone: perf need not continue. */
    return filter->failed ? -1 : 1;
}

int stop(void *data, void *context)
{
    struct branch_filter *filter = data;
    struct branch_stream_end end = {.kind = BRANCH_STREAM_END, .records = filter->records};
    write_record(filter, &end, sizeof end);
    bool failed = fflush(stdout) != 0 || filter->failed;
    free(filter);
    return failed ? -1 : 0;
}

const char *filter_description(const char **long_description)
{
    if (long_description)
        *long_description = "Used by `magic-trace decode -decoder perf`, which reads what it "
                            "writes to standard output.";
    return "hands the branches of Intel PT to magic-trace";
}
