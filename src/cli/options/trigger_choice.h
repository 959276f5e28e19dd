/* The trigger that the user requested, perhaps by choosing it: -trigger and -symbol.
 *
 *     ?          among all functions, and source files with their lines
 *     symbol:?   among all functions
 *     line:?     among source files, then among the lines of the chosen one
 *     -symbol X  among the functions with X in their names; a single one is taken without asking
 *
 * Everything else is for trigger_find.
 */
#ifndef MAGIC_TRACE_CLI_OPTIONS_TRIGGER_CHOICE_H
#define MAGIC_TRACE_CLI_OPTIONS_TRIGGER_CHOICE_H

#include "engine/objects.h"
#include "engine/trigger/trigger.h"

/* `text` is the argument of -trigger. */
bool trigger_choose(struct trigger *trigger, const char *text, const struct objects *objects,
                    struct error *error);

/* `part` is the argument of -symbol: "" means any. When no function has it there is no trigger, a
 * message says so, and the snapshot is taken at the end: as in the tutorial. */
bool trigger_choose_by_part(struct trigger *trigger, const char *part,
                            const struct objects *objects, struct error *error);

#endif
