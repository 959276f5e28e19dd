#include "decode/text/text_thread.h"

#include "decode/text/text_error.h"

#include <string.h>

enum {
    /* The return address of syscall, sysenter and int n: all have 2 bytes. */
    SYSCALL_LENGTH = 2,
    /* e8 00 00 00 00: a call of the next instruction, by which code reads its own address. */
    CALL_NEXT_LENGTH = 5,
    /* Code rarely runs past the end of its function without a branch, and then not far. */
    FALL_THROUGH_MAX = 4096,
};

void text_thread_begin(struct text_thread *thread, const struct thread *described,
                       struct text_code *code, const struct flow_sink *sink)
{
    *thread = (struct text_thread){
        .code = code,
        .output = {.thread = described, .sink = sink},
    };
    event_batch_init(&thread->batch);
    reorder_buffer_init(&thread->reorder_buffer, true);
    thread->batch.reorder_buffer = &thread->reorder_buffer;
    event_batch_flush(&thread->batch, &thread->output);
}

void text_thread_emit(struct text_thread *thread, const struct flow_event *event)
{
    struct flow_event timed = *event;
    if (thread->exact)
        timed.flags |= FLOW_TIME_EXACT;
    event_batch_add(&thread->batch, &timed, thread->position);
}

void text_thread_time(struct text_thread *thread, const struct perf_text_record *record)
{
    struct ticks time = {record->time.value};
    thread->exact = record->has_time && (!thread->timed || time.value > thread->time.value);
    if (!thread->exact)
        return;
    event_batch_anchor(&thread->batch, thread->position, time);
    thread->time = time;
    thread->timed = true;
}

/* The next event can be much later: events before it keep the time that they have. */
static void keep_time(struct text_thread *thread)
{
    event_batch_anchor(&thread->batch, thread->position, thread->time);
}

static void release_interrupt(struct text_thread *thread, uint8_t kind)
{
    if (!thread->interrupt_held)
        return;
    thread->interrupt_held = false;
    thread->interrupt.kind = kind;
    text_thread_emit(thread, &thread->interrupt);
}

/* ---- where control is ---- */

static bool is_in_current(const struct text_thread *thread, const struct perf_text_place *place)
{
    return text_code_is_same_function(thread->code, &thread->current, place);
}

static void go_to(struct text_thread *thread, const struct perf_text_place *place)
{
    if (is_in_current(thread, place))
        thread->current.address = place->address;
    else
        thread->current = text_code_locate(thread->code, place);
}

static void emit_resume(struct text_thread *thread, const struct perf_text_place *place)
{
    thread->current = text_code_locate(thread->code, place);
    thread->running = true;
    text_thread_emit(thread, &(struct flow_event){.kind = FLOW_RESUME,
                                                  .to = place->address,
                                                  .function = thread->current.function});
}

/* Control has got from one function to `from` in another without a branch in the text: it ran past
 * the end of the first, or lines are missing. */
static void emit_unseen_jump(struct text_thread *thread, const struct perf_text_place *from)
{
    struct text_location left = thread->current;
    go_to(thread, from);
    if (thread->current.function == left.function)
        return;
    uint64_t start = thread->current.start;
    bool fell_through = left.address < start && start - left.address <= FALL_THROUGH_MAX;
    if (fell_through)
        text_code_note_start(thread->code, &thread->current);
    text_thread_emit(thread, &(struct flow_event){.kind = FLOW_JUMP,
                                                  .from = left.address,
                                                  .to = fell_through ? start : from->address,
                                                  .function = thread->current.function,
                                                  .flags = fell_through ? FLOW_DIRECT : 0});
}

static void arrive(struct text_thread *thread, const struct perf_text_place *from)
{
    release_interrupt(thread, FLOW_INTERRUPT);
    if (!thread->running)
        emit_resume(thread, from);
    else
        emit_unseen_jump(thread, from);
}

/* ---- tracing starts ---- */

/* The kernel starts a new program at _start, of the program itself or of its dynamic loader. */
static bool is_program_start(const struct perf_text_place *place)
{
    return place->has_offset && place->offset == 0 && text_slice_is(place->symbol, "_start");
}

static void start_tracing(struct text_thread *thread, const struct perf_text_record *record)
{
    release_interrupt(thread, FLOW_INTERRUPT);
    if (thread->after_syscall && is_program_start(&record->to))
        text_code_note_program(thread->code, thread->time);
    thread->after_syscall = false;
    emit_resume(thread, &record->to);
    keep_time(thread);
}

/* ---- tracing ends ---- */

/* Returns of the traced code to other code are an event of their own. */
static void return_out(struct text_thread *thread, const struct perf_text_record *record)
{
    if (record->branch.kind != PERF_TEXT_RETURN || record->to.address == 0)
        return;
    thread->current = text_code_locate(thread->code, &record->to);
    text_thread_emit(thread, &(struct flow_event){.kind = FLOW_RETURN,
                                                  .from = record->from.address,
                                                  .to = record->to.address,
                                                  .function = thread->current.function});
}

static void stop_tracing(struct text_thread *thread, const struct perf_text_record *record)
{
    return_out(thread, record);
    struct flow_event event = {
        .kind = FLOW_STOP, .from = record->from.address, .function = thread->current.function};
    bool interrupted = record->branch.kind == PERF_TEXT_ASYNCHRONOUS ||
                       record->branch.kind == PERF_TEXT_HARDWARE_INTERRUPT;
    thread->after_syscall =
        record->branch.kind == PERF_TEXT_SYSCALL || record->branch.kind == PERF_TEXT_INTERRUPT;
    if (thread->after_syscall) {
        event.kind = FLOW_SYSCALL;
        event.next = record->from.address + SYSCALL_LENGTH;
    }
    thread->running = false;
    thread->interrupt_held = interrupted;
    if (interrupted)
        thread->interrupt = event;
    else
        text_thread_emit(thread, &event);
    keep_time(thread);
}

/* ---- branches ---- */

static bool is_call_of_next(const struct text_thread *thread, const struct perf_text_record *record)
{
    return record->to.address == record->from.address + CALL_NEXT_LENGTH &&
           is_in_current(thread, &record->to);
}

/* The kind of the branch's event; FLOW_JUMP for branches that are an event only if they lead to
 * another function. */
static enum flow_kind kind_of(const struct text_thread *thread,
                              const struct perf_text_record *record)
{
    switch (record->branch.kind) {
    case PERF_TEXT_CALL:
        return is_call_of_next(thread, record) ? FLOW_JUMP : FLOW_CALL;
    case PERF_TEXT_RETURN:
        return FLOW_RETURN;
    case PERF_TEXT_SYSCALL:
    case PERF_TEXT_INTERRUPT:
    case PERF_TEXT_GUEST_ENTRY:
        return FLOW_SYSCALL;
    case PERF_TEXT_SYSCALL_RETURN:
    case PERF_TEXT_INTERRUPT_RETURN:
    case PERF_TEXT_GUEST_EXIT:
        return FLOW_KERNEL_RETURN;
    case PERF_TEXT_HARDWARE_INTERRUPT:
    case PERF_TEXT_ASYNCHRONOUS:
        return FLOW_INTERRUPT;
    case PERF_TEXT_TRANSACTION_ABORT:
        return FLOW_ABORT;
    case PERF_TEXT_JUMP:
    case PERF_TEXT_CONDITIONAL:
    case PERF_TEXT_NO_BRANCH:
        break;
    }
    return FLOW_JUMP;
}

static uint64_t next_of(const struct text_thread *thread, const struct perf_text_record *record,
                        enum flow_kind kind)
{
    if (kind == FLOW_CALL)
        return text_code_return_address(thread->code, record->from.address);
    return kind == FLOW_SYSCALL ? record->from.address + SYSCALL_LENGTH : 0;
}

/* A slot of the linker's table jumps to where a function begins: that of another object, or the loader's which looks it up
 * and then jumps there. */
static bool leads_to_beginning(const struct perf_text_place *from)
{
    static const char slot[] = "@plt", loader[] = "/ld-linux";
    const struct text_slice *symbol = &from->symbol, *object = &from->object;
    size_t size = sizeof slot - 1;
    return (symbol->size > size && memcmp(symbol->at + symbol->size - size, slot, size) == 0) ||
           (object->size > 0 &&
            memmem(object->at, object->size, loader, sizeof loader - 1) != NULL);
}

static void emit_branch(struct text_thread *thread, const struct perf_text_record *record)
{
    enum flow_kind kind = kind_of(thread, record);
    function_id before = thread->current.function;
    struct flow_event event = {.kind = kind,
                               .from = record->from.address,
                               .to = record->to.address,
                               .next = next_of(thread, record, kind)};
    if (record->branch.kind == PERF_TEXT_CONDITIONAL)
        event.flags |= FLOW_DIRECT;
    if (record->branch.in_transaction)
        event.flags |= FLOW_TRANSACTION;
    /* Other events always look up where their function begins; a jump inside its function is not an
     * event. */
    if (kind == FLOW_JUMP)
        go_to(thread, &record->to);
    else
        thread->current = text_code_locate(thread->code, &record->to);
    event.function = thread->current.function;
    bool leaves = kind == FLOW_JUMP && event.function != before;
    if (kind == FLOW_CALL || (leaves && leads_to_beginning(&record->from)))
        text_code_note_call(thread->code, &thread->current);
    if (kind != FLOW_JUMP || leaves)
        text_thread_emit(thread, &event);
}

void text_thread_branch(struct text_thread *thread, const struct perf_text_record *record)
{
    const struct perf_text_branch *branch = &record->branch;
    text_thread_time(thread, record);
    if (branch->starts && branch->ends)
        return;
    if (branch->starts) {
        start_tracing(thread, record);
    } else {
        if (record->from.address)
            arrive(thread, &record->from);
        if (branch->ends)
            stop_tracing(thread, record);
        else
            emit_branch(thread, record);
    }
    thread->position++;
}

void text_thread_error(struct text_thread *thread, const struct perf_text_record *record)
{
    struct text_error error = text_error_of(record->message);
    text_thread_time(thread, record);
    release_interrupt(thread, FLOW_INTERRUPT);
    thread->running = false;
    text_thread_emit(thread, &(struct flow_event){.kind = FLOW_GAP,
                                                  .from = record->from.address,
                                                  .gap = error.gap,
                                                  .error = error.error,
                                                  .flags = FLOW_TIME_LOST});
    keep_time(thread);
}

void text_thread_end(struct text_thread *thread, struct flow_statistics *statistics)
{
    release_interrupt(thread, FLOW_STOP);
    if (thread->running)
        text_thread_emit(thread, &(struct flow_event){.kind = FLOW_STOP,
                                                      .from = thread->current.address,
                                                      .function = thread->current.function});
    event_batch_flush(&thread->batch, NULL);
    thread_output_end(&thread->output);
    thread_output_add_statistics(&thread->output, statistics);
    event_batch_free(&thread->batch);
    reorder_buffer_free(&thread->reorder_buffer);
}
