/* How far from where its pointer was recorded a stack continues: that depends on the code alone which left it, and which continues
 * it. At another distance, the stack has run elsewhere since: in another thread. */
#ifndef MAGIC_TRACE_STACK_RULES_STACK_POINTER_SWITCH_H
#define MAGIC_TRACE_STACK_RULES_STACK_POINTER_SWITCH_H

#include "base/array.h"

struct stack_pointer_switch {
    struct array
        distances; /* of usual_numbers.h: from the function that left a stack to the one that continues it */
};

#endif
