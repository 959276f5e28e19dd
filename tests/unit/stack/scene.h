/* A made-up thread for tests: makes its events, and compares the resulting spans.
 *
 * Functions are letters: 'a' ... 'z', each 0x10000 bytes of code at its own address; at('a', 0x10)
 * is 16 bytes into a. Every event comes 10 ticks after the one before. All functions end the test
 * by assertion when something is wrong.
 */
#ifndef MAGIC_TRACE_TESTS_STACK_SCENE_H
#define MAGIC_TRACE_TESTS_STACK_SCENE_H

#include "stack/follow.h"
#include "stack/spans/replay.h"

enum {
    SCENE_STEP = 10,
    SCENE_CALL_LENGTH = 5,
    SCENE_SYSCALL_LENGTH = 2,
    SCENE_PADS = 8,
    SCENE_ROLES = 64
};

struct scene {
    struct thread_stack stack;
    uint64_t time;            /* of the next event */
    bool in_transaction;      /* all events from now on are */
    uint32_t program_changes; /* as the code_view reports them from now on */
    struct {
        uint64_t call, pad;
    } pads[SCENE_PADS]; /* an exception that passes the call before `call` continues at `pad` */
    size_t pad_count;
    enum go_role go_roles[SCENE_ROLES]; /* by function_id */
    char forced_unwinder;               /* this function is; 0: none */
    const char *jit_code;               /* these functions are; NULL: none */
    uint64_t pushed;                    /* an address in them at which no call ends; 0: none */
    const char *switches; /* these functions load the stack pointer; NULL: none does */
};

void scene_init(struct scene *scene);
void scene_free(struct scene *scene);

/* A test's own scene: `*state`. For cmocka_unit_test_setup_teardown. */
int scene_set_up(void **state);
int scene_tear_down(void **state);

/* An exception that passes the call at `call_site` continues at `pad`. */
void add_landing_pad(struct scene *scene, uint64_t call_site, uint64_t pad);

uint64_t at(char function, uint64_t offset);
function_id id_of(char function);

void call(struct scene *scene, uint64_t from, char function);
/* Calls code at any address, which may lie in the function that calls. */
void call_into(struct scene *scene, uint64_t from, uint64_t to);
/* Returns to the instruction after the call at `call_site`. */
void return_after(struct scene *scene, uint64_t call_site);
void return_to(struct scene *scene, uint64_t to);
void jump(struct scene *scene, uint64_t to);          /* indirect: may be a longjmp */
void jump_in_stack(struct scene *scene, uint64_t to); /* loads the stack pointer before */
/* As jump, and the recording has the stack pointer after the jump. */
void jump_to_pointer(struct scene *scene, uint64_t to, uint64_t pointer);
/* After code that loads the stack pointer, which is then `pointer`. */
void jump_loading_stack(struct scene *scene, uint64_t to, uint64_t pointer);
void return_loading_stack(struct scene *scene, uint64_t to, uint64_t pointer);
/* It is recorded in the middle of straight code. */
void stack_pointer(struct scene *scene, uint64_t pointer);
/* The code before `to` has added to the stack pointer, which was `from` and is `pointer`; 0: not recorded. */
void copy_stack(struct scene *scene, uint64_t to, uint64_t from, uint64_t pointer);
/* The next copy_stack leaves a stack that has the number `left` from then on, and the one goes on that was left with the
 * number `continues`; 0: unknown. */
void copied_stacks(struct scene *scene, uint32_t left, uint32_t continues);
/* After a resume: the code that runs, or the caller named before, will return to `to`. */
void caller(struct scene *scene, uint64_t to);
/* It has interrupted the code at `to`. */
void interrupted_caller(struct scene *scene, uint64_t to);
/* The same, of what runs now, in the middle of the code; caller() names those further out. */
void placed_caller(struct scene *scene, uint64_t to);
/* It has no caller. */
void no_caller(struct scene *scene);
void direct_jump(struct scene *scene, uint64_t to);
void direct_jump_in_stack(struct scene *scene, uint64_t to); /* loads the stack pointer before */
void resume(struct scene *scene, uint64_t to);
void system_call(struct scene *scene, uint64_t from);
void system_call_into(struct scene *scene, uint64_t from, uint64_t to);
void interrupt(struct scene *scene, uint64_t from);
void interrupt_into(struct scene *scene, uint64_t from, uint64_t to);
void kernel_return(struct scene *scene, uint64_t to);
/* An OCaml exception handler is pushed, or the newest is popped. */
void push_trap(struct scene *scene, uint64_t handler);
void pop_trap(struct scene *scene);
/* A TSX transaction fails, and continues at its fallback. */
void abort_to(struct scene *scene, uint64_t to);
void stop(struct scene *scene, uint64_t from);
void gap(struct scene *scene, enum flow_gap kind, uint8_t flags);

/* Ends the trace and compares all spans with `expected`. A span is written `name(` ... `)`: the
 * letter of the function, S [syscall], I [interrupt], U [untraced], O an overflow; `?` before `(`
 * when its start is inferred; after `)` why it ended: nothing for return, t tail call, u unwound, g
 * gap, $ end of trace, e exec, s another stack continues; `+` if it was open before a gap and after
 * it. An instant is `!`. */
void assert_spans(struct scene *scene, const char *expected);
/* As assert_spans, after follow_end has been called. */
void assert_spans_of_ended(struct scene *scene, const char *expected);

/* Checks nesting and time order of all spans, and that their number is the counted one. */
void assert_well_formed(const struct thread_stack *stack);
/* The letters of the leaf and its known callers, the innermost first. */
void assert_stack(const struct scene *scene, const char *expected);

#endif
