#include "decode/text/text_samples.h"

/* The address of "[samples]", which has no code: not 0, which would mean unknown. */
enum { SAMPLES_ADDRESS = 1 };

void text_samples_init(struct text_samples *stack, function_id samples)
{
    *stack = (struct text_samples){
        .frames = array_of(sizeof(struct text_location)),
        .samples = samples,
    };
}

void text_samples_free(struct text_samples *stack)
{
    array_free(&stack->frames);
}

/* Where frame `index` is, or "[samples]" below them all (-1): calls from it return there. */
static struct text_location location_at(const struct text_samples *stack, size_t index)
{
    if (index == (size_t)-1)
        return (struct text_location){.function = stack->samples, .address = SAMPLES_ADDRESS};
    return *(struct text_location *)array_at(&stack->frames, index);
}

static void leave_innermost(struct text_samples *stack, struct text_thread *thread)
{
    size_t index = --stack->frames.count;
    struct text_location left = *(struct text_location *)array_at(&stack->frames, index);
    struct text_location caller = location_at(stack, index - 1);
    text_thread_emit(thread, &(struct flow_event){.kind = FLOW_RETURN,
                                                  .from = left.address,
                                                  .to = caller.address,
                                                  .function = caller.function});
}

static void enter(struct text_samples *stack, struct text_thread *thread,
                  const struct text_location *entered)
{
    struct text_location caller = location_at(stack, stack->frames.count - 1);
    *(struct text_location *)array_add(&stack->frames) = *entered;
    text_thread_emit(thread, &(struct flow_event){.kind = FLOW_CALL,
                                                  .from = caller.address,
                                                  .to = entered->address,
                                                  .next = caller.address,
                                                  .function = entered->function});
}

/* How many frames, from the root on, are still the same activations. */
static size_t count_kept(const struct text_samples *stack, struct text_thread *thread,
                         const struct perf_text_record *record)
{
    size_t kept = 0;
    uint64_t address = SAMPLES_ADDRESS, caller_address = SAMPLES_ADDRESS;
    while (kept < stack->frames.count && kept < record->frame_count && address == caller_address) {
        const struct perf_text_place *frame = &record->frames[record->frame_count - 1 - kept];
        struct text_location old = location_at(stack, kept);
        if (text_code_locate(thread->code, frame).function != old.function)
            break;
        address = frame->address;
        caller_address = old.address;
        kept++;
    }
    return kept;
}

static void begin(struct text_samples *stack, struct text_thread *thread)
{
    if (stack->begun)
        return;
    stack->begun = true;
    text_thread_emit(thread, &(struct flow_event){.kind = FLOW_RESUME,
                                                  .to = SAMPLES_ADDRESS,
                                                  .function = stack->samples});
}

void text_samples_change(struct text_samples *stack, struct text_thread *thread,
                         const struct perf_text_record *record)
{
    text_thread_time(thread, record);
    begin(stack, thread);
    size_t kept = count_kept(stack, thread, record);
    while (stack->frames.count > kept)
        leave_innermost(stack, thread);
    for (size_t i = 0; i < record->frame_count; i++) {
        const struct perf_text_place *frame = &record->frames[record->frame_count - 1 - i];
        struct text_location location = text_code_locate(thread->code, frame);
        if (i < kept)
            *(struct text_location *)array_at(&stack->frames, i) = location;
        else
            enter(stack, thread, &location);
    }
}
