/* Lets the user choose one of many: with fzf where it is installed, else from a numbered list.
 *
 * Used for -trigger ?, -symbol PART and attach without -pid. The answer is read from the terminal
 * (/dev/tty), never from stdin, which may belong to the traced program. Without a terminal nothing
 * can be chosen: then the candidates are listed and the choice fails.
 */
#ifndef MAGIC_TRACE_CLI_CHOOSE_H
#define MAGIC_TRACE_CLI_CHOOSE_H

#include "base/error.h"

#include <stddef.h>

enum { CHOSEN_NOTHING = -1 };

/* The index of the chosen one of `names`, or CHOSEN_NOTHING with the reason in `error`. `what` is
 * chosen ("function"); `how` says how to name one on the command line ("-trigger NAME"). */
long choose(const char *const *names, size_t count, const char *what, const char *how,
            struct error *error);

#endif
