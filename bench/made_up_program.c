#include "made_up_program.h"

/* Function n lies at n << FUNCTION_SIZE_BITS. */
enum {
    FUNCTION_SIZE_BITS = 24,
    FUNCTIONS = 500,
    CALL_SIZE = 5,
    SWITCH_SITE = 64, /* where each calls the function that switches; others call elsewhere */
    SWITCH_FUNCTION = FUNCTION_FIRST + FUNCTIONS, /* the one that switches stacks */
    REPEATING_DEPTH_MAXIMUM = 12,
    STACK_SIZE = 1 << 20,
    FRAME_SIZE = 64,
};

/* One event of so many, in random programs. */
enum { EVENTS_PER_UNWINDING = 500, EVENTS_PER_GAP = 20000, EVENTS_PER_SWITCH = 1000 };

static uint64_t random_number(struct made_up_program *program)
{
    program->random ^= program->random << 13;
    program->random ^= program->random >> 7;
    program->random ^= program->random << 17;
    return program->random;
}

static bool one_of(struct made_up_program *program, uint64_t count)
{
    return (random_number(program) >> 16) % count == 0;
}

static uint64_t start_of(function_id function)
{
    return (uint64_t)function << FUNCTION_SIZE_BITS;
}

static struct made_up_stack *running(struct made_up_program *program)
{
    return &program->stacks[program->running];
}

static struct made_up_frame *leaf(struct made_up_program *program)
{
    struct made_up_stack *stack = running(program);
    return &stack->frames[stack->depth - 1];
}

/* --- Code: where calls are, and what they call. --- */

/* A place of `function` that calls: for distinct stacks another one each time, as far as its code
 * reaches. */
static uint64_t call_site(struct made_up_program *program, function_id function)
{
    uint64_t offset;
    if (program->shape == PROGRAM_DISTINCT)
        offset = program->calls++ % ((1 << FUNCTION_SIZE_BITS) / 8 - 2) * 8 + 8;
    else
        offset = (1 + (random_number(program) >> 20) % 2) * 16;
    return start_of(function) + offset;
}

static function_id callee_of(struct made_up_program *program, uint64_t site)
{
    if (program->shape == PROGRAM_RANDOM)
        return FUNCTION_FIRST + (function_id)((site >> 4) * 2654435761 % FUNCTIONS);
    return FUNCTION_FIRST + (function_id)running(program)->depth;
}

/* --- Events. --- */

static struct flow_event event_of(struct made_up_program *program, enum flow_kind kind)
{
    return (struct flow_event){.kind = (uint8_t)kind, .time = {program->time}};
}

static struct flow_event arrive(struct made_up_program *program, enum flow_kind kind, uint64_t to)
{
    struct flow_event event = event_of(program, kind);
    event.to = to;
    event.function = leaf(program)->function;
    return event;
}

static struct flow_event call(struct made_up_program *program, function_id callee, uint64_t site)
{
    struct made_up_stack *stack = running(program);
    stack->frames[stack->depth++] = (struct made_up_frame){callee, site + CALL_SIZE};
    struct flow_event event = arrive(program, FLOW_CALL, start_of(callee));
    event.from = site;
    event.next = site + CALL_SIZE;
    return event;
}

static struct flow_event call_something(struct made_up_program *program)
{
    uint64_t site = call_site(program, leaf(program)->function);
    return call(program, callee_of(program, site), site);
}

static struct flow_event give_return(struct made_up_program *program)
{
    uint64_t to = leaf(program)->return_address;
    running(program)->depth--;
    return arrive(program, FLOW_RETURN, to);
}

/* Out of one frame or several, to after the call that is in progress there. */
static struct flow_event unwind(struct made_up_program *program)
{
    struct made_up_stack *stack = running(program);
    stack->depth -= 1 + (random_number(program) >> 16) % (stack->depth - 1);
    return arrive(program, FLOW_JUMP, stack->frames[stack->depth].return_address + CALL_SIZE);
}

static struct flow_event tail_call(struct made_up_program *program)
{
    leaf(program)->function =
        FUNCTION_FIRST + (function_id)(random_number(program) >> 16) % FUNCTIONS;
    return arrive(program, FLOW_JUMP, start_of(leaf(program)->function));
}

/* Where the running stack's pointer is. */
static uint64_t stack_pointer(struct made_up_program *program)
{
    return (program->running + 1) * STACK_SIZE - running(program)->depth * FRAME_SIZE;
}

/* The running stack has called the switching function, which loads the stack pointer and goes on
 * where another stack did. */
static struct flow_event switch_stacks(struct made_up_program *program)
{
    struct flow_event event;
    program->reported = !program->reported;
    if (program->reported) {
        event = event_of(program, FLOW_STACK);
        event.to = stack_pointer(program);
        return event;
    }
    program->running = (program->running + 1) % PROGRAM_STACKS;
    uint64_t pointer = stack_pointer(program);
    if (leaf(program)->function != SWITCH_FUNCTION)
        event = arrive(program, FLOW_RETURN, start_of(leaf(program)->function));
    else
        event = give_return(program);
    event.next = pointer;
    return event;
}

static struct flow_event begin_gap(struct made_up_program *program)
{
    struct flow_event event = event_of(program, FLOW_GAP);
    event.gap = FLOW_GAP_OVERFLOW;
    event.flags = FLOW_TIME_LOST;
    program->in_gap = true;
    return event;
}

/* Calls and returns that nobody sees. */
static struct flow_event end_gap(struct made_up_program *program)
{
    struct made_up_stack *stack = running(program);
    size_t kept = 1 + (random_number(program) >> 16) % stack->depth;
    stack->depth = kept;
    while (stack->depth < PROGRAM_DEPTH_MAXIMUM / 2 && random_number(program) >> 16 & 1)
        call_something(program);
    program->in_gap = false;
    return arrive(program, FLOW_RESUME, call_site(program, leaf(program)->function));
}

static struct flow_event next_random(struct made_up_program *program)
{
    struct made_up_stack *stack = running(program);
    bool may_call = stack->depth < PROGRAM_DEPTH_MAXIMUM;
    if (program->in_gap)
        return end_gap(program);
    if (leaf(program)->function == SWITCH_FUNCTION)
        return switch_stacks(program);
    if (stack->depth > 2 && one_of(program, EVENTS_PER_UNWINDING))
        return unwind(program);
    if (stack->depth > 1 && one_of(program, EVENTS_PER_UNWINDING))
        return tail_call(program);
    if (may_call && one_of(program, EVENTS_PER_SWITCH))
        return call(program, SWITCH_FUNCTION, start_of(leaf(program)->function) + SWITCH_SITE);
    if (one_of(program, EVENTS_PER_GAP))
        return begin_gap(program);
    if (stack->depth > 1 && (!may_call || random_number(program) >> 32 & 1))
        return give_return(program);
    return call_something(program);
}

static struct flow_event next_plain(struct made_up_program *program)
{
    size_t deepest = program->shape == PROGRAM_DISTINCT ? (size_t)PROGRAM_DEPTH_MAXIMUM
                                                        : (size_t)REPEATING_DEPTH_MAXIMUM;
    size_t depth = running(program)->depth;
    bool calls = depth == 1 || (depth < deepest && random_number(program) >> 32 & 1);
    return calls ? call_something(program) : give_return(program);
}

struct flow_event made_up_program_next(struct made_up_program *program)
{
    program->time += random_number(program) >> 16 & 63;
    if (!program->started) {
        program->started = true;
        return arrive(program, FLOW_RESUME, start_of(leaf(program)->function) + CALL_SIZE);
    }
    return program->shape == PROGRAM_RANDOM ? next_random(program) : next_plain(program);
}

void made_up_program_begin(struct made_up_program *program, enum program_shape shape, uint64_t seed)
{
    *program = (struct made_up_program){.shape = shape, .random = seed};
    for (size_t i = 0; i < PROGRAM_STACKS; i++) {
        program->stacks[i].frames[0].function = FUNCTION_FIRST + (function_id)i;
        program->stacks[i].depth = 1;
    }
}

/* --- What the rules ask. --- */

static uint64_t function_start(void *context, struct ticks time, uint64_t address)
{
    return address >> FUNCTION_SIZE_BITS << FUNCTION_SIZE_BITS;
}

static uint64_t landing_pad(void *context, struct ticks time, uint64_t address)
{
    return address + CALL_SIZE;
}

static bool forces_unwinding(void *context, function_id function, function_id caller)
{
    return false;
}

static bool is_jit_code(void *context, function_id function)
{
    (void)context;
    (void)function;
    return false;
}

static enum go_role go_role(void *context, function_id function)
{
    return GO_ROLE_NONE;
}

static uint32_t program_changes(void *context, struct ticks time)
{
    return 0;
}

static enum stack_load loads_stack(void *context, struct ticks time, uint64_t address)
{
    return STACK_NOT_LOADED;
}

struct code_view made_up_program_code(void)
{
    return (struct code_view){
        .function_start = function_start,
        .landing_pad = landing_pad,
        .forces_unwinding = forces_unwinding,
        .program_changes = program_changes,
        .go_role = go_role,
        .is_jit_code = is_jit_code,
        .loads_stack = loads_stack,
    };
}
