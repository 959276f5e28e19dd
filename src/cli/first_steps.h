/* What `magic-trace` alone, in a terminal, offers to do next.
 *
 * Called by main.c.
 */
#ifndef MAGIC_TRACE_CLI_FIRST_STEPS_H
#define MAGIC_TRACE_CLI_FIRST_STEPS_H

/* Prints to standard output; begins with the trace of this folder when there is one. */
void first_steps_print(void);

#endif
