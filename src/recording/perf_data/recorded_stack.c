#include "recording/perf_data/recorded_stack.h"

#include "recording/perf_data/byte_cursor.h"
#include "recording/perf_data/sample_decoder.h"

/* `count` elements of `size` bytes each; NULL when there are fewer. */
static const uint8_t *take_elements(struct byte_cursor *cursor, uint64_t count, size_t size)
{
    if (count > cursor_left(cursor) / size) {
        cursor->overrun = true;
        return NULL;
    }
    const uint8_t *elements = cursor->next;
    cursor->next += count * size;
    return elements;
}

static void take_branches(const struct perf_event_attr *attribute, struct recorded_stack *stack,
                          struct byte_cursor *cursor)
{
    uint64_t count = cursor_take_u64(cursor);
    if (attribute->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
        cursor_take_u64(cursor);
    const uint8_t *calls = take_elements(cursor, count, sizeof(struct perf_branch_entry));
    if (!calls || !(attribute->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK))
        return;
    stack->calls = calls;
    stack->call_count = count;
}

static void take_registers(const struct perf_event_attr *attribute, struct recorded_stack *stack,
                           struct byte_cursor *cursor)
{
    uint64_t abi = cursor_take_u64(cursor);
    if (abi == PERF_SAMPLE_REGS_ABI_NONE)
        return;
    stack->is_64_bit = abi == PERF_SAMPLE_REGS_ABI_64;
    stack->register_mask = attribute->sample_regs_user;
    stack->registers = take_elements(cursor, (uint64_t)__builtin_popcountll(stack->register_mask),
                                     sizeof(uint64_t));
}

static void take_stack(struct recorded_stack *stack, struct byte_cursor *cursor)
{
    uint64_t size = cursor_take_u64(cursor);
    if (size == 0)
        return;
    stack->bytes = take_elements(cursor, size, 1);
    uint64_t used = cursor_take_u64(cursor);
    stack->size = used < size ? used : size;
}

bool recorded_stack_read(const struct perf_data *data, const struct sideband_record *record,
                         struct recorded_stack *stack)
{
    const struct perf_event_attr *attribute = &data->events[record->sample.event].attribute;
    uint64_t fields = attribute->sample_type;
    struct sample sample;
    struct byte_cursor rest;
    *stack = (struct recorded_stack){0};
    if (!sample_decode(attribute, record->sample.body, record->sample.size, &sample, &rest))
        return false;
    stack->chain = sample.chain;
    stack->chain_count = sample.chain_count;
    if (fields & PERF_SAMPLE_BRANCH_STACK)
        take_branches(attribute, stack, &rest);
    if (fields & PERF_SAMPLE_REGS_USER)
        take_registers(attribute, stack, &rest);
    if (fields & PERF_SAMPLE_STACK_USER)
        take_stack(stack, &rest);
    return !rest.overrun;
}

bool recorded_stack_register(const struct recorded_stack *stack, unsigned number, uint64_t *value)
{
    uint64_t bit = UINT64_C(1) << number;
    if (!stack->registers || !(stack->register_mask & bit))
        return false;
    size_t index = (size_t)__builtin_popcountll(stack->register_mask & (bit - 1));
    memcpy(value, stack->registers + index * sizeof *value, sizeof *value);
    return true;
}
