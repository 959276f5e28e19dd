#include "stack/rules/rules.h"

#include "base/memory.h"

#include <stdlib.h>

#define DECLARE(name) extern const struct stack_rule name##_rule;
STACK_RULES(DECLARE)

#define LIST(name) &name##_rule,
const struct stack_rule *const stack_rules[STACK_RULE_COUNT] = {STACK_RULES(LIST)};

#define ALLOCATE(name)                                                                             \
    if (name##_rule.state_size > 0)                                                                \
        states->name = memory_allocate_zeroed(name##_rule.state_size);

void stack_rules_begin(struct thread_stack *stack, struct stack_rule_states *states)
{
    STACK_RULES(ALLOCATE)
    for (size_t i = 0; i < STACK_RULE_COUNT; i++)
        if (stack_rules[i]->begin != NULL)
            stack_rules[i]->begin(stack);
}

#define FREE(name) free(states->name);

void stack_rules_end(struct thread_stack *stack, struct stack_rule_states *states)
{
    for (size_t i = 0; i < STACK_RULE_COUNT; i++)
        if (stack_rules[i]->end != NULL)
            stack_rules[i]->end(stack);
    STACK_RULES(FREE)
}
