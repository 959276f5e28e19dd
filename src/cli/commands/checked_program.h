/* The program that `doctor -check-hardware` records: magic-trace itself, which does work whose
 * calls are known.
 *
 * It is run as `magic-trace doctor -check-program WORK FILE` and leaves in FILE what it did, as
 * struct checked_work. Its functions have names of their own, by which their calls are counted in
 * the trace.
 */
#ifndef MAGIC_TRACE_CLI_COMMANDS_CHECKED_PROGRAM_H
#define MAGIC_TRACE_CLI_COMMANDS_CHECKED_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

/* The names of WORK. */
#define CHECKED_RECURSION "recursion" /* calls of CHECKED_RECURSION_FUNCTION */
#define CHECKED_LONG_RECURSION "long" /* four times as many: more than a small ring has */
#define CHECKED_THREADS "threads" /* the same in CHECKED_THREAD_COUNT threads besides the first */
#define CHECKED_PLACES "places"   /* threads that call CHECKED_PLACE_FUNCTION */
#define CHECKED_WAIT "wait"       /* one call of CHECKED_WAIT_FUNCTION, which takes its time */
#define CHECKED_ENDLESS "endless" /* recursion until it is killed; FILE is written at first */

#define CHECKED_RECURSION_FUNCTION "magic_trace_checked_recursion"
#define CHECKED_PLACE_FUNCTION "magic_trace_checked_place"
#define CHECKED_WAIT_FUNCTION "magic_trace_checked_wait"

enum { CHECKED_THREAD_COUNT = 4 };

struct checked_work {
    uint64_t calls; /* of the work's function, of all threads */
    uint64_t nanoseconds;
};

/* Does the work called `name`, and leaves in `file` what it was. The exit status. */
int checked_program(const char *name, const char *file);

bool checked_work_read(struct checked_work *work, const char *file);

#endif
