#include "decode/samples/sampled_frames.h"

#include "base/memory.h"

#include <asm/perf_regs.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

/* ---- names of code in no program ---- */

struct named_end {
    enum unwinding_end end;
    const struct image_file *file;
    function_id function;
};

struct sampled_names sampled_names_new(struct symbols *symbols)
{
    return (struct sampled_names){
        .symbols = symbols,
        .kernel = symbols_add(symbols, "[kernel]", NULL, "[kernel.kallsyms]"),
        .ends = array_of(sizeof(struct named_end)),
    };
}

void sampled_names_free(struct sampled_names *names)
{
    array_free(&names->ends);
}

static char *describe_end(enum unwinding_end end, const struct image_file *file)
{
    const char *slash = file ? strrchr(file->path, '/') : NULL;
    const char *name = slash ? slash + 1 : file ? file->path : "unknown code";
    switch (end) {
    case UNWINDING_NO_OBJECT:
        return memory_format("[callers unknown: %s is not here]", name);
    case UNWINDING_NO_RULES:
        return memory_format("[callers unknown: %s does not say how to unwind]", name);
    case UNWINDING_NOT_SAVED:
    case UNWINDING_WHOLE:
        break;
    }
    return memory_copy_string("[callers not saved]");
}

/* The name shown for the unknown callers of code in `file` (NULL: in no file). */
static function_id name_of_end(struct sampled_names *names, enum unwinding_end end,
                               const struct image_file *file)
{
    if (end == UNWINDING_NOT_SAVED)
        file = NULL;
    for (size_t i = 0; i < names->ends.count; i++) {
        const struct named_end *known = array_at(&names->ends, i);
        if (known->end == end && known->file == file)
            return known->function;
    }
    char *name = describe_end(end, file);
    struct named_end *added = array_add(&names->ends);
    *added = (struct named_end){end, file, symbols_add(names->symbols, name, NULL, NULL)};
    free(name);
    return added->function;
}

/* ---- frames, the innermost first ---- */

void sampled_frames_init(struct sampled_frames *frames, struct sampled_names *names,
                         const struct process *process)
{
    static const struct process nothing = {0};
    *frames = (struct sampled_frames){
        .names = names,
        .frames = array_of(sizeof(struct sampled_frame)),
        .unwound = array_of(sizeof(struct unwound_frame)),
    };
    address_space_cursor_init(&frames->space, process ? process : &nothing);
}

void sampled_frames_free(struct sampled_frames *frames)
{
    stack_unwinder_close(frames->unwinder);
    address_space_cursor_free(&frames->space);
    array_free(&frames->frames);
    array_free(&frames->unwound);
}

static function_id function_at(const struct sampled_frames *frames, uint64_t address)
{
    const struct mapping *mapping = address_space_find(&frames->space, address);
    return symbols_find(frames->names->symbols, mapping, address).function;
}

static function_id newest_function(const struct sampled_frames *frames)
{
    if (frames->frames.count == 0)
        return FUNCTION_UNKNOWN;
    const struct sampled_frame *newest = array_at(&frames->frames, frames->frames.count - 1);
    return newest->function;
}

static void add_kernel_frame(struct sampled_frames *frames, uint64_t address)
{
    function_id function = function_at(frames, address);
    bool named = function != FUNCTION_UNKNOWN;
    if (!named && newest_function(frames) == frames->names->kernel)
        return;
    *(struct sampled_frame *)array_add(&frames->frames) = (struct sampled_frame){
        .function = named ? function : frames->names->kernel,
        .address = named ? address : 0,
    };
}

static void add_user_frame(struct sampled_frames *frames, uint64_t address, uint64_t stack_pointer)
{
    *(struct sampled_frame *)array_add(&frames->frames) = (struct sampled_frame){
        .function = function_at(frames, address),
        .address = address,
        .stack_pointer = stack_pointer,
    };
}

/* Which frames a part of the chain has. */
enum chain_part { CHAIN_KERNEL, CHAIN_USER, CHAIN_OTHER };

static enum chain_part part_of_marker(uint64_t marker)
{
    switch (marker) {
    case PERF_CONTEXT_KERNEL:
        return CHAIN_KERNEL;
    case PERF_CONTEXT_USER:
        return CHAIN_USER;
    default:
        return CHAIN_OTHER; /* hypervisor or guest */
    }
}

static bool is_kernel_address(uint64_t address)
{
    return address >> 63;
}

/* All words are return addresses, except the first after a marker: the address that was
 * interrupted.
 */
static void add_chain(struct sampled_frames *frames, const struct recorded_stack *stack,
                      enum chain_part wanted)
{
    enum chain_part part = CHAIN_USER;
    bool innermost = true;
    for (size_t i = 0; i < stack->chain_count; i++) {
        uint64_t word = recorded_stack_word(stack, i);
        if (word >= (uint64_t)PERF_CONTEXT_MAX) {
            part = part_of_marker(word);
            innermost = true;
            continue;
        }
        uint64_t address = innermost ? word : word - 1;
        innermost = false;
        if (part != wanted)
            continue;
        if (wanted == CHAIN_KERNEL)
            add_kernel_frame(frames, address);
        else
            add_user_frame(frames, address, 0);
    }
}

/* A register that is not a frame pointer leads to any address: one outside of code is not a caller.
 */
static void drop_nowhere(struct sampled_frames *frames, size_t first)
{
    while (frames->frames.count > first + 1 && newest_function(frames) == FUNCTION_UNKNOWN)
        frames->frames.count--;
}

/* ---- three sources of the program's own frames ---- */

/* From LBR entries: each is a call, with source and destination. */
static void add_calls(struct sampled_frames *frames, const struct recorded_stack *stack,
                      struct stack_sample *sample)
{
    enum { CALLS_AT_LEAST = 8 }; /* LBR entries of the first processors that have them */
    for (size_t i = 0; i < stack->call_count; i++) {
        struct perf_branch_entry call;
        memcpy(&call, stack->calls + i * sizeof call, sizeof call);
        if (i == 0)
            add_user_frame(frames, call.to, 0);
        add_user_frame(frames, call.from, 0);
    }
    if (stack->call_count > frames->most_calls)
        frames->most_calls = stack->call_count;
    sample->cut = stack->call_count >= CALLS_AT_LEAST && stack->call_count == frames->most_calls;
}

/* asm/perf_regs.h's number of each register, in DWARF's order. */
static const uint8_t register_numbers[SAVED_REGISTER_COUNT] = {
    PERF_REG_X86_AX,  PERF_REG_X86_DX,  PERF_REG_X86_CX,  PERF_REG_X86_BX,  PERF_REG_X86_SI,
    PERF_REG_X86_DI,  PERF_REG_X86_BP,  PERF_REG_X86_SP,  PERF_REG_X86_R8,  PERF_REG_X86_R9,
    PERF_REG_X86_R10, PERF_REG_X86_R11, PERF_REG_X86_R12, PERF_REG_X86_R13, PERF_REG_X86_R14,
    PERF_REG_X86_R15, PERF_REG_X86_IP,
};

static bool can_be_unwound(const struct recorded_stack *stack)
{
    uint64_t value;
    return stack->size > 0 && stack->is_64_bit &&
           recorded_stack_register(stack, PERF_REG_X86_SP, &value) &&
           recorded_stack_register(stack, PERF_REG_X86_IP, &value);
}

static void add_saved_stack(struct sampled_frames *frames, const struct recorded_stack *stack,
                            struct stack_sample *sample)
{
    struct saved_stack saved = {.bytes = stack->bytes, .size = stack->size};
    for (size_t i = 0; i < SAVED_REGISTER_COUNT; i++)
        recorded_stack_register(stack, register_numbers[i], &saved.registers[i]);
    if (!frames->unwinder)
        frames->unwinder = stack_unwinder_open();
    frames->unwound.count = 0;
    enum unwinding_end end =
        stack_unwinder_find(frames->unwinder, &frames->space, &saved, &frames->unwound);
    const struct unwound_frame *unwound = frames->unwound.elements;
    for (size_t i = 0; i < frames->unwound.count; i++)
        add_user_frame(frames, unwound[i].address, unwound[i].stack_pointer);
    if (end == UNWINDING_WHOLE)
        return;
    const struct mapping *outermost =
        address_space_find(&frames->space, unwound[frames->unwound.count - 1].address);
    sample->cut = true;
    sample->callers = name_of_end(frames->names, end, outermost ? outermost->file : NULL);
}

static void add_program(struct sampled_frames *frames, const struct recorded_stack *stack,
                        struct stack_sample *sample)
{
    size_t first = frames->frames.count;
    if (can_be_unwound(stack))
        add_saved_stack(frames, stack, sample);
    else if (stack->call_count > 0)
        add_calls(frames, stack, sample);
    else
        add_chain(frames, stack, CHAIN_USER);
    drop_nowhere(frames, first);
}

/* ---- a sample ---- */

static void reverse(struct array *frames)
{
    struct sampled_frame *all = frames->elements;
    for (size_t i = 0; i < frames->count / 2; i++) {
        struct sampled_frame swapped = all[i];
        all[i] = all[frames->count - 1 - i];
        all[frames->count - 1 - i] = swapped;
    }
}

static void add_place(struct sampled_frames *frames, uint64_t address)
{
    if (is_kernel_address(address))
        add_kernel_frame(frames, address);
    else if (address != 0)
        add_user_frame(frames, address, 0);
}

bool sampled_frames_find(struct sampled_frames *frames, const struct perf_data *data,
                         const struct sideband_record *record, struct stack_sample *sample)
{
    struct recorded_stack stack;
    address_space_cursor_advance(&frames->space, sample->time);
    frames->frames.count = 0;
    if (recorded_stack_read(data, record, &stack)) {
        add_chain(frames, &stack, CHAIN_KERNEL);
        add_program(frames, &stack, sample);
    }
    if (frames->frames.count == 0)
        add_place(frames, record->sample.ip);
    reverse(&frames->frames);
    sample->frames = frames->frames.elements;
    sample->count = frames->frames.count;
    return sample->count > 0;
}
