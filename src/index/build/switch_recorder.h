/* The switches between stacks of a trace, while its index is built: which stack is resumed where, and
 * where it was before.
 *
 * Called by index_builder.c. The records lie in a file (spill.h).
 */
#ifndef MAGIC_TRACE_INDEX_BUILD_SWITCH_RECORDER_H
#define MAGIC_TRACE_INDEX_BUILD_SWITCH_RECORDER_H

#include "index/build/spill.h"
#include "output/stack_flows.h"

struct switch_recorder {
    struct stack_flows flows;
    struct spill switches; /* of struct switch_record */
};

void switch_recorder_init(struct switch_recorder *recorder, const char *beside);
void switch_recorder_free(struct switch_recorder *recorder);

/* An ENTER or LEAVE; `time` is that of the index. */
void switch_recorder_take(struct switch_recorder *recorder, const struct span_event *event,
                          uint64_t time);

/* False when some switches were lost for lack of space. */
bool switch_recorder_finish(const struct switch_recorder *recorder, struct error *error);

#endif
