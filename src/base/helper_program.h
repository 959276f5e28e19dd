/* Another program that does a task for magic-trace: started without a terminal's input, waited for.
 *
 * Used for perf (recording/, engine/perf/) and for the dynamic loader (engine/objects.c). A traced
 * program is started by process/launch.h instead.
 */
#ifndef MAGIC_TRACE_BASE_HELPER_PROGRAM_H
#define MAGIC_TRACE_BASE_HELPER_PROGRAM_H

#include "base/error.h"

#include <sys/types.h>

/* `arguments` is an argv whose first element is the program's path; `output` and `messages` become
 * its standard output and standard error. The caller waits for its end (child_wait.h). -1 and errno
 * when it cannot be started. */
pid_t helper_program_start(char *const *arguments, int output, int messages);

/* Runs it to its end and returns what it printed on its standard output, and with `messages` on its
 * standard error, too. The caller frees; NULL when it cannot be started. */
char *helper_program_output(char *const *arguments, bool messages);

#endif
