#include "scene.h"

#include "base/array.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

enum { FUNCTION_SIZE_BITS = 16 };

static uint64_t function_start(void *context, struct ticks time, uint64_t address)
{
    return address >> FUNCTION_SIZE_BITS << FUNCTION_SIZE_BITS;
}

/* See landing_pads in struct scene. */
static uint64_t landing_pad(void *context, struct ticks time, uint64_t address)
{
    const struct scene *scene = context;
    for (size_t i = 0; i < scene->pad_count; i++)
        if (scene->pads[i].call == address)
            return scene->pads[i].pad;
    return 0;
}

static bool forces_unwinding(void *context, function_id function, function_id caller)
{
    const struct scene *scene = context;
    return scene->forced_unwinder != 0 && function == id_of(scene->forced_unwinder);
}

static uint32_t program_changes(void *context, struct ticks time)
{
    return ((struct scene *)context)->program_changes;
}

static enum go_role go_role(void *context, function_id function)
{
    const struct scene *scene = context;
    return function < SCENE_ROLES ? scene->go_roles[function] : GO_ROLE_NONE;
}

static bool is_one_of(const char *functions, function_id function)
{
    while (functions != NULL && *functions != 0 && id_of(*functions) != function)
        functions++;
    return functions != NULL && *functions != 0;
}

static bool is_jit_code(void *context, function_id function)
{
    return is_one_of(((const struct scene *)context)->jit_code, function);
}

static bool call_may_end_at(void *context, struct ticks time, uint64_t address)
{
    (void)time;
    return ((const struct scene *)context)->pushed != address;
}

static enum stack_load loads_stack(void *context, struct ticks time, uint64_t address)
{
    const char *switches = ((const struct scene *)context)->switches;
    (void)time;
    bool loads = is_one_of(switches, (function_id)(address >> FUNCTION_SIZE_BITS));
    return loads ? STACK_EXCHANGED : STACK_NOT_LOADED;
}

void scene_init(struct scene *scene)
{
    struct code_view code = {
        .context = scene,
        .function_start = function_start,
        .landing_pad = landing_pad,
        .forces_unwinding = forces_unwinding,
        .program_changes = program_changes,
        .go_role = go_role,
        .is_jit_code = is_jit_code,
        .call_may_end_at = call_may_end_at,
        .loads_stack = loads_stack,
    };
    *scene = (struct scene){.time = 1000};
    thread_stack_init(&scene->stack, &code);
}

void scene_free(struct scene *scene)
{
    thread_stack_free(&scene->stack);
}

int scene_set_up(void **state)
{
    static struct scene scene;
    scene_init(&scene);
    *state = &scene;
    return 0;
}

int scene_tear_down(void **state)
{
    scene_free(*state);
    return 0;
}

void add_landing_pad(struct scene *scene, uint64_t call_site, uint64_t pad)
{
    assert_true(scene->pad_count < SCENE_PADS);
    scene->pads[scene->pad_count].call = call_site + SCENE_CALL_LENGTH;
    scene->pads[scene->pad_count++].pad = pad;
}

function_id id_of(char function)
{
    return FUNCTION_FIRST + (function_id)(function - 'a');
}

uint64_t at(char function, uint64_t offset)
{
    return ((uint64_t)id_of(function) << FUNCTION_SIZE_BITS) + offset;
}

static function_id function_at(uint64_t address)
{
    return (function_id)(address >> FUNCTION_SIZE_BITS);
}

/* Some instruction of the function that runs. */
static uint64_t running_address(const struct scene *scene)
{
    bool runs = scene->stack.leaf != FRAME_NONE;
    return runs ? (uint64_t)thread_stack_leaf(&scene->stack)->function << FUNCTION_SIZE_BITS : 0;
}

static void feed(struct scene *scene, struct flow_event event)
{
    event.time.value = scene->time;
    event.flags |= scene->in_transaction ? FLOW_TRANSACTION : 0;
    event.function = function_at(event.to != 0 ? event.to : event.from);
    follow_events(&scene->stack, &event, 1);
    scene->time += SCENE_STEP;
}

void call(struct scene *scene, uint64_t from, char function)
{
    call_into(scene, from, at(function, 0));
}

void call_into(struct scene *scene, uint64_t from, uint64_t to)
{
    feed(scene, (struct flow_event){
                    .kind = FLOW_CALL, .from = from, .to = to, .next = from + SCENE_CALL_LENGTH});
}

void return_after(struct scene *scene, uint64_t call_site)
{
    return_to(scene, call_site + SCENE_CALL_LENGTH);
}

void return_to(struct scene *scene, uint64_t to)
{
    feed(scene, (struct flow_event){.kind = FLOW_RETURN, .from = running_address(scene), .to = to});
}

void jump(struct scene *scene, uint64_t to)
{
    feed(scene, (struct flow_event){.kind = FLOW_JUMP, .to = to});
}

void jump_loading_stack(struct scene *scene, uint64_t to, uint64_t pointer)
{
    feed(scene, (struct flow_event){
                    .kind = FLOW_JUMP, .to = to, .next = pointer, .flags = FLOW_LOADS_STACK});
}

void return_loading_stack(struct scene *scene, uint64_t to, uint64_t pointer)
{
    feed(scene, (struct flow_event){.kind = FLOW_RETURN, .to = to, .next = pointer});
}

void stack_pointer(struct scene *scene, uint64_t pointer)
{
    feed(scene, (struct flow_event){.kind = FLOW_STACK, .to = pointer});
}

void copy_stack(struct scene *scene, uint64_t to, uint64_t from, uint64_t pointer)
{
    if (from != 0)
        stack_pointer(scene, from);
    feed(scene, (struct flow_event){.kind = FLOW_COPY, .to = to, .next = pointer});
}

void copied_stacks(struct scene *scene, uint32_t left, uint32_t continues)
{
    feed(scene, (struct flow_event){.kind = FLOW_COPIED_STACKS, .to = left, .next = continues});
}

void jump_in_stack(struct scene *scene, uint64_t to)
{
    feed(scene, (struct flow_event){.kind = FLOW_JUMP,
                                    .from = running_address(scene),
                                    .to = to,
                                    .flags = FLOW_LOADS_STACK});
}

void jump_to_pointer(struct scene *scene, uint64_t to, uint64_t pointer)
{
    stack_pointer(scene, pointer - 0x100);
    jump_loading_stack(scene, to, pointer);
}

void caller(struct scene *scene, uint64_t to)
{
    feed(scene, (struct flow_event){.kind = FLOW_CALLER, .to = to});
}

void interrupted_caller(struct scene *scene, uint64_t to)
{
    feed(scene, (struct flow_event){.kind = FLOW_CALLER, .to = to, .flags = FLOW_INTERRUPTED});
}

void placed_caller(struct scene *scene, uint64_t to)
{
    feed(scene, (struct flow_event){.kind = FLOW_CALLER, .to = to, .flags = FLOW_PLACED});
}

void no_caller(struct scene *scene)
{
    caller(scene, 0);
}

void direct_jump(struct scene *scene, uint64_t to)
{
    feed(scene, (struct flow_event){.kind = FLOW_JUMP, .to = to, .flags = FLOW_DIRECT});
}

void direct_jump_in_stack(struct scene *scene, uint64_t to)
{
    feed(scene, (struct flow_event){.kind = FLOW_JUMP,
                                    .from = running_address(scene),
                                    .to = to,
                                    .flags = FLOW_DIRECT | FLOW_LOADS_STACK});
}

void resume(struct scene *scene, uint64_t to)
{
    feed(scene, (struct flow_event){.kind = FLOW_RESUME, .to = to});
}

void system_call(struct scene *scene, uint64_t from)
{
    system_call_into(scene, from, 0);
}

void system_call_into(struct scene *scene, uint64_t from, uint64_t to)
{
    feed(scene,
         (struct flow_event){
             .kind = FLOW_SYSCALL, .from = from, .to = to, .next = from + SCENE_SYSCALL_LENGTH});
}

void interrupt(struct scene *scene, uint64_t from)
{
    interrupt_into(scene, from, 0);
}

void interrupt_into(struct scene *scene, uint64_t from, uint64_t to)
{
    feed(scene, (struct flow_event){.kind = FLOW_INTERRUPT, .from = from, .to = to});
}

void kernel_return(struct scene *scene, uint64_t to)
{
    feed(scene, (struct flow_event){.kind = FLOW_KERNEL_RETURN, .to = to});
}

void push_trap(struct scene *scene, uint64_t handler)
{
    feed(scene, (struct flow_event){.kind = FLOW_TRAP_PUSH, .to = handler});
}

void pop_trap(struct scene *scene)
{
    feed(scene, (struct flow_event){.kind = FLOW_TRAP_POP});
}

void abort_to(struct scene *scene, uint64_t to)
{
    scene->in_transaction = false;
    feed(scene, (struct flow_event){.kind = FLOW_ABORT, .to = to});
}

void stop(struct scene *scene, uint64_t from)
{
    feed(scene, (struct flow_event){.kind = FLOW_STOP, .from = from});
}

void gap(struct scene *scene, enum flow_gap kind, uint8_t flags)
{
    feed(scene, (struct flow_event){.kind = FLOW_GAP, .gap = (uint8_t)kind, .flags = flags});
}

static void add_text(struct array *text, const char *string)
{
    array_add_all(text, string, strlen(string));
}

static void add_name(struct array *text, const struct replay_event *event)
{
    char letter;
    if (event->gap != NULL)
        letter = 'O';
    else if (event->function >= FUNCTION_FIRST)
        letter = (char)('a' + event->function - FUNCTION_FIRST);
    else
        letter = "?USI"[event->function];
    array_add_all(text, &letter, 1);
}

static void add_event(struct array *text, const struct replay_event *event)
{
    static const char *const ends[] = {
        [SPAN_END_RETURN] = ")",  [SPAN_END_TAIL_CALL] = ")t", [SPAN_END_UNWOUND] = ")u",
        [SPAN_END_GAP] = ")g",    [SPAN_END_OF_TRACE] = ")$",  [SPAN_END_EXEC] = ")e",
        [SPAN_END_FILTER] = ")f", [SPAN_END_SWITCH] = ")s",
    };
    switch (event->kind) {
    case SPAN_ENTER:
        add_name(text, event);
        add_text(text, event->flags & SPAN_START_INFERRED ? "?(" : "(");
        return;
    case SPAN_LEAVE:
        add_text(text, ends[event->end]);
        if (event->flags & SPAN_ACROSS_GAP)
            add_text(text, "+");
        return;
    case SPAN_INSTANT:
        add_text(text, "!");
        return;
    case SPAN_COUNTER:
    case SPAN_MOVE:
        return;
    }
}

void assert_spans(struct scene *scene, const char *expected)
{
    follow_end(&scene->stack, &(struct follow_ending){0});
    assert_spans_of_ended(scene, expected);
}

void assert_spans_of_ended(struct scene *scene, const char *expected)
{
    struct array text = array_of(1);
    struct replay replay;
    struct replay_event event;
    replay_init(&replay, &scene->stack);
    while (replay_next(&replay, &event))
        add_event(&text, &event);
    replay_free(&replay);
    *(char *)array_add(&text) = '\0';
    assert_string_equal((char *)text.elements, expected);
    array_free(&text);
    assert_well_formed(&scene->stack);
}

void assert_stack(const struct scene *scene, const char *expected)
{
    char got[64] = "";
    size_t length = 0;
    frame_id frame = scene->stack.leaf;
    while (thread_stack_frame(&scene->stack, frame)->kind != FRAME_PLACEHOLDER) {
        char letter = 'a';
        while (id_of(letter) != thread_stack_frame(&scene->stack, frame)->function)
            letter++;
        got[length++] = letter;
        frame = thread_stack_parent(&scene->stack, frame);
    }
    assert_string_equal(got, expected);
}

struct open_span {
    function_id function;
    const struct gap *gap;
};

/* Spans nest, and each is shown at its own time, in its order: but for those at the last time of all, of which
 * many take a nanosecond each (timestamp_disambiguation.h). */
void assert_well_formed(const struct thread_stack *stack)
{
    struct array open = array_of(sizeof(struct open_span));
    struct replay replay;
    struct replay_event event;
    uint64_t time = 0, place = 0, spans = 0;
    replay_init(&replay, stack);
    while (replay_next(&replay, &event)) {
        assert_true(event.time.value >= time);
        time = event.time.value;
        assert_true(event.place.value >= place);
        place = event.place.value;
        if (time != stack->history.last.value)
            assert_int_equal(place, time);
        if (event.kind == SPAN_ENTER) {
            *(struct open_span *)array_add(&open) = (struct open_span){event.function, event.gap};
            spans++;
        } else if (event.kind == SPAN_LEAVE) {
            assert_true(open.count > 0);
            struct open_span *innermost = array_at(&open, --open.count);
            assert_int_equal(innermost->function, event.function);
            assert_ptr_equal(innermost->gap, event.gap);
        }
    }
    assert_int_equal(open.count, 0);
    assert_int_equal(spans, stack->statistics.spans);
    replay_free(&replay);
    array_free(&open);
}
