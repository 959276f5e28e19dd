#include "decode/pt/blocks/control_flow.h"

#include "packet/call_values_head.h"
#include "packet/callchain_snapshot.h"
#include "packet/stack_numbers.h"

void control_flow_init(struct control_flow *flow)
{
    *flow = (struct control_flow){.running = false};
    event_batch_init(&flow->batch);
    recorded_callchain_init(&flow->callers);
}

void control_flow_free(struct control_flow *flow)
{
    event_batch_free(&flow->batch);
    recorded_callchain_free(&flow->callers);
}

static void emit(struct control_flow *flow, const struct flow_event *event, uint64_t position)
{
    if (flow->observer) {
        struct reported_flow reported = control_flow_reported(flow);
        observe_event(&reported, event);
    }
    event_batch_add(&flow->batch, event, position);
}

static bool in_current_function(const struct control_flow *flow, uint64_t ip)
{
    return ip - flow->current.start < flow->current.end - flow->current.start;
}

static void enter_function_at(struct control_flow *flow, uint64_t ip)
{
    if (in_current_function(flow, ip))
        return;
    flow->current =
        flow->space
            ? code_space_function(flow->space, ip)
            : (struct function_bounds){.function = FUNCTION_UNKNOWN, .start = ip, .end = ip + 1};
}

/* Whether a call instruction ends at `address`. */
static bool is_after_call(struct control_flow *flow, uint64_t address)
{
    enum { LONGEST_CALL = 9 };
    for (uint32_t size = 2; size <= LONGEST_CALL; size++) {
        struct branch branch = code_space_branch(flow->space, address - size, X86_MODE_64);
        if (branch.kind == BRANCH_CALL && branch.length == size)
            return true;
    }
    return false;
}

/* The function that will be returned to. A call that never returns may be the last instruction of its function. A new
 * stack may have been made to look as if the beginning of a function had called (__start_context). */
static function_id caller_function(struct control_flow *flow, uint64_t address)
{
    struct function_bounds next = code_space_function(flow->space, address);
    if (next.start == address && !is_after_call(flow, address))
        return next.function;
    return code_space_function(flow->space, address - 1).function;
}

static void emit_caller(struct control_flow *flow, uint64_t reported, uint8_t flags)
{
    uint64_t address = reported & CALLCHAIN_ADDRESS_MASK;
    struct flow_event event = {.kind = FLOW_CALLER, .to = address, .flags = flags};
    event.function = FUNCTION_UNKNOWN;
    if (reported & CALLCHAIN_INTERRUPTED) {
        event.flags |= FLOW_INTERRUPTED;
        if (flow->space)
            event.function = code_space_function(flow->space, address).function;
    } else if (flow->space) {
        event.function = caller_function(flow, address);
    }
    for (uint32_t more = 0; more <= callchain_repeated(reported); more++) {
        emit(flow, &event, flow->position);
        event.flags &= (uint8_t)~FLOW_PLACED;
    }
}

/* Nothing has happened since the RESUME. */
static bool is_at_resume(const struct control_flow *flow)
{
    return flow->resumed && flow->position == flow->resume_position;
}

/* The callers after the RESUME are complete. */
static void end_resume(struct control_flow *flow)
{
    if (flow->resumed)
        recorded_callchain_forget(&flow->callers);
    flow->resumed = false;
}

static void emit_all_callers(struct control_flow *flow)
{
    const struct recorded_callchain *callers = &flow->callers;
    uint8_t flags = callers->placed ? FLOW_PLACED : 0;
    for (size_t i = 0; i < callers->addresses.count; i++, flags = 0)
        emit_caller(flow, *(uint64_t *)array_at(&callers->addresses, i), flags);
    if (callers->all && callers->addresses.count > 0)
        emit(flow, &(struct flow_event){.kind = FLOW_CALLER, .function = FUNCTION_UNKNOWN},
             flow->position);
}

/* Emits the callers after a RESUME, once the snapshot is complete. */
static void emit_callers(struct control_flow *flow)
{
    const struct recorded_callchain *callers = &flow->callers;
    if (!is_at_resume(flow) || !callers->whole || callers->placed)
        return;
    emit_all_callers(flow);
    end_resume(flow); /* another PSB may repeat them before anything runs */
}

void control_flow_mnt(struct control_flow *flow, uint64_t payload)
{
    recorded_callchain_add(&flow->callers, payload);
    if (flow->running && !is_at_resume(flow) && !flow->callers.placed)
        recorded_callchain_forget(&flow->callers);
    emit_callers(flow);
}

bool control_flow_has_callers(const struct control_flow *flow)
{
    return flow->callers.whole && flow->callers.placed;
}

void control_flow_callers(struct control_flow *flow)
{
    flow->resumed = false;
    emit_all_callers(flow);
    recorded_callchain_forget(&flow->callers);
}

/* Inlined functions. */

static void emit_inlined(struct control_flow *flow, uint64_t ip, uint64_t position)
{
    struct flow_event event = {.kind = FLOW_INLINED,
                               .from = flow->last_ip,
                               .to = ip,
                               .next = flow->inlined,
                               .function = flow->current.function};
    emit(flow, &event, position);
}

/* Control is at `ip`, and the rules of the stack know what is inlined there. */
static void settle_inlined(struct control_flow *flow, uint64_t ip)
{
    flow->inlined = flow->current.inlined ? code_space_inlined(flow->space, ip).inlined
                                          : (inlined_id)INLINED_NONE;
}

/* Control has come to `ip` inside the current function. */
static void arrive_in_function(struct control_flow *flow, uint64_t ip)
{
    if (!flow->current.inlined)
        return;
    struct inlined_place place = code_space_inlined(flow->space, ip);
    bool changes = place.inlined != flow->inlined;
    flow->inlined = place.inlined;
    if (changes && !inlined_place_is_announced(&place, ip, &flow->current))
        emit_inlined(flow, ip, flow->position);
}

/* The hot and the cold part of one function are apart, but no jump between them is a call. */
static bool jumps_to_another_function(struct control_flow *flow, uint64_t ip)
{
    function_id before = flow->current.function;
    if (in_current_function(flow, ip))
        return false;
    enter_function_at(flow, ip);
    return flow->current.function != before && flow->last_ip;
}

/* Whether the newest branch, neither call nor return, went to the target in its bytes. */
static bool went_directly(const struct control_flow *flow)
{
    if (flow->branch_kind != BRANCH_JUMP && flow->branch_kind != BRANCH_FAR_JUMP)
        return true;
    return flow->branch_direct;
}

static void emit_stack_numbers(struct control_flow *flow, struct stack_numbers numbers)
{
    struct flow_event event = {.kind = FLOW_COPIED_STACKS,
                               .from = flow->last_ip,
                               .to = numbers.left,
                               .next = numbers.continues,
                               .function = flow->current.function};
    emit(flow, &event, flow->position);
}

static void emit_stack_pointer(struct control_flow *flow, uint64_t value)
{
    struct flow_event event = {
        .kind = FLOW_STACK, .from = flow->last_ip, .to = value, .function = flow->current.function};
    emit(flow, &event, flow->position);
}

/* The newest block ended with what FLOW_COPY is for, and nothing has run since. */
static bool copies_stack(const struct control_flow *flow)
{
    return flow->branch_kind == BRANCH_NONE && flow->branch.kind == FLOW_COPY;
}

static void emit_copy(struct control_flow *flow, uint64_t ip)
{
    struct flow_event *copy = &flow->branch;
    if (ip == copy->to) {
        copy->function = flow->current.function;
        emit(flow, copy, flow->branch_position);
    }
    copy->kind = 0;
}

void control_flow_stack_pointer(struct control_flow *flow, uint64_t value)
{
    struct stack_numbers numbers;
    if (stack_numbers_of(value, &numbers))
        emit_stack_numbers(flow, numbers);
    else if (flow->branch_kind == BRANCH_RETURN || flow->branch_kind == BRANCH_JUMP ||
             copies_stack(flow))
        flow->branch.next = value;
    else
        emit_stack_pointer(flow, value);
}

static struct flow_event call_value(const struct control_flow *flow, uint64_t ip, uint64_t value)
{
    return (struct flow_event){
        .kind = FLOW_CALL_VALUE, .from = ip, .to = value, .function = flow->current.function};
}

void control_flow_call_value(struct control_flow *flow, uint64_t ip, uint64_t value)
{
    struct flow_event event = call_value(flow, ip, value);
    emit(flow, &event, flow->position);
}

void control_flow_call_values(struct control_flow *flow, uint64_t ip, uint32_t head)
{
    struct flow_event event = call_value(flow, ip, head);
    struct call_values_head read;
    if (!call_values_head_of(head, &read))
        return;
    event.next = 1 + read.words;
    if (read.is_result)
        event.flags = FLOW_OF_RESULT;
    emit(flow, &event, flow->position);
}

/* Emits the newest branch if it can change the call stack, now that it is known to have gone to
 * `ip`. */
void control_flow_arrive(struct control_flow *flow, uint64_t ip)
{
    struct flow_event *branch = &flow->branch;
    if (flow->observer) {
        struct reported_flow reported = control_flow_reported(flow);
        observe_branch(&reported, flow->branch_kind, branch->from, flow->branch_next, ip);
    }
    if (copies_stack(flow))
        emit_copy(flow, ip);
    /* The flags of a branch that has been completed are out of date. */
    bool loads_stack = flow->branch_kind == BRANCH_JUMP && !flow->branch_direct &&
                       branch->flags & FLOW_LOADS_STACK;
    switch ((enum branch_kind)flow->branch_kind) {
    case BRANCH_CALL:
        branch->kind = FLOW_CALL;
        break;
    case BRANCH_RETURN:
        branch->kind = FLOW_RETURN;
        break;
    case BRANCH_FAR_CALL:
        branch->kind = FLOW_SYSCALL;
        break;
    case BRANCH_FAR_RETURN:
        branch->kind = FLOW_KERNEL_RETURN;
        break;
    case BRANCH_NONE:
    case BRANCH_CONDITIONAL:
    case BRANCH_JUMP:
    case BRANCH_FAR_JUMP:
        if (!jumps_to_another_function(flow, ip) && !loads_stack) {
            if (flow->branch_kind == BRANCH_JUMP && branch->next)
                emit_stack_pointer(flow, branch->next);
            flow->branch_kind = BRANCH_NONE;
            arrive_in_function(flow, ip);
            return;
        }
        branch->kind = FLOW_JUMP;
        if (went_directly(flow))
            branch->flags |= FLOW_DIRECT;
        break;
    }
    flow->branch_kind = BRANCH_NONE;
    if (branch->kind == FLOW_KERNEL_RETURN)
        branch->next = 0;
    enter_function_at(flow, ip);
    branch->to = ip;
    branch->function = flow->current.function;
    emit(flow, branch, flow->branch_position);
    settle_inlined(flow, ip);
}

bool control_flow_is_within(const struct control_flow *flow, uint64_t ip)
{
    const struct straight_code *straight = &flow->straight;
    return straight->next == ip && straight->end == flow->position;
}

void control_flow_begin_within(struct control_flow *flow, uint64_t ip)
{
    struct straight_way way = code_space_way_to(flow->space, ip);
    if (way.instructions == 0)
        return;
    flow->straight = (struct straight_code){
        .first = way.first,
        .next = ip,
        .begin = flow->position - way.instructions,
        .end = flow->position,
        .reported = code_space_block(flow->space, way.first, way.last)->trap_count,
    };
}

static void begin_straight(struct control_flow *flow, const struct block *block)
{
    enum { LONGEST = 512 }; /* instructions; limits repeated reading of parts */
    struct straight_code *straight = &flow->straight;
    if (!control_flow_is_within(flow, block->ip) || straight->end - straight->begin > LONGEST)
        *straight = (struct straight_code){.first = block->ip, .begin = flow->position};
}

/* A walk along the block that runs, which emits OCaml's handlers in order among its events. */
struct trap_walk {
    const struct block_facts *facts; /* NULL: nothing to emit */
    size_t next;
};

/* Looks up the facts only of blocks that may have any. */
static struct trap_walk begin_traps(struct control_flow *flow, const struct block *block)
{
    struct trap_walk walk = {NULL, flow->straight.reported};
    const struct straight_code *straight = &flow->straight;
    bool may_load_stack = block->kind == BRANCH_JUMP && straight->first != block->last;
    if ((flow->current.ocaml || may_load_stack) && block->mode == X86_MODE_64 && flow->space)
        walk.facts = code_space_block(flow->space, straight->first, block->last);
    return walk;
}

/* Emits the traps of the instructions up to the one at `last`. */
static void emit_traps(struct control_flow *flow, struct trap_walk *walk, uint64_t last)
{
    while (walk->facts && walk->next < walk->facts->trap_count) {
        const struct x86_trap *trap = &walk->facts->traps[walk->next];
        if (trap->address > last)
            return;
        struct flow_event event = {
            .kind = trap->kind == X86_TRAP_PUSH ? FLOW_TRAP_PUSH : FLOW_TRAP_POP,
            .from = trap->address,
            .to = trap->handler,
            .function = flow->current.function,
        };
        emit(flow, &event, flow->straight.begin + trap->instructions + 1);
        walk->next++;
    }
}

/* Walks to find the instructions at which another inlined function begins. */
static void walk_inlined(struct control_flow *flow, const struct block *block,
                         struct inlined_place place, struct trap_walk *traps)
{
    uint64_t ip = block->ip;
    for (uint32_t done = 1; done < block->instructions; done++) {
        struct branch instruction = code_space_branch(flow->space, ip, block->mode);
        uint64_t next = ip + instruction.length;
        if (!instruction.length || !in_current_function(flow, next))
            return;
        if (next >= place.end) {
            place = code_space_inlined(flow->space, next);
            flow->inlined = place.inlined;
            flow->last_ip = ip;
            emit_traps(flow, traps, ip);
            emit_inlined(flow, next, flow->position + done);
        }
        ip = next;
    }
}

/* `block` of the current function runs. */
static void run_inlined(struct control_flow *flow, const struct block *block,
                        struct trap_walk *traps)
{
    struct inlined_place place = code_space_inlined(flow->space, block->ip);
    flow->inlined = place.inlined;
    if (inlined_place_is_announced(&place, block->ip, &flow->current))
        emit_inlined(flow, block->ip, flow->position);
    if (place.end <= block->last)
        walk_inlined(flow, block, place, traps);
}

/* The code of `block` continues, without a branch, in another function: hand-written assembly, or a
 * function whose symbol covers less than its code. Walks to find the last instruction of each
 * function. */
static void fall_through(struct control_flow *flow, const struct block *block,
                         struct trap_walk *traps)
{
    uint64_t ip = block->ip;
    for (uint32_t done = 0; done + 1 < block->instructions && ip < block->last; done++) {
        struct branch instruction = code_space_branch(flow->space, ip, block->mode);
        if (!instruction.length)
            break;
        uint64_t next = ip + instruction.length;
        emit_traps(flow, traps, ip);
        flow->branch = (struct flow_event){.from = ip};
        flow->branch_position = flow->position + done + 1;
        flow->branch_kind = BRANCH_NONE;
        flow->last_ip = ip;
        control_flow_arrive(flow, next);
        ip = next;
    }
    enter_function_at(flow, block->last);
}

void control_flow_block(struct control_flow *flow, const struct block *block)
{
    control_flow_arrive(flow, block->ip);
    if (flow->observer) {
        struct reported_flow reported = control_flow_reported(flow);
        observe_block(&reported, block);
    }
    begin_straight(flow, block);
    struct trap_walk traps = begin_traps(flow, block);
    if (flow->current.inlined)
        run_inlined(flow, block, &traps);
    if (!in_current_function(flow, block->last) && flow->space)
        fall_through(flow, block, &traps);
    emit_traps(flow, &traps, block->last);
    flow->position += block->instructions;
    flow->straight.next = block->kind == BRANCH_NONE ? block->next : 0;
    flow->straight.end = flow->position;
    flow->straight.reported = traps.next;
    flow->last_ip = block->last;
    flow->running = true;
    flow->branch = (struct flow_event){.from = block->last};
    if (flow->transaction)
        flow->branch.flags |= FLOW_TRANSACTION;
    if (block->kind == BRANCH_JUMP && traps.facts && traps.facts->loads_stack)
        flow->branch.flags |= FLOW_LOADS_STACK;
    if (block->copies_stack) {
        flow->branch.kind = FLOW_COPY;
        flow->branch.to = block->next;
    }
    flow->branch_position = flow->position;
    flow->branch_kind = block->reads_own_address ? BRANCH_NONE : block->kind;
    flow->branch_direct = block->direct;
    flow->branch_next = block->next;
    if (block->kind == BRANCH_CALL || block->kind == BRANCH_FAR_CALL)
        flow->branch.next = block->next;
}

void control_flow_time(struct control_flow *flow, uint64_t position, struct ticks time)
{
    event_batch_anchor(&flow->batch, position, time);
}

void control_flow_branch_time_exact(struct control_flow *flow)
{
    flow->branch.flags |= FLOW_TIME_EXACT;
}

void control_flow_resume(struct control_flow *flow, uint64_t ip, bool exact)
{
    flow->current = (struct function_bounds){.function = FUNCTION_UNKNOWN};
    flow->branch_kind = BRANCH_NONE;
    flow->last_ip = 0;
    flow->running = true;
    enter_function_at(flow, ip);
    struct flow_event event = {.kind = FLOW_RESUME,
                               .to = ip,
                               .function = flow->current.function,
                               .flags = exact ? FLOW_TIME_EXACT : 0};
    emit(flow, &event, flow->position);
    settle_inlined(flow, ip);
    flow->resumed = true;
    flow->resume_position = flow->position;
    emit_callers(flow);
}

/* Whether the newest branch takes frames off the stack wherever it leads: a return, longjmp, or the end of unwinding. */
static bool leaves_frames(const struct control_flow *flow)
{
    return flow->branch_kind == BRANCH_RETURN ||
           (flow->branch_kind == BRANCH_JUMP && flow->branch.flags & FLOW_LOADS_STACK);
}

/* The newest branch, which leads to `to`, outside of what is traced. */
static void leave_for(struct control_flow *flow, uint64_t to)
{
    struct flow_event event = flow->branch;
    enter_function_at(flow, to);
    event.kind = flow->branch_kind == BRANCH_RETURN ? FLOW_RETURN : FLOW_JUMP;
    event.to = flow->last_ip = to;
    event.function = flow->current.function;
    emit(flow, &event, flow->branch_position);
}

void control_flow_disabled(struct control_flow *flow, uint64_t to, bool exact)
{
    end_resume(flow);
    if (to != 0 && leaves_frames(flow))
        leave_for(flow, to);
    struct flow_event event = {.kind =
                                   flow->branch_kind == BRANCH_FAR_CALL ? FLOW_SYSCALL : FLOW_STOP,
                               .from = flow->last_ip,
                               .next = flow->branch.next,
                               .function = flow->current.function,
                               .flags = exact ? FLOW_TIME_EXACT : 0};
    if (event.kind == FLOW_STOP)
        event.next = 0;
    flow->branch_kind = BRANCH_NONE;
    flow->running = false;
    emit(flow, &event, flow->position);
}

void control_flow_interrupted(struct control_flow *flow, uint64_t ip, bool exact)
{
    control_flow_arrive(flow, ip);
    end_resume(flow);
    flow->running = false;
    struct flow_event event = {.kind = FLOW_INTERRUPT,
                               .from = ip,
                               .function = flow->current.function,
                               .flags = exact ? FLOW_TIME_EXACT : 0};
    emit(flow, &event, flow->position);
}

void control_flow_diverted(struct control_flow *flow, enum flow_kind kind, uint64_t from,
                           uint64_t to, bool exact)
{
    control_flow_arrive(flow, from);
    end_resume(flow);
    enter_function_at(flow, to);
    struct flow_event event = {.kind = (uint8_t)kind,
                               .from = from,
                               .to = to,
                               .function = flow->current.function,
                               .flags = exact ? FLOW_TIME_EXACT : 0};
    flow->last_ip = 0;
    emit(flow, &event, flow->position);
    settle_inlined(flow, to);
}

static struct flow_event stop_running(struct control_flow *flow)
{
    end_resume(flow);
    flow->branch_kind = BRANCH_NONE;
    flow->running = false;
    return (struct flow_event){
        .kind = FLOW_STOP, .from = flow->last_ip, .function = flow->current.function};
}

void control_flow_stop(struct control_flow *flow)
{
    if (!flow->running)
        return;
    struct flow_event event = stop_running(flow);
    emit(flow, &event, flow->position);
}

void control_flow_end(struct control_flow *flow)
{
    if (!flow->running)
        return;
    struct flow_event event = stop_running(flow);
    event_batch_add(&flow->batch, &event, flow->position);
}

void control_flow_aborted_out(struct control_flow *flow, uint64_t from, uint64_t to, bool exact)
{
    control_flow_diverted(flow, FLOW_ABORT, from, to, exact);
    control_flow_stop(flow);
}

void control_flow_gap(struct control_flow *flow, enum flow_gap gap, uint64_t ip, uint8_t code)
{
    end_resume(flow);
    flow->branch_kind = BRANCH_NONE;
    flow->running = false;
    flow->straight.next = 0;
    flow->current = (struct function_bounds){.function = FUNCTION_UNKNOWN};
    flow->last_ip = 0;
    struct flow_event event = {
        .kind = FLOW_GAP, .from = ip, .gap = gap, .error = code, .flags = FLOW_TIME_LOST};
    emit(flow, &event, flow->position);
}

void control_flow_switch_thread(struct control_flow *flow, struct thread_sink *output,
                                struct code_space *space)
{
    control_flow_end(flow);
    event_batch_flush(&flow->batch, output);
    flow->straight.next = 0;
    flow->space = space;
}
