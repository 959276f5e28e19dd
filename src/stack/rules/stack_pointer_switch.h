/* How far from where its pointer was recorded a stack continues: that depends on the code alone which left it, and which continues
 * it. At another distance, the stack has run elsewhere since: in another thread. */
#ifndef MAGIC_TRACE_STACK_RULES_STACK_POINTER_SWITCH_H
#define MAGIC_TRACE_STACK_RULES_STACK_POINTER_SWITCH_H

#include "base/array.h"
#include "symbol/symbols.h"

#include <stdint.h>

struct switch_distance {
    function_id left_by, continued_by;
    uint64_t distance;
    uint32_t times; /* it was seen, less those that differed */
};

struct stack_pointer_switch {
    struct array distances; /* struct switch_distance */
};

#endif
