/* The stacks of a trace and what ran on each (output/stack_parts.h), while its index is built.
 *
 * Called by index_builder.c with every ENTER and LEAVE.
 */
#ifndef MAGIC_TRACE_INDEX_BUILD_STACK_RECORDER_H
#define MAGIC_TRACE_INDEX_BUILD_STACK_RECORDER_H

#include "index/build/spill.h"
#include "index/build/string_pool.h"
#include "output/stack_parts.h"

struct stack_recorder {
    struct stack_parts running;
    struct spill parts;   /* of struct stack_part */
    struct array records; /* of struct stack_record; when it has finished */
};

void stack_recorder_init(struct stack_recorder *recorder, size_t tracks, const char *beside);
void stack_recorder_free(struct stack_recorder *recorder);

/* `time`: the event's in the index. */
void stack_recorder_take(struct stack_recorder *recorder, const struct span_event *event,
                         uint64_t time);

/* False when some parts were lost for lack of space. */
bool stack_recorder_finish(struct stack_recorder *recorder, struct string_pool *strings,
                           struct error *error);

#endif
