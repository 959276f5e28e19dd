/* What `attach -follow` does not record: processes that descend from those of -pid already. They can be attached to by their
 * own numbers.
 *
 * Called by attach before it records.
 */
#ifndef MAGIC_TRACE_CLI_EXISTING_CHILDREN_H
#define MAGIC_TRACE_CLI_EXISTING_CHILDREN_H

#include "base/array.h"

/* Says which there are, but for ourselves and those that `pids` (of pid_t) names, and the list for -pid that records them, too. */
void existing_children_report(const struct array *pids);

#endif
