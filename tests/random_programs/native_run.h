/* Runs a random program as it is, under ptrace, to find out which of its instructions fault, and which way it takes. */
#ifndef MAGIC_TRACE_TESTS_RANDOM_PROGRAMS_NATIVE_RUN_H
#define MAGIC_TRACE_TESTS_RANDOM_PROGRAMS_NATIVE_RUN_H

#include "program.h"

/* Runs the program until no instruction of its random part faults any more: one that does becomes NOPs. Its output is
 * in the file `output` then. Returns how many did; -1: it faults elsewhere, or takes too long. */
int native_run(struct program *program, const char *path, const char *output);

#endif
