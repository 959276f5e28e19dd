/* Which signal ended a program, and where it was then: the text of the instant at the end of a
 * thread's track.
 *
 *     killed by SIGSEGV at 0x401136 in parse (/src/parse.c:12)
 */
#ifndef MAGIC_TRACE_STACK_DEATH_TEXT_H
#define MAGIC_TRACE_STACK_DEATH_TEXT_H

#include "decode/flow.h"
#include "stack/process_code.h"

/* The caller frees it. Omits what is unknown of `death` or `place`. */
char *death_text(const struct session_death *death, const struct code_place *place);

#endif
