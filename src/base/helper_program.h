/* Another program that does something for us: started without a terminal's input, waited for.
 *
 * Used for perf (recording/, engine/perf/) and for the dynamic loader (engine/objects.c). A traced
 * program is started otherwise: process/launch.h.
 */
#ifndef MAGIC_TRACE_BASE_HELPER_PROGRAM_H
#define MAGIC_TRACE_BASE_HELPER_PROGRAM_H

#include "base/error.h"

#include <sys/types.h>

/* `arguments` is an argv whose first word is the program's path; `output` and `messages` become its
 * standard output and standard error. -1 and errno when it cannot be started. */
pid_t helper_program_start(char *const *arguments, int output, int messages);

/* Waits for its end; its status as from waitpid(2). */
int helper_program_wait(pid_t pid);

/* Runs it to its end; what it has printed on its output, and with `messages` on its standard error
 * too. The caller frees; NULL when it cannot be started. */
char *helper_program_output(char *const *arguments, bool messages);

#endif
