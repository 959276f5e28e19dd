#include "random_program.h"

enum {
    FUNCTION_COUNT = 24,
    RESTORER = FUNCTION_FIRST + FUNCTION_COUNT, /* never called by the program itself */
    FUNCTION_SIZE_BITS = 12,
    MIDDLE = 0x800, /* call sites are before it, unwind targets after it */
    CALL_LENGTH = 5,
    SYSCALL_LENGTH = 2,
    DEPTH_AT_BEGINNING = 40,
    DEPTH_MAXIMUM = 200,
};

/* A frame of the program's real stack. */
struct true_frame {
    function_id function;
    function_id called;      /* the function of this frame before tail calls */
    uint64_t return_address; /* of a signal handler: the interrupted instruction */
    bool signal;
    bool interrupted; /* by a handler that has returned */
};

/* The events of the current segment, until it is known how far out its stack becomes visible. */
struct story {
    struct random_program *program;
    uint64_t random;
    uint64_t time;
    struct array stack;     /* struct true_frame, outermost first */
    struct array beginning; /* the stack when the segment began */
    struct array happened;  /* struct replay_event of the segment */
    /* Outermost depth returned to in this segment: frames from there on are visible. */
    size_t lowest;
    uint64_t segment_begin;
};

uint64_t random_number(uint64_t *state)
{
    uint64_t number = *state += UINT64_C(0x9e3779b97f4a7c15);
    number = (number ^ number >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    number = (number ^ number >> 27) * UINT64_C(0x94d049bb133111eb);
    return number ^ number >> 31;
}

static uint64_t below(struct story *story, uint64_t limit)
{
    return random_number(&story->random) % limit;
}

static uint64_t start_of(function_id function)
{
    return (uint64_t)function << FUNCTION_SIZE_BITS;
}

static uint64_t view_function_start(void *context, struct ticks time, uint64_t address)
{
    return address >> FUNCTION_SIZE_BITS << FUNCTION_SIZE_BITS;
}

static bool view_is_jit_code(void *context, function_id function)
{
    (void)context;
    (void)function;
    return false;
}

static enum go_role view_go_role(void *context, function_id function)
{
    return GO_ROLE_NONE;
}

static uint32_t view_program_changes(void *context, struct ticks time)
{
    return 0;
}

static uint64_t view_landing_pad(void *context, struct ticks time, uint64_t address)
{
    return 0;
}

static bool view_forces_unwinding(void *context, function_id function, function_id caller)
{
    return false;
}

static enum stack_load view_loads_stack(void *context, struct ticks time, uint64_t address)
{
    return STACK_NOT_LOADED;
}

struct code_view random_program_code(void)
{
    return (struct code_view){
        .context = NULL,
        .function_start = view_function_start,
        .landing_pad = view_landing_pad,
        .forces_unwinding = view_forces_unwinding,
        .program_changes = view_program_changes,
        .go_role = view_go_role,
        .is_jit_code = view_is_jit_code,
        .loads_stack = view_loads_stack,
    };
}

static struct true_frame *top(struct story *story)
{
    return array_at(&story->stack, story->stack.count - 1);
}

static function_id random_function(struct story *story)
{
    return FUNCTION_FIRST + (function_id)below(story, FUNCTION_COUNT);
}

/* Few call sites per function, as in real programs; two of them apart by no more than a call's
 * length. */
static uint64_t random_site(struct story *story)
{
    return start_of(top(story)->function) + 0x10 + below(story, 6) * CALL_LENGTH;
}

static uint64_t random_middle(struct story *story, function_id function)
{
    return start_of(function) + MIDDLE + below(story, 64);
}

static void emit(struct story *story, struct flow_event event)
{
    event.time.value = story->time;
    if (event.kind != FLOW_GAP)
        event.function = (function_id)((event.to ? event.to : event.from) >> FUNCTION_SIZE_BITS);
    *(struct flow_event *)array_add(&story->program->events) = event;
}

static void happen(struct story *story, struct replay_event event)
{
    event.time.value = story->time;
    *(struct replay_event *)array_add(&story->happened) = event;
}

static void happen_enter(struct story *story, function_id function)
{
    happen(story, (struct replay_event){
                      .kind = SPAN_ENTER, .function = function, .address = start_of(function)});
}

static void push(struct story *story, struct true_frame frame)
{
    *(struct true_frame *)array_add(&story->stack) = frame;
    happen_enter(story, frame.function);
}

static void pop(struct story *story, enum span_end end)
{
    happen(story,
           (struct replay_event){.kind = SPAN_LEAVE, .function = top(story)->function, .end = end});
    story->stack.count--;
    if (story->stack.count - 1 < story->lowest)
        story->lowest = story->stack.count - 1;
}

static void make_call(struct story *story)
{
    uint64_t from = random_site(story);
    function_id function = random_function(story);
    uint64_t next = from + CALL_LENGTH;
    emit(story, (struct flow_event){
                    .kind = FLOW_CALL, .from = from, .to = start_of(function), .next = next});
    push(story,
         (struct true_frame){.function = function, .called = function, .return_address = next});
}

static void make_special(struct story *story, function_id special)
{
    happen(story, (struct replay_event){.kind = SPAN_ENTER, .function = special});
}

static void end_special(struct story *story, function_id special)
{
    happen(story, (struct replay_event){.kind = SPAN_LEAVE, .function = special});
}

static void end_signal(struct story *story)
{
    uint64_t interrupted = top(story)->return_address;
    pop(story, SPAN_END_RETURN);
    emit(story, (struct flow_event){.kind = FLOW_RETURN, .to = start_of(RESTORER)});
    happen_enter(story, RESTORER);
    story->time += 3;
    emit(story, (struct flow_event){.kind = FLOW_SYSCALL,
                                    .from = start_of(RESTORER) + 7,
                                    .next = start_of(RESTORER) + 9});
    make_special(story, FUNCTION_SYSCALL);
    story->time += 3;
    emit(story, (struct flow_event){.kind = FLOW_RESUME, .to = interrupted});
    end_special(story, FUNCTION_SYSCALL);
    happen(story, (struct replay_event){.kind = SPAN_LEAVE, .function = RESTORER});
    for (size_t i = 0; i < story->stack.count; i++)
        ((struct true_frame *)array_at(&story->stack, i))->interrupted = true;
}

static void make_return(struct story *story)
{
    struct true_frame frame = *top(story);
    if (story->stack.count == 1)
        return;
    if (frame.signal) {
        /* Of a handler that was running when the segment began the rules cannot know the return
         * address. */
        if (story->stack.count - 1 > story->lowest)
            end_signal(story);
        return;
    }
    pop(story, SPAN_END_RETURN);
    emit(story, (struct flow_event){.kind = FLOW_RETURN, .to = frame.return_address});
}

static void make_tail_call(struct story *story)
{
    function_id function = random_function(story);
    struct true_frame frame = *top(story);
    if (function == frame.function)
        return;
    emit(story, (struct flow_event){.kind = FLOW_JUMP, .to = start_of(function)});
    happen(story, (struct replay_event){
                      .kind = SPAN_LEAVE, .function = frame.function, .end = SPAN_END_TAIL_CALL});
    top(story)->function = function;
    happen_enter(story, function);
}

static bool is_open_once(const struct story *story, function_id function)
{
    size_t count = 0;
    for (size_t i = 0; i < story->stack.count; i++)
        count += ((struct true_frame *)array_at(&story->stack, i))->function == function;
    return count == 1;
}

/* Jumps to the only activation of some function on the visible stack: of several, the right one can
 * be impossible to know. So can be, where a function returns that a handler has interrupted, to a function that has not
 * called it, on which stack that is: the handler may have swapped them. */
static void make_long_jump(struct story *story)
{
    size_t visible = story->stack.count - story->lowest;
    size_t depth = story->lowest + below(story, visible);
    function_id function = ((struct true_frame *)array_at(&story->stack, depth))->function;
    if (top(story)->function == function || top(story)->called == function ||
        !is_open_once(story, function))
        return;
    bool jumps = below(story, 2) || top(story)->interrupted;
    emit(story, (struct flow_event){.kind = jumps ? FLOW_JUMP : FLOW_RETURN,
                                    .to = random_middle(story, function)});
    while (top(story)->function != function)
        pop(story, SPAN_END_UNWOUND);
}

static void make_system_call(struct story *story)
{
    uint64_t from = random_middle(story, top(story)->function);
    uint64_t next = from + SYSCALL_LENGTH;
    emit(story, (struct flow_event){.kind = FLOW_SYSCALL, .from = from, .next = next});
    make_special(story, FUNCTION_SYSCALL);
    story->time += below(story, 1000);
    emit(story, (struct flow_event){.kind = FLOW_RESUME, .to = below(story, 8) ? next : from});
    end_special(story, FUNCTION_SYSCALL);
}

static void make_fault_or_signal(struct story *story)
{
    uint64_t from = random_middle(story, top(story)->function);
    function_id handler = random_function(story);
    bool signal = below(story, 2) == 0;
    emit(story, (struct flow_event){.kind = FLOW_INTERRUPT, .from = from});
    make_special(story, FUNCTION_INTERRUPT);
    story->time += below(story, 100);
    emit(story, (struct flow_event){.kind = FLOW_RESUME, .to = signal ? start_of(handler) : from});
    end_special(story, FUNCTION_INTERRUPT);
    if (signal)
        push(story, (struct true_frame){handler, handler, from, .signal = true});
}

/* Copies the segment's events to the truth, after the frames that turned out to be visible at its
 * beginning. */
static void report_segment(struct story *story)
{
    for (size_t depth = story->lowest; depth < story->beginning.count; depth++) {
        struct true_frame *frame = array_at(&story->beginning, depth);
        *(struct replay_event *)array_add(&story->program->truth) = (struct replay_event){
            .kind = SPAN_ENTER,
            .time = {story->segment_begin},
            .function = frame->function,
            .address = start_of(frame->function),
            .flags = SPAN_START_INFERRED,
        };
    }
    array_add_all(&story->program->truth, story->happened.elements, story->happened.count);
    story->happened.count = 0;
}

static void end_segment(struct story *story, enum span_end end)
{
    for (size_t depth = story->stack.count; depth-- > story->lowest;) {
        struct true_frame *frame = array_at(&story->stack, depth);
        happen(story, (struct replay_event){.kind = SPAN_LEAVE,
                                            .function = frame->function,
                                            .flags = SPAN_END_INFERRED,
                                            .end = end});
    }
    report_segment(story);
}

static void begin_segment(struct story *story)
{
    story->beginning.count = 0;
    array_add_all(&story->beginning, story->stack.elements, story->stack.count);
    story->lowest = story->stack.count - 1;
    story->segment_begin = story->time;
    uint64_t to = random_middle(story, top(story)->function);
    emit(story, (struct flow_event){.kind = FLOW_RESUME, .to = to});
}

static void make_gap(struct story *story)
{
    emit(story, (struct flow_event){.kind = FLOW_GAP, .gap = FLOW_GAP_OVERFLOW});
    end_segment(story, SPAN_END_GAP);
    *(struct replay_event *)array_add(&story->program->truth) =
        (struct replay_event){.kind = SPAN_INSTANT, .time = {story->time}};
    story->time += below(story, 1000);
    /* Handlers end unseen, so that every return address of the next segment can be discovered. */
    for (size_t i = 0; i < story->stack.count; i++)
        ((struct true_frame *)array_at(&story->stack, i))->signal = false;
    begin_segment(story);
}

static void make_something(struct story *story)
{
    uint64_t choice = below(story, 1000);
    /* The depth varies: the deeper, the more returns. */
    uint64_t return_share = 300 + 300 * story->stack.count / DEPTH_MAXIMUM;
    story->time += below(story, 5) == 0 ? 0 : below(story, 50);
    if (choice < return_share)
        make_return(story);
    else if (choice < 850)
        make_call(story);
    else if (choice < 920)
        make_tail_call(story);
    else if (choice < 930)
        make_long_jump(story);
    else if (choice < 965)
        make_system_call(story);
    else if (choice < 999)
        make_fault_or_signal(story);
    else
        make_gap(story);
}

void random_program_make(struct random_program *program, uint64_t seed, size_t event_count)
{
    struct story story = {
        .program = program,
        .random = seed,
        .time = 1000,
        .stack = array_of(sizeof(struct true_frame)),
        .beginning = array_of(sizeof(struct true_frame)),
        .happened = array_of(sizeof(struct replay_event)),
    };
    program->events = array_of(sizeof(struct flow_event));
    program->truth = array_of(sizeof(struct replay_event));
    *(struct true_frame *)array_add(&story.stack) =
        (struct true_frame){FUNCTION_FIRST, FUNCTION_FIRST, .return_address = 0};
    while (story.stack.count < DEPTH_AT_BEGINNING) {
        uint64_t next = random_site(&story) + CALL_LENGTH;
        function_id function = random_function(&story);
        *(struct true_frame *)array_add(&story.stack) =
            (struct true_frame){.function = function, .called = function, .return_address = next};
    }
    begin_segment(&story);
    while (program->events.count < event_count)
        make_something(&story);
    end_segment(&story, SPAN_END_OF_TRACE);
    array_free(&story.stack);
    array_free(&story.beginning);
    array_free(&story.happened);
}

void random_program_free(struct random_program *program)
{
    array_free(&program->events);
    array_free(&program->truth);
}
