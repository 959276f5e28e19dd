#include "engine/translator/transcode/callers.h"

#include "base/memory.h"
#include "engine/packets/sideband_log.h"
#include "engine/pt_packets_setup.h"
#include "packet/callchain_snapshot.h"
#include "symbol/eh_frame/stack_unwinder.h"

#include <stdlib.h>

/* Values in the record, of 64 bits. */
enum {
    COPY_RSP,
    COPY_PC,
    COPY_RBX,
    COPY_RBP,
    COPY_R12,
    COPY_R13,
    COPY_R14,
    COPY_R15,
    COPY_RDI,
    COPY_OUTER,
    COPY_OUTER_WORDS,
    COPY_STACK,
};

enum {
    RETURN_ADDRESS = 8,
    INTERRUPTION = 16
}; /* bytes between a frame's stack pointer and its slot */

struct callers {
    const struct translator_arena *arena;
    const struct recorded *recorded;
    struct clock_conversion clock;
    /* The address spaces: made when they are first needed, and again when the log has grown and callers are missing. */
    unsigned made;   /* how often */
    size_t log_size; /* that they were made of */
    bool known;
    struct sideband_log log;
    struct address_spaces spaces;
    struct stack_unwinder *unwinder;
};

/* Takes some milliseconds each time; a shell may fork ten thousand processes. */
enum { SPACES_MADE_AT_MOST = 64 };

struct callers *callers_open(const struct translator_arena *arena, const struct recorded *recorded,
                             const struct clock_conversion *clock)
{
    struct callers *callers = memory_allocate_zeroed(sizeof *callers);
    callers->arena = arena;
    callers->recorded = recorded;
    callers->clock = *clock;
    return callers;
}

static void forget_spaces(struct callers *callers)
{
    if (callers->made == 0)
        return;
    stack_unwinder_close(callers->unwinder);
    if (callers->known)
        address_spaces_free(&callers->spaces);
    arena_free(&callers->log.memory);
    sideband_log_free(&callers->log);
}

void callers_close(struct callers *callers)
{
    if (!callers)
        return;
    forget_spaces(callers);
    free(callers);
}

static struct array records_by_time(const struct sideband_log *log)
{
    struct array records = array_of(sizeof(struct sideband_record));
    const struct sideband_record **sorted = sideband_log_sorted(log);
    for (size_t i = 0; i < log->records.count; i++)
        array_add_all(&records, sorted[i], 1);
    free(sorted);
    return records;
}

/* What the recording will say of its processes once it is written, as far as the log has it now. */
static void make_spaces(struct callers *callers)
{
    const struct recorded *recorded = callers->recorded;
    struct log_reader reader = translator_arena_sideband(callers->arena);
    forget_spaces(callers);
    callers->made++;
    callers->log_size = reader.size;
    callers->unwinder = stack_unwinder_open();
    sideband_log_begin(&callers->log, recorded->directory, &callers->clock, false);
    for (const struct logged_record *record; (record = log_reader_next(&reader));)
        sideband_log_add(&callers->log, record);
    struct array records = records_by_time(&callers->log);
    struct perf_data data = {
        .setup = pt_packets_setup(&callers->clock, recorded->bus_ratio, &recorded->packets),
        .has_setup = true,
        .records = records.elements,
        .record_count = records.count,
    };
    callers->known = address_spaces_build_local(&callers->spaces, &data, recorded->directory, NULL);
    array_free(&records);
}

/* Whether there is more to know of the processes than was. */
static bool learn_spaces(struct callers *callers)
{
    bool grown =
        callers->made == 0 || callers->log_size != translator_arena_sideband(callers->arena).size;
    if (!grown || callers->made == SPACES_MADE_AT_MOST)
        return false;
    make_spaces(callers);
    return callers->known;
}

static struct saved_stack saved_stack(const struct log_record *copy)
{
    uint64_t words = TR_EVENT_PAYLOAD(copy->word), outer = log_value(copy, 2 * COPY_OUTER_WORDS);
    if (outer > words)
        outer = words;
    const uint32_t *stack = copy->payload + 2 * COPY_STACK;
    return (struct saved_stack){
        .registers = {[SAVED_RBX] = log_value(copy, 2 * COPY_RBX),
                      [SAVED_RDI] = log_value(copy, 2 * COPY_RDI),
                      [SAVED_RBP] = log_value(copy, 2 * COPY_RBP),
                      [SAVED_RSP] = log_value(copy, 2 * COPY_RSP),
                      [SAVED_R8 + 4] = log_value(copy, 2 * COPY_R12),
                      [SAVED_R8 + 5] = log_value(copy, 2 * COPY_R13),
                      [SAVED_R8 + 6] = log_value(copy, 2 * COPY_R14),
                      [SAVED_R15] = log_value(copy, 2 * COPY_R15),
                      [SAVED_RIP] = log_value(copy, 2 * COPY_PC)},
        .bytes = (const uint8_t *)stack,
        .size = sizeof(uint64_t) * (words - outer),
        .outer = log_value(copy, 2 * COPY_OUTER),
        .outer_bytes = (const uint8_t *)(stack + 2 * (words - outer)),
        .outer_size = sizeof(uint64_t) * outer,
    };
}

/* The frame that `frame` describes has called the next inner one, or was interrupted by it. */
static struct pt_call call_in(const struct unwound_frame *frame)
{
    if (frame->called)
        return (struct pt_call){frame->address + 1, frame->stack_pointer - RETURN_ADDRESS};
    return (struct pt_call){frame->address | CALLCHAIN_INTERRUPTED,
                            frame->stack_pointer - INTERRUPTION};
}

/* The code that a handler returns to, which calls rt_sigreturn, has called nothing. */
static bool returns_from_handler(const struct array *frames, size_t index)
{
    const struct unwound_frame *frame = array_at(frames, index);
    const struct unwound_frame *outer =
        index + 1 < frames->count ? array_at(frames, index + 1) : NULL;
    return !frame->called && outer && !outer->called;
}

/* Frames beyond one whose stack address is unknown, or not further out, are ignored. */
static size_t count_sound(const struct array *frames)
{
    uint64_t inner = 0;
    for (size_t i = 1; i < frames->count; i++) {
        const struct unwound_frame *frame = array_at(frames, i);
        if (frame->stack_pointer <= inner || frame->address == 0 || frame->address >> 47 != 0)
            return i;
        inner = frame->stack_pointer;
    }
    return frames->count;
}

static bool find_in_spaces(struct callers *callers, uint32_t pid, uint64_t time,
                           const struct log_record *copy, struct array *calls)
{
    const struct process *process =
        callers->known ? address_spaces_process(&callers->spaces, pid) : NULL;
    if (!process)
        return false;
    struct address_space_cursor space;
    address_space_cursor_init(&space, process);
    address_space_cursor_advance(&space, (struct ticks){time});
    struct saved_stack saved = saved_stack(copy);
    struct array frames = array_of(sizeof(struct unwound_frame));
    enum unwinding_end end = stack_unwinder_find(callers->unwinder, &space, &saved, &frames);
    size_t count = count_sound(&frames);
    for (size_t i = count; i-- > 1;)
        if (!returns_from_handler(&frames, i))
            *(struct pt_call *)array_add(calls) = call_in(array_at(&frames, i));
    bool all = end == UNWINDING_WHOLE && count == frames.count;
    array_free(&frames);
    address_space_cursor_free(&space);
    return all;
}

bool callers_find(struct callers *callers, uint32_t pid, uint64_t time,
                  const struct log_record *copy, struct array *calls)
{
    size_t before = calls->count;
    if (find_in_spaces(callers, pid, time, copy, calls))
        return true;
    if (!learn_spaces(callers))
        return false;
    calls->count = before;
    return find_in_spaces(callers, pid, time, copy, calls);
}
