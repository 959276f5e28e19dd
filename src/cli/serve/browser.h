/* The user's browser. */
#ifndef MAGIC_TRACE_CLI_SERVE_BROWSER_H
#define MAGIC_TRACE_CLI_SERVE_BROWSER_H

#include <stdbool.h>

/* Whether there is a screen for one: not over ssh, as a rule, nor in a container. */
bool browser_is_there(void);

/* Starts it at `address`, without waiting for it and without its messages. False when that cannot
 * be done. Everybody on this machine can read the address in the list of processes. */
bool browser_open(const char *address);

#endif
