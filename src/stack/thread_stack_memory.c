/* Allocating and freeing the memory of a thread's stack. */
#include "stack/rules/context_rewrites.h"
#include "stack/rules/ocaml_traps.h"
#include "stack/rules/setjmp_calls.h"
#include "stack/rules/unwind_target_pointers.h"
#include "stack/rules/unwind_targets.h"
#include "stack/thread_stack.h"

void thread_stack_init(struct thread_stack *stack, const struct code_view *code)
{
    *stack = (struct thread_stack){
        .gaps = array_of(sizeof(struct gap)),
        .segments = array_of(sizeof(struct segment)),
        .candidates = array_of(sizeof(frame_id)),
        .suspended = array_of(sizeof(struct suspended_stack)),
        .resumed = array_of(sizeof(frame_id)),
        .departures = array_of(sizeof(struct goroutine_moment)),
        .arrivals = array_of(sizeof(struct goroutine_moment)),
        .elsewhere = array_of(sizeof(struct call_on_other_stack)),
        .traps = array_of(sizeof(struct trap)),
        .call_sites = array_of(sizeof(struct unwind_target)),
        .setjmp_calls = array_of(sizeof(struct setjmp_call)),
        .unwind_target_pointers = array_of(sizeof(struct unwind_target_pointer)),
        .context_rewrites = array_of(sizeof(struct context_rewrite)),
        .run_on_top = array_of(sizeof(uint64_t)),
        .code = *code,
    };
    frame_tree_init(&stack->tree);
    history_init(&stack->history);
    active_functions_init(&stack->open);
}

void thread_stack_free(struct thread_stack *stack)
{
    frame_tree_free(&stack->tree);
    history_free(&stack->history);
    active_functions_free(&stack->open);
    array_free(&stack->gaps);
    array_free(&stack->segments);
    array_free(&stack->candidates);
    array_free(&stack->suspended);
    array_free(&stack->resumed);
    array_free(&stack->departures);
    array_free(&stack->arrivals);
    array_free(&stack->elsewhere);
    array_free(&stack->traps);
    array_free(&stack->context_rewrites);
    array_free(&stack->run_on_top);
    unwind_targets_free(&stack->call_sites);
    array_free(&stack->unwind_target_pointers);
    array_free(&stack->setjmp_calls);
}
