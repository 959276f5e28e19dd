#include "stack/rules/stack_rules.h"

#include "base/memory.h"

#include <stdlib.h>

#define DECLARE(name) extern const struct stack_rule name##_rule;
STACK_RULES(DECLARE)

#define LIST(name) &name##_rule,
static const struct stack_rule *const table[STACK_RULE_COUNT] = {STACK_RULES(LIST)};

/* Adds `function`, unless it is NULL. */
static void add_follow(stack_rule_follow **list, stack_rule_follow *function)
{
    while (*list != NULL)
        list++;
    *list = function;
}

static void add_note(stack_rule_note **list, stack_rule_note *function)
{
    while (*list != NULL)
        list++;
    *list = function;
}

#define ALLOCATE(name)                                                                             \
    if (name##_rule.state_size > 0)                                                                \
        rules->name = memory_allocate_zeroed(name##_rule.state_size);

void stack_rules_begin(struct thread_stack *stack, struct stack_rules *rules)
{
    *rules = (struct stack_rules){0};
    STACK_RULES(ALLOCATE)
    for (size_t i = 0; i < STACK_RULE_COUNT; i++) {
        for (size_t kind = 0; kind < FLOW_KIND_COUNT; kind++)
            add_follow(rules->follow[kind], table[i]->follow[kind]);
        add_note(rules->before_event, table[i]->before_event);
        add_note(rules->after_event, table[i]->after_event);
        if (table[i]->begin != NULL)
            table[i]->begin(stack);
    }
}

#define FREE(name) free(rules->name);

void stack_rules_end(struct thread_stack *stack, struct stack_rules *rules)
{
    for (size_t i = 0; i < STACK_RULE_COUNT; i++)
        if (table[i]->end != NULL)
            table[i]->end(stack);
    STACK_RULES(FREE)
}

void stack_rules_begin_events(struct thread_stack *stack)
{
    for (size_t i = 0; i < STACK_RULE_COUNT; i++)
        if (table[i]->begin_events != NULL)
            table[i]->begin_events(stack);
}

void stack_rules_segment_ended(struct thread_stack *stack, struct segment *segment)
{
    for (size_t i = 0; i < STACK_RULE_COUNT; i++)
        if (table[i]->segment_ended != NULL)
            table[i]->segment_ended(stack, segment);
}

void stack_rules_program_changed(struct thread_stack *stack)
{
    for (size_t i = 0; i < STACK_RULE_COUNT; i++)
        if (table[i]->program_changed != NULL)
            table[i]->program_changed(stack);
}

void stack_rules_events_ended(struct thread_stack *stack, uint32_t leaf)
{
    for (size_t i = 0; i < STACK_RULE_COUNT; i++)
        if (table[i]->events_ended != NULL)
            table[i]->events_ended(stack, leaf);
}
