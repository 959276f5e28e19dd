#include "stack/rules/rules.h"

#include "base/memory.h"

#include <stdlib.h>

#define DECLARE(name) extern const struct stack_rule name##_rule;
STACK_RULES(DECLARE)

#define LIST(name) &name##_rule,
static const struct stack_rule *const rules[] = {STACK_RULES(LIST)};

enum { RULE_COUNT = sizeof(rules) / sizeof(rules[0]) };

#define ALLOCATE(name)                                                                             \
    if (name##_rule.state_size > 0)                                                                \
        states->name = memory_allocate_zeroed(name##_rule.state_size);

void stack_rules_begin(struct thread_stack *stack, struct stack_rule_states *states)
{
    STACK_RULES(ALLOCATE)
    for (size_t i = 0; i < RULE_COUNT; i++)
        if (rules[i]->begin != NULL)
            rules[i]->begin(stack);
}

#define FREE(name) free(states->name);

void stack_rules_end(struct thread_stack *stack, struct stack_rule_states *states)
{
    for (size_t i = 0; i < RULE_COUNT; i++)
        if (rules[i]->end != NULL)
            rules[i]->end(stack);
    STACK_RULES(FREE)
}

void stack_rules_segment_ended(struct thread_stack *stack, struct segment *segment)
{
    for (size_t i = 0; i < RULE_COUNT; i++)
        if (rules[i]->segment_ended != NULL)
            rules[i]->segment_ended(stack, segment);
}

void stack_rules_program_changed(struct thread_stack *stack)
{
    for (size_t i = 0; i < RULE_COUNT; i++)
        if (rules[i]->program_changed != NULL)
            rules[i]->program_changed(stack);
}
